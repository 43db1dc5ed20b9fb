/// The kinds of ids of a message.
package enum MessageIDKind: String, Sendable, Hashable, CaseIterable {
    /// Delivery and number, as `send_message` returns them and logs show them: 42-1007.
    case messageID = "message_id"
    /// `_mId` as a UUID, which is also `apns-id`.
    case uuid
    /// A numbered `_mId`, decimal.
    case int32
    /// A numbered `_mId`, hexadecimal, as devices send it.
    case int32Hex = "int32_hex"
    /// The gateway's own id: the name that FCM returned, whole or its last part.
    case gatewayID = "gateway_id"
}
