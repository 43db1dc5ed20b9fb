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
    /// The header `apns-collapse-id` when it is the same for all messages; nil when there is none or it is
    /// personalised.
    public var collapseID: String?

    /// What is appended to the bundle id to make the header `apns-topic`; empty for most push types.
    public var topicSuffix: String { pushType.topicSuffix }

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
