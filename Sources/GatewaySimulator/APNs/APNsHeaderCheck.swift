/// Checks topic, push type and priority. They are the same for thousands of consecutive pushes, so the last combination
/// that passed is kept, and a repetition costs three comparisons.
struct APNsHeaderCheck {
    /// The limit in bytes for pushes with these headers.
    private(set) var payloadLimit = 4096
    /// The suffix after the bundle id in the topic of pushes with these headers.
    private(set) var topicSuffix = ""
    /// Empty means any.
    private let allowedTopics: Set<String>
    private var topic: [UInt8] = []
    private var pushType: [UInt8]?
    private var priority: [UInt8]?
    private var topicReason: APNsReason?

    init(allowedTopics: [String]) {
        self.allowedTopics = Set(allowedTopics)
    }

    /// Why the headers are refused before the path is checked; nil if they pass.
    mutating func check(_ fields: APNsRequestFields, _ bytes: [UInt8]) -> APNsReason? {
        guard !fields.topic.isAbsent, fields.topic.count > 0 else { return .missingTopic }
        if !fields.collapseID.isAbsent, fields.collapseID.count > 64 { return .badCollapseId }
        if !fields.expiration.isAbsent, !Bytes.isDecimal(bytes, fields.expiration.range) { return .badExpirationDate }
        if isLast(fields, bytes) { return nil }
        return checkAnew(fields, bytes)
    }

    /// Why the key may not send to the topic; nil if it may. Read it after `check`.
    var disallowedTopic: APNsReason? { topicReason }

    private func isLast(_ fields: APNsRequestFields, _ bytes: [UInt8]) -> Bool {
        Bytes.equal(bytes, fields.topic.range, topic) && Self.isSame(fields.pushType, pushType, bytes)
            && Self.isSame(fields.priority, priority, bytes)
    }

    @inline(__always)
    private static func isSame(_ place: BytePlace, _ last: [UInt8]?, _ bytes: [UInt8]) -> Bool {
        guard let last else { return place.isAbsent }
        return !place.isAbsent && Bytes.equal(bytes, place.range, last)
    }

    private mutating func checkAnew(_ fields: APNsRequestFields, _ bytes: [UInt8]) -> APNsReason? {
        let topicText = Bytes.text(bytes, fields.topic.range)
        var priorityText: String?
        if !fields.priority.isAbsent {
            let text = Bytes.text(bytes, fields.priority.range)
            guard text == "10" || text == "5" || text == "1" else { return .badPriority }
            priorityText = text
        }
        var type: APNsPushType?
        if !fields.pushType.isAbsent {
            type = APNsPushType(rawValue: Bytes.text(bytes, fields.pushType.range))
            guard type != nil else { return .invalidPushType }
        }
        // "Specifying 10 for a background notification is an error."
        if type == .background, priorityText == "10" { return .badPriority }
        topic = Array(bytes[fields.topic.range])
        pushType = fields.pushType.isAbsent ? nil : Array(bytes[fields.pushType.range])
        priority = fields.priority.isAbsent ? nil : Array(bytes[fields.priority.range])
        payloadLimit = (type ?? .alert).payloadLimit
        topicReason = reason(topic: topicText, type: type)
        // Without a type, the topic decides.
        topicSuffix =
            type?.topicSuffix ?? APNsPushType.allCases.map(\.topicSuffix).first {
                !$0.isEmpty && topicText.hasSuffix($0)
            } ?? ""
        return nil
    }

    private func reason(topic: String, type: APNsPushType?) -> APNsReason? {
        let isWellFormed = topic.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
                || byte == 0x2E || byte == 0x5F
        }
        guard isWellFormed else { return .badTopic }
        if let type, !topic.hasSuffix(type.topicSuffix) { return .badTopic }
        guard !allowedTopics.isEmpty else { return nil }
        let endings = type.map { [$0.topicSuffix] } ?? APNsPushType.allCases.map(\.topicSuffix)
        let isAllowed = endings.contains {
            topic.hasSuffix($0) && allowedTopics.contains(String(topic.dropLast($0.count)))
        }
        return isAllowed || allowedTopics.contains(topic) ? nil : .topicDisallowed
    }
}

/// The values of `apns-push-type` and their requirements for topic and payload (*Sending notification requests to
/// APNs*).
enum APNsPushType: String, CaseIterable, Sendable {
    case alert, background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets, controls

    /// The suffix of the topic after the app's bundle id.
    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .location: ".location-query"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The maximum payload, in bytes.
    var payloadLimit: Int { self == .voip ? 5120 : 4096 }
}
