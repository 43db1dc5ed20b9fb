/// What the gateway's rules say about a notification.
struct BinaryJudgement {
    var key: MessageKey
    var tokenHash: UInt32
    /// Why it is refused; nil when it is taken.
    var status: BinaryStatus?
    /// Since when its app is gone, in milliseconds since 1970: the feedback service tells.
    var goneSince: Int64?

    private static let mostPayload = 2_048
    /// The legacy formats were made for payloads of this size.
    private static let mostLegacyPayload = 256
    private static let mostToken = 100
    private static let legacyToken = 32
    /// A topic is a bundle id, which Apple limits to 155 characters.
    private static let mostTopic = 155

    init(_ notification: BinaryNotification, topics: [String], conditions: GatewayConditions) {
        key = .none
        tokenHash = 0
        let payload = notification.payload.map { BinaryPayload($0) } ?? nil
        let device = identify(notification, payload)
        status = Self.check(notification, payload, topics) ?? known(device, conditions)
    }

    private mutating func identify(_ notification: BinaryNotification, _ payload: BinaryPayload?) -> MessageKey? {
        let token = notification.token ?? []
        var digits: [UInt8] = []
        for byte in token {
            for nibble in [byte >> 4, byte & 15] { digits.append(Array("0123456789abcdef".utf8)[Int(nibble)]) }
        }
        let device = APNsDeviceToken(digits, digits.indices)?.key
        if let device { tokenHash = UInt32(truncatingIfNeeded: device.high) }
        if let bytes = notification.payload, let id = payload?.messageID {
            key = MessageKey(id: bytes, id)
        } else if !token.isEmpty {
            // The identifier alone comes again on every connection.
            let number = notification.identifier ?? 0
            let named = token + (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(24 - $0 * 8)) }
            key = MessageKey(hashOf: named, named.indices)
        }
        return device
    }

    private static func check(
        _ notification: BinaryNotification,
        _ payload: BinaryPayload?,
        _ topics: [String]
    ) -> BinaryStatus? {
        guard let topic = topics.first, !topic.isEmpty else { return .missingTopic }
        if topic.utf8.count > mostTopic { return .invalidTopicSize }
        let isLegacy = notification.command != 2
        guard let token = notification.token, !token.isEmpty else { return .missingDeviceToken }
        if isLegacy ? token.count != legacyToken : token.count > mostToken { return .invalidTokenSize }
        guard let bytes = notification.payload, !bytes.isEmpty else { return .missingPayload }
        if bytes.count > (isLegacy ? mostLegacyPayload : mostPayload) { return .invalidPayloadSize }
        // What the gateway said of a payload that is not JSON is not documented; there is no payload in it, so much is sure.
        guard let payload else { return .missingPayload }
        if payload.isContentAvailableOnly, notification.priority == 10 { return .protocolError }
        return nil
    }

    /// What is known of the device. That an app is gone is not said here: the notification is taken, and the feedback service
    /// tells.
    private mutating func known(_ device: MessageKey?, _ conditions: GatewayConditions) -> BinaryStatus? {
        guard let device, let state = conditions.devices[device] else {
            return conditions.areDevicesElsewhere ? .invalidToken : nil
        }
        switch state {
        case .unregistered(let since), .expired(let since):
            goneSince = since
            return nil
        case .badDeviceToken, .deviceTokenNotForTopic: return .invalidToken
        case .replaced, .pushType: return nil
        case .scripted(let script):
            guard case .reason(let name) = script.act, let status = BinaryStatus(rawValue: name), script.take() else {
                return nil
            }
            return status
        }
    }
}

/// What the gateway wants to know of a payload.
struct BinaryPayload {
    /// Where `_mId` stands in the bytes, if the payload has one.
    var messageID: Range<Int>?
    /// `aps` has `content-available` and nothing else.
    var isContentAvailableOnly = false

    /// Reads a payload; nil when it is no JSON object.
    init?(_ bytes: [UInt8]) {
        var scanner = JSONScanner(bytes)
        do throws(JSONScanner.Fault) {
            try scanner.expect(UInt8(ascii: "{"))
            if !scanner.take(UInt8(ascii: "}")) {
                repeat { try entry(&scanner) } while scanner.take(UInt8(ascii: ","))
                try scanner.expect(UInt8(ascii: "}"))
            }
            try scanner.expectEnd()
        } catch {
            return nil
        }
    }

    private mutating func entry(_ scanner: inout JSONScanner) throws(JSONScanner.Fault) {
        let name = try scanner.string()
        try scanner.expect(UInt8(ascii: ":"))
        if !name.hasEscapes, Bytes.equal(scanner.bytes, name.range, "_mId"), scanner.peek() == UInt8(ascii: "\"") {
            let value = try scanner.string()
            if !value.hasEscapes { messageID = value.range }
        } else if !name.hasEscapes, Bytes.equal(scanner.bytes, name.range, "aps"), scanner.peek() == UInt8(ascii: "{") {
            try aps(&scanner)
        } else {
            try scanner.skipValue(depth: 1)
        }
    }

    private mutating func aps(_ scanner: inout JSONScanner) throws(JSONScanner.Fault) {
        try scanner.expect(UInt8(ascii: "{"))
        var names = 0
        var isAvailable = false
        if !scanner.take(UInt8(ascii: "}")) {
            repeat {
                let name = try scanner.string()
                try scanner.expect(UInt8(ascii: ":"))
                try scanner.skipValue(depth: 2)
                names += 1
                if !name.hasEscapes, Bytes.equal(scanner.bytes, name.range, "content-available") { isAvailable = true }
            } while scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "}"))
        }
        isContentAvailableOnly = isAvailable && names == 1
    }
}

/// The statuses of error packets, as Apple's "Binary Provider API" lists them; the names are those of the answer's reasons.
enum BinaryStatus: String, CaseIterable, Sendable {
    case processingError = "ProcessingError"
    case missingDeviceToken = "MissingDeviceToken"
    case missingTopic = "MissingTopic"
    case missingPayload = "MissingPayload"
    case invalidTokenSize = "InvalidTokenSize"
    case invalidTopicSize = "InvalidTopicSize"
    case invalidPayloadSize = "InvalidPayloadSize"
    case invalidToken = "InvalidToken"
    case shutdown = "Shutdown"
    case protocolError = "ProtocolError"
    case none = "None"
    case noErrors = "NoErrors"
    /// A status that nobody has documented.
    case undocumented = "Undocumented"

    /// The byte in the packet.
    var code: UInt8 {
        switch self {
        case .noErrors: 0
        case .processingError: 1
        case .missingDeviceToken: 2
        case .missingTopic: 3
        case .missingPayload: 4
        case .invalidTokenSize: 5
        case .invalidTopicSize: 6
        case .invalidPayloadSize: 7
        case .invalidToken: 8
        case .shutdown: 10
        case .undocumented: 77
        case .protocolError: 128
        case .none: 255
        }
    }

    /// The status with that byte.
    init?(code: UInt8) {
        guard let known = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = known
    }
}
