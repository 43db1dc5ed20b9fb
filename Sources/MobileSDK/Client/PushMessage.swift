import Foundation

/// What a notification's `userInfo` says, read once so that it can go from thread to thread.
public struct PushMessage: Sendable, Equatable {
    /// The id of the broad log, `_mId`: a UUID or a decimal number.
    public var messageID: String?
    /// The id of the delivery in hexadecimal, `_dId`.
    public var deliveryID: String?
    /// Whether `aps` carries `content-available: 1`. With nothing to show beside it the notification is silent.
    public var isContentAvailable: Bool
    /// Whether there is nothing to show: no alert, no sound, no badge.
    public var isSilent: Bool
    /// The address of the picture or film to show, the variable `mediaUrl`.
    public var mediaURL: String?
    /// The category, which selects the content extension.
    public var category: String?

    /// Reads a notification's `userInfo`, or the part of the launch options that carries one.
    ///
    /// The ids count only as strings, as in Adobe's SDK.
    public init(userInfo: [AnyHashable: Any]) {
        let aps = userInfo["aps"] as? [AnyHashable: Any] ?? [:]
        messageID = userInfo["_mId"] as? String
        deliveryID = userInfo["_dId"] as? String
        isContentAvailable = aps["content-available"] as? Int == 1
        isSilent = isContentAvailable && aps["alert"] == nil && aps["sound"] == nil && aps["badge"] == nil
        mediaURL = userInfo["mediaUrl"] as? String
        category = aps["category"] as? String
    }
}

/// What happened to a notification on the device.
public enum TrackingAction: Sendable, Equatable {
    /// It arrived: for silent notifications, and for those that a service extension handles.
    case receive
    /// Somebody clicked it or opened it.
    case click

    /// The last part of the tracking address.
    var tag: Int {
        switch self {
        case .receive: 1
        case .click: 2
        }
    }
}

/// The path of a tracking request: `/r/?id=h<broad log>,<delivery>,<tag>`.
enum TrackingPath {
    /// The path, or nil when the message carries no ids that can be tracked.
    ///
    /// The delivery's id is sent back as it came. One with blanks or control characters is no id of an engine, and would
    /// make another request of it.
    static func path(_ message: PushMessage, _ action: TrackingAction) -> String? {
        guard let id = message.messageID.flatMap(MessageID.tracking), let delivery = message.deliveryID,
            !delivery.isEmpty, delivery.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F && $0 != "#" })
        else { return nil }
        return "/r/?id=h\(id),\(delivery),\(action.tag)"
    }
}

/// The id of a broad log as it stands in a tracking address.
enum MessageID {
    /// A UUID as it is, a decimal number in hexadecimal; nil when the text is neither.
    ///
    /// At least two digits, as Adobe's iOS SDK writes them. That one cuts ids off at 32 bits, which loses the message, so
    /// larger ones are written in full here; negative ids are the two's complement in 32 bits if they fit, else in 64.
    static func tracking(_ text: String) -> String? {
        if UUID(uuidString: text) != nil { return text }
        guard let number = Int64(text) else { return nil }
        if number < 0, let short = Int32(exactly: number) { return String(UInt32(bitPattern: short), radix: 16) }
        let digits = String(UInt64(bitPattern: number), radix: 16)
        return digits.count < 2 ? "0" + digits : digits
    }
}
