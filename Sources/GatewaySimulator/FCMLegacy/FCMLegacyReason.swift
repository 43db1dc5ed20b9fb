/// The reasons for which legacy FCM rejects messages: the errors of its results, which have status 200, and the answers
/// to whole requests. Names are those on the wire if there is one.
enum FCMLegacyReason: String, CaseIterable, Sendable {
    case missingRegistration = "MissingRegistration"
    case invalidRegistration = "InvalidRegistration"
    case notRegistered = "NotRegistered"
    case invalidPackageName = "InvalidPackageName"
    case mismatchSenderID = "MismatchSenderId"
    case messageTooBig = "MessageTooBig"
    case invalidDataKey = "InvalidDataKey"
    case invalidTTL = "InvalidTtl"
    case unavailable = "Unavailable"
    case internalServerError = "InternalServerError"
    case deviceMessageRateExceeded = "DeviceMessageRateExceeded"
    case topicsMessageRateExceeded = "TopicsMessageRateExceeded"
    case invalidAPNsCredential = "InvalidApnsCredential"
    /// Google's answer since it shut the protocol down.
    case deprecatedAPI = "DeprecatedApi"
    /// An undocumented error.
    case somethingNew = "SomethingNew"

    /// 400: the JSON or a field is invalid.
    case invalidParameters = "InvalidParameters"
    /// 400 with another text.
    case malformedJSON = "JSON_PARSING_ERROR"
    /// 401 with an HTML page: the key is missing, wrong or deleted.
    case invalidKey = "INVALID_KEY"
    /// 401 with another page.
    case unauthorized = "UNAUTHORIZED"
    case forbidden = "FORBIDDEN"
    /// 404 with an HTML page: no such path.
    case notFound = "NOT_FOUND"
    case methodNotAllowed = "METHOD_NOT_ALLOWED"
    case requestTimeout = "REQUEST_TIMEOUT"
    case tooManyRequests = "TOO_MANY_REQUESTS"
    /// 500 for the whole request.
    case serverError = "SERVER_ERROR"
    /// 500 for the whole request, with the error that results may have.
    case requestFailed = "INTERNAL_ERROR_500"
    /// 500 for the whole request, with the error that results may have.
    case requestRefused = "UNAVAILABLE_500"
    /// 502 with an HTML page.
    case badGateway = "BAD_GATEWAY"
    /// 503 for the whole request.
    case serviceUnavailable = "SERVICE_UNAVAILABLE"
    /// 503 for the whole request, with the error that results may have.
    case requestUnavailable = "UNAVAILABLE_503"
    /// 302, as from a proxy.
    case redirected = "REDIRECTED"
    /// 200 with a page instead of JSON, as from a captive portal.
    case noJSON = "NO_JSON"
    /// 200 with a result too few.
    case resultMissing = "RESULT_MISSING"

    /// Whether the reason is in the results of an answer. Otherwise it answers the whole request.
    var isResult: Bool {
        switch self {
        case .missingRegistration, .invalidRegistration, .notRegistered, .invalidPackageName, .mismatchSenderID,
            .messageTooBig, .invalidDataKey, .invalidTTL, .unavailable, .internalServerError,
            .deviceMessageRateExceeded, .topicsMessageRateExceeded, .invalidAPNsCredential, .deprecatedAPI,
            .somethingNew:
            true
        default: false
        }
    }

    /// The HTTP status of the reason.
    var status: Int {
        switch self {
        case .invalidParameters, .malformedJSON: 400
        case .invalidKey, .unauthorized: 401
        case .forbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .tooManyRequests: 429
        case .serverError, .requestFailed, .requestRefused: 500
        case .badGateway: 502
        case .serviceUnavailable, .requestUnavailable: 503
        case .redirected: 302
        default: 200
        }
    }

    /// The code of the reason in the gateway's catalog.
    var code: UInt8 { UInt8((Self.allCases.firstIndex(of: self) ?? 0) + 1) }
}
