/// The parameter `id` of a tracking request: `h<message>,<delivery>,<tag>`.
public struct TrackingID: Sendable, Hashable {
    /// The message.
    public var message: TrackedMessageID
    /// The deliveries that the second part may mean, the likeliest first; empty for what is no delivery's id.
    public var deliveries: [Int64]
    /// What happened.
    public var kind: TrackingKind

    /// The longest id that is looked at: three texts of 36, 16 and 16 characters, and some leading zeros.
    public static let longest = 200

    /// An id from its parts.
    public init(message: TrackedMessageID, deliveries: [Int64], kind: TrackingKind) {
        self.message = message
        self.deliveries = deliveries
        self.kind = kind
    }

    /// Reads the id; nil for what is no tracking id at all, such as those of e-mail links, whose third part is that of a
    /// link.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.longest, bytes.first == UInt8(ascii: "h") else { return nil }
        let parts = bytes.dropFirst().split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty, let message = TrackedMessageID(parts[0]),
            let kind = Self.kind(parts[2])
        else { return nil }
        self.message = message
        self.kind = kind
        // Ids are given out without leading zeros; an app that reads and writes numbers may put some before.
        let digits = parts[1].drop { $0 == UInt8(ascii: "0") }
        deliveries = DeliveryID.candidates(String(decoding: digits, as: UTF8.self))
    }

    /// The tag, in hexadecimal as all parts; leading zeros do not count.
    private static func kind(_ text: ArraySlice<UInt8>) -> TrackingKind? {
        let digits = text.drop { $0 == UInt8(ascii: "0") }
        guard digits.count == 1, let digit = digits.first.flatMap(HexDigit.value) else { return nil }
        return TrackingKind(rawValue: Int16(digit))
    }
}
