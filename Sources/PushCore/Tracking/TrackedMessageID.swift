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
