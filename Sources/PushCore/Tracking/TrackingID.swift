/// The parameter `id` of a tracking request: `h<message>,<delivery>,<tag>`.
package struct TrackingID: Sendable, Hashable {
    package var message: TrackedMessageID
    /// The deliveries that the second part may mean, the likeliest first; empty if it is not a delivery id.
    package var deliveries: [Int64]
    package var kind: TrackingKind

    /// The maximum length of an id: three texts of 36, 16 and 16 characters, and some leading zeros.
    package static let longest = 200

    /// Makes an id from its parts.
    package init(message: TrackedMessageID, deliveries: [Int64], kind: TrackingKind) {
        self.message = message
        self.deliveries = deliveries
        self.kind = kind
    }

    /// Parses an id; nil if it is not a tracking id. The ids of e-mail links are not: their third part is the id of a
    /// link.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.longest, bytes.first == UInt8(ascii: "h") else { return nil }
        let parts = bytes.dropFirst().split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty, let message = TrackedMessageID(parts[0]),
            let kind = Self.kind(parts[2])
        else { return nil }
        self.message = message
        self.kind = kind
        // PushMTA writes ids without leading zeros, but an app that parses and formats numbers may add some.
        let digits = parts[1].drop { $0 == UInt8(ascii: "0") }
        deliveries = DeliveryID.candidates(String(decoding: digits, as: UTF8.self))
    }

    /// The tag, in hexadecimal like all parts; leading zeros are ignored.
    private static func kind(_ text: ArraySlice<UInt8>) -> TrackingKind? {
        let digits = text.drop { $0 == UInt8(ascii: "0") }
        guard digits.count == 1, let digit = digits.first.flatMap(HexDigit.value) else { return nil }
        return TrackingKind(rawValue: Int16(digit))
    }
}

/// The message id of a tracking request, `_mId` as the SDKs write it.
package enum TrackedMessageID: Sendable, Hashable {
    /// The encrypted id; the SDKs send it back unchanged, in either case.
    case uuid(MessageUUID)
    /// A number, which the SDKs write in hexadecimal.
    ///
    /// For a negative number, iOS and Android 3.1.4 send the 8 digits of its 32 bits, and Android 3.1.1 to 3.1.3 the 16
    /// digits of its 64 bits. Both are read as the negative number. iOS 5.0.0 sends only the low 32 bits of a larger
    /// number, and at least two digits. PushMTA's numbers are positive and have 32 bits, so every version sends them
    /// completely.
    case number(Int64)

    /// Parses the text after the `h`; nil if it has neither form.
    package init?(_ text: some Collection<UInt8>) {
        if text.count == MessageUUID.textLength, let uuid = MessageUUID(text: text) {
            self = .uuid(uuid)
            return
        }
        let digits = text.drop { $0 == UInt8(ascii: "0") }
        // 16 digits hold the 64 bits of the largest number.
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

/// What a device reports about a message: the third part of a tracking id.
package enum TrackingKind: Int16, Sendable, Hashable, CaseIterable {
    /// It arrived (Adobe's tag 1, "receive" or impression).
    case received = 1
    /// It was clicked or opened (tag 2; the Android SDK also sends it for a dismissal).
    case clicked = 2
}
