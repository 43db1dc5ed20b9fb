/// What an APNs request says in its headers about every message of a delivery.
///
/// FCM has no such headers: there these values are in the body that ``PayloadTemplate`` renders.
public struct MessageAttributes: Sendable, Hashable {
    /// The header `apns-push-type`.
    public var pushType: PushType
    /// The header `apns-priority`: 10, 5 or 1; nil leaves it to the gateway, whose default is 10.
    public var priority: Int?
    /// How long the gateway may keep a message for a device that is off, in seconds; 0 is one attempt, nil the
    /// gateway's choice.
    ///
    /// The header `apns-expiration` is the time of sending plus this, or 0 for 0.
    public var expirationSeconds: Int32?
    /// Until when a message is of use that says nothing of its own, in seconds since 1970: the end of its delivery's validity, or of its
    /// own; nil if that is not known.
    public var validUntil: Int64?
    /// The header `apns-collapse-id` when it is the same for all messages; nil when there is none or it is
    /// personalised.
    public var collapseID: String?

    /// What is appended to the bundle id to make the header `apns-topic`; empty for most push types.
    public var topicSuffix: String { pushType.topicSuffix }

    /// APNs keeps nothing for longer (Apple, "Sending notification requests to APNs": "APNs stores the notification for 30 days or less").
    private static let longestStorage: Int64 = 30 * 86_400

    /// When the gateway is to give up, in seconds since 1970; 0 for one attempt, nil for the gateway's choice.
    ///
    /// What is there at once or not at all, such as a call, is not kept for a device that is off unless the content says so.
    ///
    /// - Parameter now: seconds since 1970.
    public func expiration(now: Int64) -> (moment: Int64, isVolatile: Bool)? {
        if let expirationSeconds {
            return (expirationSeconds <= 0 ? 0 : now &+ Int64(expirationSeconds), expirationSeconds > 0)
        }
        guard let validUntil, pushType != .voip, pushType != .pushtotalk else { return nil }
        let longest = now &+ Self.longestStorage
        return validUntil > longest ? (longest, true) : (max(1, validUntil), false)
    }

    /// The same with the end of what a message is of use for.
    public func valid(until moment: Int64?) -> MessageAttributes {
        var attributes = self
        attributes.validUntil = moment
        return attributes
    }

    /// Makes attributes; what is left out is absent.
    public init(
        pushType: PushType = .alert,
        priority: Int? = nil,
        expirationSeconds: Int32? = nil,
        collapseID: String? = nil
    ) {
        self.pushType = pushType
        self.priority = priority
        self.expirationSeconds = expirationSeconds
        self.collapseID = collapseID
    }
}

/// The values of the header `apns-push-type` and what each of them implies (Apple, "Sending notification requests to
/// APNs").
public enum PushType: String, Sendable, Hashable, Codable, CaseIterable {
    case alert
    case background
    case location
    case voip
    case complication
    case fileprovider
    case pushtotalk
    case liveactivity
    case widgets
    case controls

    /// What is appended to the bundle id to make the header `apns-topic`.
    public var topicSuffix: String {
        switch self {
        case .alert, .background: ""
        case .location: ".location-query"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .pushtotalk: ".voip-ptt"
        case .liveactivity: ".push-type.liveactivity"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// Whether no certificate may send it, whatever topics it carries (the same, "location": token-based authentication only).
    public var needsTokenAuthentication: Bool { self == .location }

    /// What has to be known of the push tokens that it goes to; nil for pushes to an app's ordinary token.
    ///
    /// PushKit, ActivityKit, WidgetKit and CoreLocation each give tokens of their own, and a subscription has one.
    public var tokenNotice: String? {
        guard !topicSuffix.isEmpty else { return nil }
        return
            "push type \(rawValue) goes to the topic <bundle id>\(topicSuffix), which has push tokens of its own: send it to "
            + "subscriptions that were registered with such a token, as the ordinary ones are refused"
    }
}

/// Text for a header field's value.
///
/// HTTP/2 calls a request malformed whose field value begins or ends with a space or a tab, or has a control character in it
/// (RFC 9113, section 8.2.1): the gateway resets its stream, and nobody knows what became of the message.
public enum HeaderText {
    /// Whether a text can be a field's value as it is.
    public static func isValue(_ text: String) -> Bool {
        let bytes = text.utf8
        return !bytes.contains(where: isControl) && bytes.first != space && bytes.last != space
    }

    /// The text with spaces for control characters and none at its ends.
    public static func cleaned(_ text: String) -> String {
        if isValue(text) { return text }
        var bytes = Array(text.utf8)
        clean(&bytes, from: 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Does the same with the end of a buffer.
    package static func clean(_ bytes: inout [UInt8], from start: Int) {
        for index in start..<bytes.count where isControl(bytes[index]) { bytes[index] = space }
        while bytes.count > start, bytes.last == space { bytes.removeLast() }
        let first = bytes[start...].firstIndex { $0 != space } ?? bytes.endIndex
        if first > start { bytes.removeSubrange(start..<first) }
    }

    private static let space = UInt8(ascii: " ")

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }
}

/// The form in which a payload goes to its gateway; connector and kind of credential decide it.
public enum PayloadFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// APNs over HTTP/2: the body is the payload.
    case apns
    /// APNs binary protocol: the same within 2,048 bytes, and without rich content.
    case apnsBinary = "apns-binary"
    /// FCM HTTP v1: `{"message":{"token":…}}`, the token included.
    case fcmV1 = "fcm-v1"
    /// FCM legacy HTTP: a JSON object without `to` and `registration_ids`, which the gateway adds, so that messages
    /// with equal bodies can share a request.
    case fcmLegacy = "fcm-legacy"

    /// The format of a connector; FCM's depends on the credential besides: a project key is one of legacy HTTP.
    public init(connector: Connector, usesProjectKey: Bool = false) {
        switch connector {
        case .iosHTTP2: self = .apns
        case .iosBinary: self = .apnsBinary
        case .androidV1, .androidV2: self = usesProjectKey ? .fcmLegacy : .fcmV1
        }
    }

    /// The platform whose section of the content it takes.
    public var platform: Platform {
        switch self {
        case .apns, .apnsBinary: .ios
        case .fcmV1, .fcmLegacy: .android
        }
    }
}

/// How many bytes of payload each gateway takes.
public enum PayloadLimits {
    /// APNs over HTTP/2: the whole body (Apple, "Generating a remote notification").
    public static let apns = 4096
    /// APNs over HTTP/2 with push type `voip`: the whole body.
    public static let voip = 5120
    /// FCM: names and values of `data` and `notification` (Firebase, "About FCM messages"); see
    /// ``PayloadTemplate/render(row:fields:tokens:messageID:sequence:into:)``.
    public static let fcm = 4096
    /// APNs binary protocol: the whole payload (Apple, "Binary Provider API").
    public static let binary = 2048

    /// The limit of a format for a push type.
    public static func limit(format: PayloadFormat, pushType: PushType) -> Int {
        switch format {
        case .apnsBinary: binary
        case .apns: pushType == .voip ? voip : apns
        case .fcmV1, .fcmLegacy: fcm
        }
    }

    /// The reason to record for a message whose payload is too long.
    ///
    /// It begins with the word that APNs answers, so that both come out as one in statistics by reason.
    public static func tooLongReason(limit: Int) -> String {
        """
        PayloadTooLarge: the payload has more than the \(limit) bytes that the gateway takes; \
        shorten the content or the values of its fields
        """
    }
}
