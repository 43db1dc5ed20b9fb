/// The values of APNs request headers that all messages of a delivery share.
///
/// FCM has no such headers; there the values are part of the body that ``PayloadTemplate`` renders.
package struct MessageAttributes: Sendable, Hashable {
    /// The header `apns-push-type`.
    package var pushType: PushType
    /// The header `apns-priority`: 10, 5 or 1; nil leaves it to the gateway, whose default is 10.
    package var priority: Int?
    /// How long the gateway may keep a message for an offline device, in seconds. 0 means one attempt; nil leaves it to
    /// the gateway.
    ///
    /// The header `apns-expiration` is the time of sending plus this value, or 0 if this is 0.
    package var expirationSeconds: Int32?
    /// The end of validity of the message or of its delivery, in seconds since 1970; nil if unknown.
    ///
    /// It counts only if ``expirationSeconds`` is nil.
    package var validUntil: Int64?
    /// The header `apns-collapse-id` if it is the same for all messages; nil if there is none or it is personalised.
    package var collapseID: String?

    /// The suffix of the bundle id in the header `apns-topic`; empty for most push types.
    package var topicSuffix: String { pushType.topicSuffix }

    /// APNs keeps no message longer (Apple, "Sending notification requests to APNs": "APNs stores the notification for
    /// 30 days or less").
    private static let maxStorage: Int64 = 30 * 86_400

    /// When the gateway should give up, in seconds since 1970. 0 means one attempt; nil leaves it to the gateway.
    /// `isVolatile` is true if the moment depends on `now`.
    ///
    /// A call (`voip`, `pushtotalk`) is useful only at once. So its validity sets no expiration, only its content can.
    ///
    /// - Parameter now: seconds since 1970.
    package func expiration(now: Int64) -> (moment: Int64, isVolatile: Bool)? {
        if let expirationSeconds {
            return (expirationSeconds <= 0 ? 0 : now &+ Int64(expirationSeconds), expirationSeconds > 0)
        }
        guard let validUntil, pushType != .voip, pushType != .pushtotalk else { return nil }
        let longest = now &+ Self.maxStorage
        return validUntil > longest ? (longest, true) : (max(1, validUntil), false)
    }

    /// A copy with another end of validity.
    package func valid(until moment: Int64?) -> MessageAttributes {
        var attributes = self
        attributes.validUntil = moment
        return attributes
    }

    /// Makes attributes; omitted values are absent.
    package init(
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
