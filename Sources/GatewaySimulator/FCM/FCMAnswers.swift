import Foundation
import HTTP2

/// The answers of FCM v1.
struct FCMAnswers {
    /// One answer, for HTTP/1.1 or for a single time.
    struct Answer {
        var status: Int
        var headers: [(String, String)]
        var body: [UInt8]
    }

    private static let jsonType = "application/json; charset=UTF-8"

    private let projectID: String
    private let accepted = HTTP2PreparedResponse(status: 200, headers: [("content-type", jsonType)])
    /// The body of a success; its digits change with each answer.
    private var body: [UInt8]
    private let digits: Range<Int>
    private let fake: [UInt8]
    private var number: UInt64 = 0

    init(projectID: String) {
        self.projectID = projectID
        let microseconds = UInt64(Date().timeIntervalSince1970 * 1_000_000)
        let start = "{\"name\":\"projects/\(projectID)/messages/0:\(microseconds)%"
        // Google's ids end with 16 hexadecimal digits; ours count.
        body = Array((start + "0000000000000000\"}").utf8)
        digits = start.utf8.count..<start.utf8.count + 16
        fake = Array("{\"name\":\"projects/\(projectID)/messages/fake_message_id\"}".utf8)
        number = UInt64.random(in: 0...UInt64.max) << 32
    }

    /// The code of a reason.
    func code(_ reason: FCMReason) -> UInt8 {
        UInt8((FCMReason.allCases.firstIndex(of: reason) ?? 0) + 1)
    }

    mutating func send(_ judgement: Judgement, streamID: Int32, on connection: HTTP2ServerConnection) {
        if judgement.isAccepted {
            if judgement.isRecorded { countUp() }
            return connection.respond(streamID, accepted, body: judgement.isRecorded ? body : fake)
        }
        let answer = rejection(judgement)
        let head = HTTP2PreparedResponse(status: answer.status, headers: answer.headers)
        connection.respond(streamID, head, body: answer.body)
    }

    /// The answer to one message.
    mutating func answer(_ judgement: Judgement) -> Answer {
        guard judgement.isAccepted else { return rejection(judgement) }
        if judgement.isRecorded { countUp() }
        let body = judgement.isRecorded ? body : fake
        return Answer(status: 200, headers: [("content-type", Self.jsonType)], body: body)
    }

    private func rejection(_ judgement: Judgement) -> Answer {
        let rejection = judgement.detail?.rejection ?? FCMRejection(FCMReason.allCases[Int(judgement.code) - 1])
        var headers = [("content-type", rejection.contentType)]
        if let retryAfter = judgement.retryAfter { headers.append(("retry-after", retryAfter)) }
        return Answer(status: rejection.reason.status, headers: headers, body: rejection.body(projectID: projectID))
    }

    private mutating func countUp() {
        number &+= 1
        var rest = number
        for position in digits.reversed() {
            let digit = UInt8(truncatingIfNeeded: rest & 15)
            body[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            rest >>= 4
        }
    }
}

/// One error answer of FCM v1 with all that goes into its body.
struct FCMRejection: Error, Equatable, Sendable {
    /// The project's number in quota messages.
    static let projectNumber = "123456789012"

    var reason: FCMReason
    /// The message, when it is not the usual one of the reason.
    var message: String?
    /// The field at fault, for a BadRequest detail.
    var field: String?

    /// A rejection with the usual message of its reason.
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

/// The ways in which FCM v1 rejects a message: its error codes, and the failures of Google's front end that carry none.
enum FCMReason: String, CaseIterable, Sendable {
    case invalidArgument = "INVALID_ARGUMENT"
    case unregistered = "UNREGISTERED"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case unavailable = "UNAVAILABLE"
    case internalError = "INTERNAL"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
    /// 401 without an error code: no access token, a wrong or an expired one.
    case unauthenticated = "UNAUTHENTICATED"
    /// 403 without an error code: the account may not send for the project.
    case permissionDenied = "PERMISSION_DENIED"
    /// 429 without an error code: the project's quota of messages a minute.
    case rateLimitExceeded = "RATE_LIMIT_EXCEEDED"
    /// 502 with an HTML page.
    case badGateway = "BAD_GATEWAY"
    /// 404 with an HTML page: no such method or path.
    case notFound = "NOT_FOUND"

    /// The HTTP status that goes with the reason.
    var status: Int {
        switch self {
        case .invalidArgument: 400
        case .thirdPartyAuthError, .unauthenticated: 401
        case .senderIDMismatch, .permissionDenied: 403
        case .unregistered, .notFound: 404
        case .quotaExceeded, .rateLimitExceeded: 429
        case .internalError: 500
        case .badGateway: 502
        case .unavailable: 503
        }
    }

    /// The `status` in the JSON body, a google.rpc.Code; nil for answers whose body is HTML.
    var rpcStatus: String? {
        switch self {
        case .invalidArgument: "INVALID_ARGUMENT"
        case .thirdPartyAuthError, .unauthenticated: "UNAUTHENTICATED"
        case .senderIDMismatch, .permissionDenied: "PERMISSION_DENIED"
        case .unregistered: "NOT_FOUND"
        case .quotaExceeded, .rateLimitExceeded: "RESOURCE_EXHAUSTED"
        case .internalError: "INTERNAL"
        case .unavailable: "UNAVAILABLE"
        case .badGateway, .notFound: nil
        }
    }

    /// The `errorCode` of the FcmError detail; nil for failures before FCM itself.
    var errorCode: String? {
        switch self {
        case .unauthenticated, .permissionDenied, .rateLimitExceeded, .badGateway, .notFound: nil
        default: rawValue
        }
    }

    /// The message as seen on the wire.
    func message(projectID: String) -> String {
        switch self {
        case .invalidArgument: "Request contains an invalid argument."
        case .unregistered: "Requested entity was not found."
        case .senderIDMismatch: "SenderId mismatch"
        case .quotaExceeded: "Resource has been exhausted (e.g. check quota)."
        case .unavailable: "The service is currently unavailable."
        case .internalError: "Internal error encountered."
        case .thirdPartyAuthError: "Auth error from APNS or Web Push Service"
        case .unauthenticated:
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
                + "authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project."
        case .permissionDenied:
            "Permission 'cloudmessaging.messages.create' denied on resource "
                + "'//cloudresourcemanager.googleapis.com/projects/\(projectID)' (or it may not exist)."
        case .rateLimitExceeded:
            "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute' of service "
                + "'fcm.googleapis.com' for consumer 'project_number:\(FCMRejection.projectNumber)'."
        case .badGateway: "502 Bad Gateway"
        case .notFound: "Not Found"
        }
    }
}
