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
        guard let (message, deliveries, tag) = Self.parts(text), let kind = TrackingKind(rawValue: tag) else {
            return nil
        }
        self.init(message: message, deliveries: deliveries, kind: kind)
    }

    /// Parses the id of a conversion: the same with the tag 4. Its kind means nothing.
    package init?(conversion text: String) {
        guard let (message, deliveries, tag) = Self.parts(text), tag == Self.conversionTag else { return nil }
        self.init(message: message, deliveries: deliveries, kind: .clicked)
    }

    /// The tag of a conversion, which is no hit.
    private static let conversionTag: Int16 = 4

    private static func parts(_ text: String) -> (message: TrackedMessageID, deliveries: [Int64], tag: Int16)? {
        let bytes = Array(text.utf8)
        guard bytes.count <= longest, bytes.first == UInt8(ascii: "h") else { return nil }
        let parts = bytes.dropFirst().split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty, let message = TrackedMessageID(parts[0]),
            let tag = Self.tag(parts[2])
        else { return nil }
        // PushMTA writes ids without leading zeros, but an app that parses and formats numbers may add some.
        let digits = parts[1].drop { $0 == UInt8(ascii: "0") }
        return (message, DeliveryID.candidates(String(decoding: digits, as: UTF8.self)), tag)
    }

    /// The tag, in hexadecimal like all parts; leading zeros are ignored.
    private static func tag(_ text: ArraySlice<UInt8>) -> Int16? {
        let digits = text.drop { $0 == UInt8(ascii: "0") }
        guard digits.count == 1, let digit = digits.first.flatMap(HexDigit.value) else { return nil }
        return Int16(digit)
    }
}

/// What a device reports about a message: the third part of a tracking id.
package enum TrackingKind: Int16, Sendable, Hashable, CaseIterable {
    /// It arrived (Adobe's tag 1, "receive" or impression).
    case received = 1
    /// It was clicked or opened (tag 2; the Android SDK also sends it for a dismissal).
    case clicked = 2
    /// The device removed it, because its delivery was recalled (tag 3, PushMTA's own).
    case removed = 3
}
