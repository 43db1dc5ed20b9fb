import Foundation
import HTTP2
import X509

/// The rules of APNs' HTTP/2 provider API, checked in the order of pushy's mock server. Apple's own order is unknown.
struct APNsRules: GatewayRules {
    static var gateway: SimulatedGateway { .apns }

    /// The stream limit of a connection without an accepted push, as observed with token authentication.
    static let firstStreamLimit: UInt32 = 1
    /// The stream limit after that.
    static let streamLimit: UInt32 = 1000
    /// The debug data of the GOAWAY for a client that exceeds the limit, as observed.
    static let violationDebugData = Array("Maximum active streams violated for this endpoint.".utf8)

    private var headers: APNsHeaderCheck
    private var tokens: ProviderTokenCheck
    private var answers: APNsAnswers
    private var devices: [MessageKey: DeviceState] = [:]
    private var isKeyRevoked = false
    private var areDevicesElsewhere = false
    private let authority: Certificate
    private let isSandbox: Bool
    private var ids = SystemRandomNumberGenerator()

    init(
        credentials: SimulatorCredentials,
        authority: Certificate,
        isSandbox: Bool,
        takesStringIssuedAt: Bool
    ) throws(SimulatorError) {
        self.authority = authority
        self.isSandbox = isSandbox
        headers = APNsHeaderCheck(allowedTopics: credentials.apnsTopics)
        tokens = try ProviderTokenCheck(credentials: credentials, takesStringIssuedAt: takesStringIssuedAt)
        answers = APNsAnswers(isSandbox: isSandbox)
    }

    static func newConnection() -> APNsConnectionState { APNsConnectionState() }

    static func streamLimit(_ state: APNsConnectionState) -> UInt32 {
        state.isTrusted ? streamLimit : firstStreamLimit
    }

    mutating func admit(_ certificate: [UInt8]?, _ state: inout APNsConnectionState) -> [UInt8]? {
        guard let certificate else { return nil }
        guard !isKeyRevoked else { return APNsReason.badCertificate.body(sinceMilliseconds: 0) }
        switch APNsSenderCertificate.judge(certificate, authority: authority, isSandbox: isSandbox, now: Date()) {
        case .success(let sender):
            state.certificate = sender
            // Without token authentication there is nothing to wait for, so all streams are allowed at once.
            state.isTrusted = true
            return nil
        case .failure(let refusal): return refusal.reason.body(sinceMilliseconds: 0)
        }
    }

    static func answered(_ code: UInt8, _ state: inout APNsConnectionState, limitDrops: Bool) -> Bool {
        let wasTrusted = state.isTrusted
        if code == AnswerCatalog.accepted {
            state.isTrusted = true
        } else if limitDrops {
            state.isTrusted = false
        }
        return wasTrusted != state.isTrusted
    }

    mutating func apply(_ conditions: GatewayConditions) {
        devices = conditions.devices
        isKeyRevoked = conditions.isRevoked
        areDevicesElsewhere = conditions.areDevicesElsewhere
    }

    mutating func respond(
        _ judgement: Judgement,
        id: ArraySlice<UInt8>,
        streamID: Int32,
        on connection: HTTP2ServerConnection
    ) {
        answers.send(judgement, id: id, streamID: streamID, on: connection)
    }

    mutating func judge(_ request: HTTP2ServerRequest, _ state: inout APNsConnectionState, now: Int64) -> Judgement {
        let bytes = request.headers.bytes
        let fields = APNsRequestFields(request.headers, bytes)
        var judgement: Judgement
        var isIDWrong = false
        if fields.id.isAbsent {
            judgement = Judgement(key: newID(), tokenHash: 0, code: 0)
        } else if let key = MessageKey(uuid: bytes, fields.id.range) {
            judgement = Judgement(key: key, tokenHash: 0, code: 0, senderID: fields.id.range)
        } else {
            judgement = Judgement(key: newID(), tokenHash: 0, code: 0)
            isIDWrong = true
        }
        let reason: APNsReason? =
            isIDWrong
            ? .badMessageId
            : check(fields, bytes, &judgement, &state, now: now) ?? checkPayload(request)
        if let reason { judgement.code = answers.code(reason) }
        return judgement
    }

    private mutating func check(
        _ fields: APNsRequestFields,
        _ bytes: [UInt8],
        _ judgement: inout Judgement,
        _ state: inout APNsConnectionState,
        now: Int64
    ) -> APNsReason? {
        if fields.hasDuplicate { return .duplicateHeaders }
        guard Bytes.equal(bytes, fields.method.range, "POST") else { return .methodNotAllowed }
        if let reason = headers.check(fields, bytes) {
            guard reason == .missingTopic, state.certificate?.hasOneTopic == true else { return reason }
        }
        if let reason = checkPath(fields.path.range, bytes, &judgement) { return reason }
        if let sender = state.certificate { return checkSender(sender, fields, bytes) }
        if let reason = checkToken(fields.authorization, bytes, &state, now: now) { return reason }
        return headers.disallowedTopic
    }

    private func checkPath(_ path: Range<Int>, _ bytes: [UInt8], _ judgement: inout Judgement) -> APNsReason? {
        let prefix: StaticString = "/3/device/"
        guard Bytes.hasPrefix(bytes, path, prefix) else { return .badPath }
        let tokenRange = (path.lowerBound + prefix.utf8CodeUnitCount)..<path.upperBound
        if tokenRange.isEmpty { return .missingDeviceToken }
        guard let token = APNsDeviceToken(bytes, tokenRange) else { return .badDeviceToken }
        judgement.tokenHash = UInt32(truncatingIfNeeded: token.key.high)
        // A token of the other environment is unknown here.
        guard !devices.isEmpty, let device = devices[token.key] else {
            return areDevicesElsewhere ? .badDeviceToken : nil
        }
        switch device {
        case .unregistered(let since):
            judgement.sinceMilliseconds = since
            return .unregistered
        case .expired(let since):
            judgement.sinceMilliseconds = since
            return .expiredToken
        case .badDeviceToken: return .badDeviceToken
        case .deviceTokenNotForTopic: return .deviceTokenNotForTopic
        case .replaced: return nil
        case .pushType(let type):
            return APNsPushType(rawValue: type)?.topicSuffix == headers.topicSuffix ? nil : .deviceTokenNotForTopic
        case .scripted(let script):
            judgement.scripted = script
            return nil
        }
    }

    /// With a certificate, the header `authorization` is ignored.
    private func checkSender(
        _ sender: APNsSenderCertificate,
        _ fields: APNsRequestFields,
        _ bytes: [UInt8]
    ) -> APNsReason? {
        if isKeyRevoked { return .badCertificate }
        if fields.topic.isAbsent { return nil }
        if headers.disallowedTopic == .badTopic { return .badTopic }
        // "The location push type supports token-based authentication only"; the reason that reports it is
        // undocumented.
        if headers.topicSuffix == APNsPushType.location.topicSuffix { return .topicDisallowed }
        return sender.allows(bytes, fields.topic.range) ? nil : .topicDisallowed
    }

    private mutating func checkToken(
        _ authorization: BytePlace,
        _ bytes: [UInt8],
        _ state: inout APNsConnectionState,
        now: Int64
    ) -> APNsReason? {
        if authorization.isAbsent || authorization.count == 0 { return .missingProviderToken }
        switch tokens.check(bytes, authorization.range, now: now) {
        case .success(let token):
            if isKeyRevoked { return .invalidProviderToken }
            return state.use(token, now: now) ? nil : .tooManyProviderTokenUpdates
        case .failure(.expired): return .expiredProviderToken
        case .failure(.otherKey): return state.tokenNumber == 0 ? .invalidProviderToken : .unrelatedKeyIdInToken
        case .failure(.invalid): return .invalidProviderToken
        }
    }

    private func checkPayload(_ request: HTTP2ServerRequest) -> APNsReason? {
        if request.bodyLength == 0 { return .payloadEmpty }
        if request.bodyLength > headers.payloadLimit { return .payloadTooLarge }
        // APNs' answer to a body that is not JSON is undocumented. Such a body surely has no valid payload.
        return JSONScanner.isObject(request.body) ? nil : .payloadEmpty
    }

    private mutating func newID() -> MessageKey {
        MessageKey(high: ids.next(), low: ids.next())
    }
}

/// APNs' state for one connection.
struct APNsConnectionState {
    /// The number of the current provider token; 0 before the first.
    var tokenNumber = 0
    /// When the connection's token last changed, in seconds since 1970.
    var tokenSince: Int64 = 0
    /// The sender's certificate; nil if it authenticates with tokens.
    var certificate: APNsSenderCertificate?
    /// Whether a push was accepted since the connection was opened, or since the last rejection if rejections count.
    var isTrusted = false

    /// A connection may use a new token once in 20 minutes.
    static let tokenChangeSeconds: Int64 = 20 * 60

    /// Notes the token of a push; false if it changes too often.
    mutating func use(_ token: ProviderToken, now: Int64) -> Bool {
        if token.number == tokenNumber { return true }
        if tokenNumber != 0, now - tokenSince < Self.tokenChangeSeconds { return false }
        tokenNumber = token.number
        tokenSince = now
        return true
    }
}
