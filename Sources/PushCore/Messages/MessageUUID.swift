/// A message's 128-bit id, written as a lower-case UUID.
package struct MessageUUID: Sendable, Hashable {
    /// The first eight bytes, big-endian.
    package var high: UInt64
    /// The last eight bytes, big-endian.
    package var low: UInt64

    /// The length of the text form, in bytes.
    package static let textLength = 36

    /// Makes an id from its two halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses the text form, 8-4-4-4-12 hexadecimal digits of either case; nil if it is malformed.
    package init?(_ text: some StringProtocol) {
        self.init(text: text.utf8)
    }

    /// Parses the text form from its bytes; nil if it is malformed.
    package init?(text: some Collection<UInt8>) {
        guard text.count == Self.textLength else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for (position, byte) in text.enumerated() {
            if Self.isHyphen(position) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = HexDigit.value(byte) else { return nil }
            if position < 18 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
        }
        self.init(high: high, low: low)
    }

    /// Appends the 36 bytes of the text form.
    package func appendText(to output: inout [UInt8]) {
        let first = HexDigit.spread(UInt32(truncatingIfNeeded: high >> 32))
        let second = HexDigit.spread(UInt32(truncatingIfNeeded: high))
        let third = HexDigit.spread(UInt32(truncatingIfNeeded: low >> 32))
        let fourth = HexDigit.spread(UInt32(truncatingIfNeeded: low))
        let hyphen = UInt8(ascii: "-")
        output.append(addingCapacity: Self.textLength) { span in
            Self.append(first, from: 0, to: 8, &span)
            span.append(hyphen)
            Self.append(second, from: 0, to: 4, &span)
            span.append(hyphen)
            Self.append(second, from: 4, to: 8, &span)
            span.append(hyphen)
            Self.append(third, from: 0, to: 4, &span)
            span.append(hyphen)
            Self.append(third, from: 4, to: 8, &span)
            Self.append(fourth, from: 0, to: 8, &span)
        }
    }

    private static func isHyphen(_ position: Int) -> Bool {
        position == 8 || position == 13 || position == 18 || position == 23
    }

    /// Appends bytes of a word, counted from its most significant byte.
    @inline(__always)
    private static func append(_ word: UInt64, from: Int, to: Int, _ span: inout OutputSpan<UInt8>) {
        for index in from..<to { span.append(UInt8(truncatingIfNeeded: word >> UInt64(56 - index * 8))) }
    }
}

extension MessageUUID: CustomStringConvertible {
    package var description: String {
        var bytes: [UInt8] = []
        appendText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
