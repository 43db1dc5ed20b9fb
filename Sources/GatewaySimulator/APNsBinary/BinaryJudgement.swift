/// The gateway's judgement of a notification.
struct BinaryJudgement {
    var key: MessageKey
    var tokenHash: UInt32
    /// Why the notification is refused; nil if it is accepted.
    var status: BinaryStatus?
    /// When its app was removed, in milliseconds since 1970, for the feedback service.
    var goneSince: Int64?

    private static let maxPayload = 2_048
    /// The maximum payload of the legacy formats, in bytes.
    private static let maxLegacyPayload = 256
    private static let maxToken = 100
    private static let legacyToken = 32
    /// The maximum length of a topic: Apple limits bundle ids to 155 characters.
    private static let maxTopic = 155

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
            // Identifiers alone repeat on every connection.
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
        if topic.utf8.count > maxTopic { return .invalidTopicSize }
        let isLegacy = notification.command != 2
        guard let token = notification.token, !token.isEmpty else { return .missingDeviceToken }
        if isLegacy ? token.count != legacyToken : token.count > maxToken { return .invalidTokenSize }
        guard let bytes = notification.payload, !bytes.isEmpty else { return .missingPayload }
        if bytes.count > (isLegacy ? maxLegacyPayload : maxPayload) { return .invalidPayloadSize }
        // The gateway's answer to a payload that is not JSON is undocumented. Such a notification surely has no valid
        // payload.
        guard let payload else { return .missingPayload }
        if payload.isContentAvailableOnly, notification.priority == 10 { return .protocolError }
        return nil
    }

    /// The status for the device's state. For a removed app, the notification is accepted, and the feedback service
    /// reports the token.
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

/// What the gateway needs to know about a payload.
struct BinaryPayload {
    /// The position of `_mId` in the bytes, if the payload has one.
    var messageID: Range<Int>?
    /// Whether `aps` has only `content-available`.
    var isContentAvailableOnly = false

    /// Reads a payload; nil if it is not a JSON object.
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
