/// The reasons for which FCM v1 rejects a message: its error codes, and the failures of Google's front end that have
/// none.
enum FCMReason: String, CaseIterable, Sendable {
    case invalidArgument = "INVALID_ARGUMENT"
    case unregistered = "UNREGISTERED"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case unavailable = "UNAVAILABLE"
    case internalError = "INTERNAL"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
    /// 401 without an error code: the access token is missing, wrong or expired.
    case unauthenticated = "UNAUTHENTICATED"
    /// 403 without an error code: the account may not send for the project.
    case permissionDenied = "PERMISSION_DENIED"
    /// 429 without an error code: the project's quota of messages a minute.
    case rateLimitExceeded = "RATE_LIMIT_EXCEEDED"
    /// 502 with an HTML page.
    case badGateway = "BAD_GATEWAY"
    /// 404 with an HTML page: no such method or path.
    case notFound = "NOT_FOUND"

    /// The HTTP status of the reason.
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

    /// The message as observed.
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
