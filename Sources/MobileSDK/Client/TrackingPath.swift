/// The path of a tracking request: `/r/?id=h<broad log>,<delivery>,<tag>`.
enum TrackingPath {
    /// The path; nil if the message has no ids that can be tracked.
    ///
    /// The delivery's id is sent back unchanged. An id with blanks or control characters is not one of PushMTA, and
    /// would change the request.
    static func path(_ message: PushMessage, _ action: TrackingAction) -> String? {
        guard let id = message.messageID.flatMap(MessageID.tracking), let delivery = message.deliveryID,
            !delivery.isEmpty, delivery.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F && $0 != "#" })
        else { return nil }
        return "/r/?id=h\(id),\(delivery),\(action.tag)"
    }

    /// What the path of a click has before its tag; nil for another path.
    static func opened(_ path: String) -> String? {
        let tag = "\(TrackingAction.click.tag)"
        return path.hasSuffix("," + tag) ? String(path.dropLast(tag.count)) : nil
    }

    /// The end of the path that reports a conversion of an opened notification.
    static func conversion(_ name: String, _ value: Double?) -> String {
        let named = "4&name=" + PercentEncoding.encode(name)
        guard let value, value.isFinite else { return named }
        return named + "&value=" + PercentEncoding.encode("\(value)")
    }
}
