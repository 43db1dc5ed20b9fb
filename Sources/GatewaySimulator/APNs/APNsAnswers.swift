import HTTP2
import PushCore

/// The answers of APNs: heads that are made once and get only the `apns-id` of each push.
struct APNsAnswers {
    private let accepted = HTTP2PreparedResponse(status: 200, headers: [], varyingHeader: "apns-id")
    private let heads: [HTTP2PreparedResponse]
    private let bodies: [[UInt8]]
    private let isSandbox: Bool
    private var random = SystemRandomNumberGenerator()

    init(isSandbox: Bool) {
        self.isSandbox = isSandbox
        heads = APNsReason.allCases.map {
            HTTP2PreparedResponse(
                status: $0.status,
                headers: [("content-type", "application/json")],
                varyingHeader: "apns-id"
            )
        }
        bodies = APNsReason.allCases.map { $0.body(sinceMilliseconds: 0) }
    }

    /// The code of a reason.
    func code(_ reason: APNsReason) -> UInt8 {
        UInt8((APNsReason.allCases.firstIndex(of: reason) ?? 0) + 1)
    }

    /// Answers one push; an empty id means that the gateway made one, which it writes in upper case.
    mutating func send(
        _ judgement: Judgement,
        id: ArraySlice<UInt8>,
        streamID: Int32,
        on connection: HTTP2ServerConnection
    ) {
        let id = id.isEmpty ? Self.upperCase(judgement.key) : id
        if judgement.isAccepted {
            let response = isSandbox ? sandboxResponse() : accepted
            return connection.respond(streamID, response, varyingValue: id)
        }
        let number = Int(judgement.code) - 1
        let reason = APNsReason.allCases[number]
        let body = reason.status == 410 ? reason.body(sinceMilliseconds: judgement.sinceMilliseconds) : bodies[number]
        var head = heads[number]
        if let retryAfter = judgement.retryAfter {
            head = HTTP2PreparedResponse(
                status: reason.status,
                headers: [("content-type", "application/json"), ("retry-after", retryAfter)],
                varyingHeader: "apns-id"
            )
        }
        connection.respond(streamID, head, varyingValue: id, body: body)
    }

    /// The development environment names each push a second time, for Apple's console.
    private mutating func sandboxResponse() -> HTTP2PreparedResponse {
        let id = MessageUUID(high: random.next(), low: random.next())
        return HTTP2PreparedResponse(
            status: 200,
            headers: [("apns-unique-id", id.description)],
            varyingHeader: "apns-id"
        )
    }

    private static func upperCase(_ key: MessageKey) -> ArraySlice<UInt8> {
        Array(MessageUUID(high: key.high, low: key.low).description.uppercased().utf8)[...]
    }
}

/// The reasons for which APNs rejects a push, as *Handling notification responses from APNs* lists them.
enum APNsReason: String, CaseIterable, Sendable {
    case badCollapseId = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageId = "BadMessageId"
    case badPriority = "BadPriority"
    case badTopic = "BadTopic"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case idleTimeout = "IdleTimeout"
    case invalidPushType = "InvalidPushType"
    case missingDeviceToken = "MissingDeviceToken"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case topicDisallowed = "TopicDisallowed"
    case badCertificate = "BadCertificate"
    case badCertificateEnvironment = "BadCertificateEnvironment"
    case badEnvironmentKeyIdInToken = "BadEnvironmentKeyIdInToken"
    case expiredProviderToken = "ExpiredProviderToken"
    case forbidden = "Forbidden"
    case invalidProviderToken = "InvalidProviderToken"
    case missingProviderToken = "MissingProviderToken"
    case unrelatedKeyIdInToken = "UnrelatedKeyIdInToken"
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    case expiredToken = "ExpiredToken"
    case unregistered = "Unregistered"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case tooManyRequests = "TooManyRequests"
    case internalServerError = "InternalServerError"
    case serviceUnavailable = "ServiceUnavailable"
    case shutdown = "Shutdown"

    /// The HTTP status that goes with the reason.
    var status: Int {
        switch self {
        case .badCollapseId, .badDeviceToken, .badExpirationDate, .badMessageId, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed:
            400
        case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIdInToken, .expiredProviderToken,
            .forbidden, .invalidProviderToken, .missingProviderToken, .unrelatedKeyIdInToken:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        }
    }

    /// The body of the answer; only a 410 says since when, in milliseconds since 1970.
    func body(sinceMilliseconds: Int64) -> [UInt8] {
        switch status {
        case 410: Array("{\"reason\":\"\(rawValue)\",\"timestamp\":\(sinceMilliseconds)}".utf8)
        default: Array("{\"reason\":\"\(rawValue)\"}".utf8)
        }
    }
}
