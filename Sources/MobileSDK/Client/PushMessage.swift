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
