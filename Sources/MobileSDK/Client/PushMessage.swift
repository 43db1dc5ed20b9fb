import Foundation

/// The contents of a notification's `userInfo`, parsed once so that it can be passed between threads.
public struct PushMessage: Sendable, Equatable {
    /// The message's id in the broad log, `_mId`: a UUID or a decimal number.
    public var messageID: String?
    /// The delivery's id in hexadecimal, `_dId`.
    public var deliveryID: String?
    /// Whether `aps` has `content-available: 1`. If it also has nothing to show, the notification is silent.
    public var isContentAvailable: Bool
    /// Whether the notification is silent: `content-available` without an alert, a sound or a badge.
    public var isSilent: Bool
    /// The URL of the picture or video to show, from the variable `mediaUrl`.
    public var mediaURL: String?
    /// The category, which selects the content extension.
    public var category: String?
    /// The deliveries whose notifications are to be removed, in the form of ``deliveryID`` and separated by commas: one
    /// that was recalled, and those that have replaced its messages.
    public var recalledDeliveryID: String?

    /// Parses a notification's `userInfo`, or the part of the launch options that contains one.
    ///
    /// Ids count only if they are strings, as in Adobe's SDK.
    public init(userInfo: [AnyHashable: Any]) {
        let aps = userInfo["aps"] as? [AnyHashable: Any] ?? [:]
        messageID = userInfo["_mId"] as? String
        deliveryID = userInfo["_dId"] as? String
        isContentAvailable = aps["content-available"] as? Int == 1
        isSilent = isContentAvailable && aps["alert"] == nil && aps["sound"] == nil && aps["badge"] == nil
        mediaURL = userInfo["mediaUrl"] as? String
        category = aps["category"] as? String
        recalledDeliveryID = userInfo["_recall"] as? String
    }

    /// Whether this message asks to remove another one that is shown.
    public func recalls(_ shown: PushMessage) -> Bool {
        guard let recalledDeliveryID, let shown = shown.deliveryID else { return false }
        return recalledDeliveryID.split(separator: ",").contains { $0 == shown }
    }
}

/// What happened to a notification on the device.
public enum TrackingAction: Sendable, Equatable {
    /// It arrived: for silent notifications, and for those that a service extension handles.
    case receive
    /// The user clicked or opened it.
    case click
    /// It was removed, because its delivery was recalled.
    case remove

    /// The last part of the tracking URL.
    var tag: Int {
        switch self {
        case .receive: 1
        case .click: 2
        case .remove: 3
        }
    }
}

/// A message id in the form that a tracking URL has.
enum MessageID {
    /// A UUID unchanged, or a decimal number in hexadecimal; nil if the text is neither.
    ///
    /// A number has at least two digits, as in Adobe's iOS SDK. That SDK truncates ids to 32 bits, which loses the
    /// message, so larger ones are written in full here. A negative id is the two's complement, in 32 bits if it fits
    /// and otherwise in 64.
    static func tracking(_ text: String) -> String? {
        if UUID(uuidString: text) != nil { return text }
        guard let number = Int64(text) else { return nil }
        if number < 0, let short = Int32(exactly: number) { return String(UInt32(bitPattern: short), radix: 16) }
        let digits = String(UInt64(bitPattern: number), radix: 16)
        return digits.count < 2 ? "0" + digits : digits
    }
}
