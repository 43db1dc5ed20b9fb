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
