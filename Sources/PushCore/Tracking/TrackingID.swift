/// The parameter `id` of a tracking request: `h<message>,<delivery>,<tag>`.
public struct TrackingID: Sendable, Hashable {
    public var message: TrackedMessageID
    /// The deliveries that the second part may mean, the likeliest first; empty for what is no delivery's id.
    public var deliveries: [Int64]
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

/// The message id of a tracking request, `_mId` as the SDKs write it.
public enum TrackedMessageID: Sendable, Hashable {
    /// The encrypted id; the SDKs send it as it was, in whatever case.
    case uuid(MessageUUID)
    /// A number, which the SDKs write in hexadecimal.
    ///
    /// Of a negative one iOS and Android 3.1.4 send the 8 digits of its 32 bits, Android 3.1.1 to 3.1.3 the 16 of its 64 bits:
    /// both are read as the negative number. iOS 5.0.0 sends only the low 32 bits of a larger one, and two digits at least. Numbers
    /// that PushMTA gives out are positive and have 32 bits, so that every version sends them whole.
    case number(Int64)

    /// Reads the text behind the `h`; nil if it is neither form.
    public init?(_ text: some Collection<UInt8>) {
        if text.count == MessageUUID.textLength, let uuid = MessageUUID(text: text) {
            self = .uuid(uuid)
            return
        }
        let digits = text.drop { $0 == UInt8(ascii: "0") }
        // 16 digits are the 64 bits of the largest number.
        guard !text.isEmpty, digits.count <= 16 else { return nil }
        var value: UInt64 = 0
        for byte in digits {
            guard let digit = HexDigit.value(byte) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        let isNegative32 = (0x8000_0000...0xFFFF_FFFF).contains(value)
        self = .number(isNegative32 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value))
    }
}

/// What a device tells of a message: the third part of a tracking id.
public enum TrackingKind: Int16, Sendable, Hashable, CaseIterable {
    /// It arrived (Adobe's tag 1, "receive" or impression).
    case received = 1
    /// It was clicked or opened (tag 2; the Android SDK sends it for a dismissal too).
    case clicked = 2
}
