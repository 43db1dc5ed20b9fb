/// An error answer of FCM v1 with everything for its body.
struct FCMRejection: Error, Equatable, Sendable {
    /// The project's number in quota messages.
    static let projectNumber = "123456789012"

    var reason: FCMReason
    /// The message if it is not the reason's usual one.
    var message: String?
    /// The field at fault, for a BadRequest detail.
    var field: String?

    /// A rejection with the reason's usual message.
    init(_ reason: FCMReason) {
        self.reason = reason
    }

    /// An INVALID_ARGUMENT that names the field at fault.
    static func invalid(_ message: String, field: String? = nil) -> FCMRejection {
        var rejection = FCMRejection(.invalidArgument)
        rejection.message = message
        rejection.field = field
        return rejection
    }

    /// A request without any access token.
    static var missingCredential: FCMRejection {
        var rejection = FCMRejection(.unauthenticated)
        rejection.message =
            "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other "
            + "valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project."
        return rejection
    }

    /// The content type of the answer.
    var contentType: String {
        reason.rpcStatus == nil ? "text/html; charset=UTF-8" : "application/json; charset=UTF-8"
    }

    /// The body of the answer.
    func body(projectID: String) -> [UInt8] {
        let message = message ?? reason.message(projectID: projectID)
        guard let status = reason.rpcStatus else { return page(title: message) }
        var text =
            "{\"error\":{\"code\":\(reason.status),\"message\":\(JSONText.quoted(message)),\"status\":\"\(status)\""
        let details = details(message: message, projectID: projectID)
        if !details.isEmpty { text += ",\"details\":[\(details.joined(separator: ","))]" }
        return Array((text + "}}").utf8)
    }

    private func details(message: String, projectID: String) -> [String] {
        var details: [String] = []
        if let code = reason.errorCode {
            details.append(
                "{\"@type\":\"type.googleapis.com/google.firebase.fcm.v1.FcmError\",\"errorCode\":\"\(code)\"}"
            )
        }
        switch reason {
        case .invalidArgument where field != nil:
            details.append(
                "{\"@type\":\"type.googleapis.com/google.rpc.BadRequest\",\"fieldViolations\":[{\"field\":"
                    + "\(JSONText.quoted(field ?? "")),\"description\":\(JSONText.quoted(message))}]}"
            )
        case .quotaExceeded:
            details.append(
                "{\"@type\":\"type.googleapis.com/google.rpc.QuotaFailure\",\"violations\":[{\"subject\":"
                    + "\"project:\(projectID)\",\"description\":\"Message rate exceeded\"}]}"
            )
        case .rateLimitExceeded:
            details.append(
                "{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":\"RATE_LIMIT_EXCEEDED\",\"domain\":"
                    + "\"googleapis.com\",\"metadata\":{\"service\":\"fcm.googleapis.com\",\"consumer\":"
                    + "\"projects/\(Self.projectNumber)\",\"quota_limit\":\"SendsPerMinutePerProject\"}}"
            )
        default: break
        }
        return details
    }

    private func page(title: String) -> [UInt8] {
        Array(
            """
            <!DOCTYPE html>
            <html lang=en>
            <title>Error \(reason.status) (\(title))!!1</title>
            <p><b>\(reason.status).</b> <ins>That's an error.</ins>

            """.utf8
        )
    }
}
