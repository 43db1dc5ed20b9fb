import PushCore

@testable import Gateways

/// The answers in the gateways' documentation, verbatim, to be compared with the table.
enum DocumentedAnswers {
    /// Apple, "Handling notification responses from APNs": status codes and error strings.
    static let apns: [(status: Int16, reason: String)] = [
        (400, "BadCollapseId"), (400, "BadDeviceToken"), (400, "BadExpirationDate"), (400, "BadMessageId"),
        (400, "BadPriority"), (400, "BadTopic"), (400, "DeviceTokenNotForTopic"), (400, "DuplicateHeaders"),
        (400, "IdleTimeout"), (400, "InvalidPushType"), (400, "MissingDeviceToken"), (400, "MissingTopic"),
        (400, "PayloadEmpty"), (400, "TopicDisallowed"), (403, "BadCertificate"), (403, "BadCertificateEnvironment"),
        (403, "ExpiredProviderToken"), (403, "Forbidden"), (403, "InvalidProviderToken"),
        (403, "MissingProviderToken"), (403, "UnrelatedKeyIdInToken"), (403, "BadEnvironmentKeyIdInToken"),
        (404, "BadPath"), (405, "MethodNotAllowed"), (410, "ExpiredToken"), (410, "Unregistered"),
        (413, "PayloadTooLarge"), (429, "TooManyProviderTokenUpdates"), (429, "TooManyRequests"),
        (500, "InternalServerError"), (503, "ServiceUnavailable"), (503, "Shutdown"),
    ]

    /// The same page: "Don't retry". It names `Forbidden` too, which is about the sender: nothing is sent until that is
    /// corrected.
    static let apnsNeverAgain = [
        "BadDeviceToken", "DeviceTokenNotForTopic", "ExpiredToken", "Unregistered", "PayloadTooLarge",
    ]

    /// Reasons in the debug data of GOAWAY: the same strings, and others that were observed.
    static let apnsGoAways = apns.map(\.reason) + ["Maximum active streams violated for this endpoint."]

    /// Firebase, "ErrorCode", and the failures of Google's front end without such a code.
    static let fcmV1: [(status: Int16, reason: String)] = [
        (400, "INVALID_ARGUMENT"), (404, "UNREGISTERED"), (403, "SENDER_ID_MISMATCH"), (429, "QUOTA_EXCEEDED"),
        (503, "UNAVAILABLE"), (500, "INTERNAL"), (401, "THIRD_PARTY_AUTH_ERROR"), (401, "APNS_AUTH_ERROR"),
        (401, "UNAUTHENTICATED"), (403, "PERMISSION_DENIED"), (429, "RATE_LIMIT_EXCEEDED"), (429, "RESOURCE_EXHAUSTED"),
        // "No more information is available": the status decides.
        (400, "UNSPECIFIED_ERROR"), (500, "UNSPECIFIED_ERROR"),
    ]

    /// GOAWAY debug data that FCM's front ends have been observed to send.
    static let fcmV1GoAways = ["session_timed_out", "too_many_pings", "exceeded_max_concurrent_streams"]

    /// Apple, "Binary Provider API": the codes of error packets, table 6-1.
    static let apnsBinary: [Int16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 128, 255]

    /// Firebase, "Downstream message error response codes" of the legacy protocol.
    static let fcmLegacy: [(status: Int16, reason: String)] = [
        (200, "MissingRegistration"), (200, "InvalidRegistration"), (200, "NotRegistered"), (200, "InvalidPackageName"),
        (200, "MismatchSenderId"), (200, "MessageTooBig"), (200, "InvalidDataKey"), (200, "InvalidTtl"),
        (200, "Unavailable"), (200, "InternalServerError"), (200, "DeviceMessageRateExceeded"),
        (200, "TopicsMessageRateExceeded"), (200, "InvalidApnsCredential"), (200, "DeprecatedApi"),
        (400, "InvalidParameters"), (500, "InternalServerError"), (500, "Unavailable"), (503, "Unavailable"),
    ]

    /// Errors of Google's endpoint for access tokens in Adobe's table.
    static let tokenEndpoint = ["unauthorized_client", "access_denied", "invalid_grant", "disabled_client"]

    /// A row of Adobe Campaign's table of push error types.
    struct AdobeRow: CustomStringConvertible, Sendable {
        var gateway: AnswerGateway
        var source = AnswerRow.Source.response
        var status: Int16 = 0
        var reason = ""
        var condition = ""
        var failure: MessageFailure
        var isRetried: Bool
        /// How and why the table differs.
        var difference: Difference?

        /// Cases in which the safer source wins.
        enum Difference: Sendable {
            /// The gateway says never to send to the token again: Adobe counts it.
            case tokenIsDead
            /// Trying again loses nothing and sends nothing twice, as the message was refused.
            case triedAgain
            /// The message stays pending until the application is corrected.
            case staysPending
        }

        var description: String { "\(gateway.rawValue) \(source.rawValue) \(status) \(reason)" }
    }

    private static let softRefused = MessageFailure(.soft, .refused)
    private static let softUndefined = MessageFailure(.soft, .undefined)
    private static let softUnreachable = MessageFailure(.soft, .unreachable)
    private static let ignoredRefused = MessageFailure(.ignored, .refused)
    private static let userUnknown = MessageFailure(.hard, .userUnknown)

    /// Connector iOS HTTP/2.
    static let adobeHTTP2: [AdobeRow] =
        [
            AdobeRow(
                gateway: .apnsHTTP2,
                status: 413,
                reason: "PayloadTooLarge",
                failure: softRefused,
                isRetried: false
            ),
            AdobeRow(
                gateway: .apnsHTTP2,
                source: .check,
                reason: "PayloadTooLarge",
                failure: softRefused,
                isRetried: false
            ),
            AdobeRow(gateway: .apnsHTTP2, source: .check, failure: softUndefined, isRetried: false),
            AdobeRow(
                gateway: .apnsHTTP2,
                source: .noAnswer,
                reason: "ConnectionLost",
                condition: "written",
                failure: MessageFailure(.ignored, .unreachable),
                isRetried: true
            ),
            AdobeRow(gateway: .apnsHTTP2, status: 410, reason: "Unregistered", failure: userUnknown, isRetried: false),
            AdobeRow(
                gateway: .apnsHTTP2,
                status: 400,
                reason: "BadDeviceToken",
                failure: softRefused,
                isRetried: false,
                difference: .tokenIsDead
            ),
            AdobeRow(
                gateway: .apnsHTTP2,
                status: 429,
                reason: "TooManyRequests",
                failure: softRefused,
                isRetried: false,
                difference: .triedAgain
            ),
            AdobeRow(
                gateway: .apnsHTTP2,
                status: 503,
                reason: "ServiceUnavailable",
                failure: softRefused,
                isRetried: false,
                difference: .triedAgain
            ),
        ]
        + ["BadCertificate", "InvalidProviderToken", "Forbidden"].map { reason in
            AdobeRow(
                gateway: .apnsHTTP2,
                status: 403,
                reason: reason,
                failure: softRefused,
                isRetried: false,
                difference: .staysPending
            )
        }
        + ["BadCollapseId", "BadPriority", "InvalidPushType", "PayloadEmpty", "BadExpirationDate"].map { reason in
            AdobeRow(gateway: .apnsHTTP2, status: 400, reason: reason, failure: softUndefined, isRetried: false)
        }

    /// FCM HTTP v1.
    static let adobeFCMv1: [AdobeRow] =
        [
            AdobeRow(
                gateway: .fcmV1,
                status: 400,
                reason: "INVALID_ARGUMENT",
                failure: MessageFailure(.ignored, .undefined),
                isRetried: false
            ),
            AdobeRow(
                gateway: .fcmV1,
                status: 401,
                reason: "THIRD_PARTY_AUTH_ERROR",
                failure: ignoredRefused,
                isRetried: true
            ),
            AdobeRow(
                gateway: .fcmV1,
                status: 403,
                reason: "SENDER_ID_MISMATCH",
                failure: MessageFailure(.soft, .userUnknown),
                isRetried: false
            ),
            AdobeRow(gateway: .fcmV1, status: 404, reason: "UNREGISTERED", failure: userUnknown, isRetried: false),
            AdobeRow(gateway: .fcmV1, status: 500, reason: "INTERNAL", failure: ignoredRefused, isRetried: true),
            AdobeRow(gateway: .fcmV1, status: 503, reason: "UNAVAILABLE", failure: ignoredRefused, isRetried: true),
            AdobeRow(
                gateway: .fcmV1,
                status: 400,
                failure: ignoredRefused,
                isRetried: false,
                difference: .triedAgain
            ),
            AdobeRow(
                gateway: .fcmV1,
                status: 500,
                failure: ignoredRefused,
                isRetried: false,
                difference: .triedAgain
            ),
            AdobeRow(gateway: .fcmV1, source: .tokenEndpoint, failure: ignoredRefused, isRetried: true),
        ]
        + tokenEndpoint.map { error in
            AdobeRow(
                gateway: .fcmV1,
                source: .tokenEndpoint,
                reason: error,
                failure: ignoredRefused,
                isRetried: false,
                difference: .staysPending
            )
        }

    /// Connector iOS binary.
    static let adobeBinary: [AdobeRow] = [
        AdobeRow(
            gateway: .apnsBinary,
            source: .check,
            reason: "PayloadTooLarge",
            failure: softUnreachable,
            isRetried: false
        ),
        AdobeRow(
            gateway: .apnsBinary,
            status: 7,
            reason: "InvalidPayloadSize",
            failure: softUnreachable,
            isRetried: false
        ),
        AdobeRow(
            gateway: .apnsBinary,
            source: .noAnswer,
            reason: "ConnectionLost",
            condition: "written",
            failure: softUnreachable,
            isRetried: true
        ),
        AdobeRow(
            gateway: .apnsBinary,
            source: .noAnswer,
            reason: "CertificateRefused",
            failure: softUnreachable,
            isRetried: false,
            difference: .staysPending
        ),
    ]
}
