import Content
import HTTPTypes
import NIOCore
import PushCore

/// A short response: a status and a text that an SDK can show.
struct WebAnswer: Sendable {
    var status: HTTPResponse.Status
    var body: ByteBuffer
    var contentType = "text/plain; charset=utf-8"
    /// The allowed methods, for 405.
    var allow: String?
    /// When to try again, in seconds.
    var retryAfter: Int?
    /// Whether the connection ends with the response.
    var closes = false

    init(_ status: HTTPResponse.Status, _ text: String) {
        self.status = status
        // Texts end with a line break, for command-line clients.
        body = ByteBuffer(string: text.isEmpty ? "" : text + "\n")
    }

    /// `x-request-id`. It is a valid lower-case token, so the fallback is never used.
    static let requestIDName = HTTPField.Name("x-request-id") ?? .via

    func head(date: String?, requestID: String?) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .contentLength, value: String(body.readableBytes)))
        if body.readableBytes > 0 { fields.append(HTTPField(name: .contentType, value: contentType)) }
        if let date { fields.append(HTTPField(name: .date, value: date)) }
        if let requestID { fields.append(HTTPField(name: Self.requestIDName, value: requestID)) }
        if let allow { fields.append(HTTPField(name: .allow, value: allow)) }
        if let retryAfter { fields.append(HTTPField(name: .retryAfter, value: String(retryAfter))) }
        if closes { fields.append(HTTPField(name: .connection, value: "close")) }
        return HTTPResponse(status: status, headerFields: fields)
    }
}

/// Responses that do not depend on their request's content.
extension WebAnswer {
    static let registered = WebAnswer(.ok, "OK")
    /// The registration is stored, so the SDK need not repeat it. The text is for the app's developers.
    static func registeredUnproven(_ refusal: UserKeyProof.Refusal) -> WebAnswer {
        WebAnswer(.ok, "OK, but the user key is not proven (\(UserKeyProof.parameter)): \(refusal.rawValue).")
    }
    /// The registration is stored without some undeclared values. The text is for the app's developers.
    static func registeredInPart(dropped: Int) -> WebAnswer {
        WebAnswer(
            .ok,
            "OK, but \(dropped) values are not kept: of values that the application does not declare, at most "
                + "\(DeviceRegistration.maxUndeclaredBytes) bytes are."
        )
    }
    /// The body is empty, because an SDK only logs the status.
    static let tracked = WebAnswer(.ok, "")
    static let healthy = WebAnswer(.ok, "OK")

    static let unknownKey = WebAnswer(
        .notFound,
        "Unknown integration key: no application of this platform has it (mobileAppUuid)."
    )
    static let unknownMessage = WebAnswer(.notFound, "Unknown message: no delivery has sent a message with this id.")
    static let unknownPath = WebAnswer(.notFound, "There is nothing at this path.")
    static let malformedTrackingID = WebAnswer(
        .badRequest,
        "Malformed tracking id: give id=h<message>,<delivery>,<tag> with tag 1 (received) or 2 (clicked)."
    )
    static let malformedConversion = WebAnswer(
        .badRequest,
        "Malformed conversion: a name has 1 to 100 bytes, and a value is a number of at most a trillion."
    )
    static let truncatedBody = WebAnswer(.badRequest, "The body is shorter than its Content-Length.").closing
    static let refusedValue = WebAnswer(.badRequest, "The database rejected a value in this registration.")
    static let wrongContentType = WebAnswer(
        .unsupportedMediaType,
        "Send the parameters as application/x-www-form-urlencoded."
    )
    static let targetTooLong = WebAnswer(.uriTooLong, "The request's path or query is too long.").closing

    /// Seconds after which a refused client should try again: a failover or a burst is over by then.
    private static let pause = 5

    static let tooManyRequests = WebAnswer(.tooManyRequests, "Too many requests from this address.").retrying(1)
    static let tooManyAtOnce = WebAnswer(.tooManyRequests, "Too many requests at once from this address.").retrying(1)
    static let databaseAway = WebAnswer(.serviceUnavailable, "The database is unreachable; try again later.").retrying(
        pause
    )
    static let unreadableDeclarations = WebAnswer(
        .serviceUnavailable,
        "This version of the server cannot read the application's declarations; try again later."
    ).retrying(pause)
    static let unreadableProofKey = WebAnswer(
        .serviceUnavailable,
        "The proof of the user key cannot be checked now; try again later."
    ).retrying(pause)
    static let storageFull = WebAnswer(.serviceUnavailable, "The hit cannot be stored now; try again later.")
        .retrying(pause)

    static let conversionRefused = WebAnswer(
        .serviceUnavailable,
        "The conversion cannot be stored now; try again later."
    ).retrying(pause)

    static func tooLarge(limit: Int) -> WebAnswer {
        WebAnswer(.contentTooLarge, "The body is larger than \(limit >> 10) KiB.").closing
    }

    /// The methods that the server supports on any path.
    static let options: WebAnswer = {
        var answer = WebAnswer(.noContent, "")
        answer.allow = "DELETE, GET, HEAD, OPTIONS, POST, PUT"
        return answer
    }()

    static func wrongMethod(allowed: String) -> WebAnswer {
        var answer = WebAnswer(.methodNotAllowed, "This path accepts only \(allowed).")
        answer.allow = allowed
        return answer
    }

    private var closing: WebAnswer {
        var answer = self
        answer.closes = true
        return answer
    }

    private func retrying(_ seconds: Int) -> WebAnswer {
        var answer = self
        answer.retryAfter = seconds
        return answer
    }
}
