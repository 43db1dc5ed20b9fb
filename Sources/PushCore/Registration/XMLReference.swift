/// A reference to a character in XML: one of the five predefined entities, or a number (XML 1.0, section 4.1).
///
/// Control characters are taken, though XML 1.0 has none: they are taken as themselves, too, and a device whose registration were
/// refused because of one in a name would never send it again. U+0000 is not, as no database stores it.
struct XMLReference {
    /// The character that it stands for.
    let character: Unicode.Scalar
    /// Where what follows it begins.
    let end: Int

    private static let entities: [(name: [UInt8], character: Unicode.Scalar)] = [
        (Array("&amp;".utf8), "&"), (Array("&lt;".utf8), "<"), (Array("&gt;".utf8), ">"),
        (Array("&quot;".utf8), "\""), (Array("&apos;".utf8), "'"),
    ]

    /// Reads the reference that begins at the index with a `&`; nil if it is none.
    init?(_ bytes: [UInt8], at start: Int) {
        if let entity = Self.entities.first(where: { bytes[start...].starts(with: $0.name) }) {
            character = entity.character
            end = start + entity.name.count
            return
        }
        guard start + 2 < bytes.count, bytes[start + 1] == UInt8(ascii: "#") else { return nil }
        let isHex = bytes[start + 2] == UInt8(ascii: "x")
        let radix: UInt32 = isHex ? 16 : 10
        var index = start + (isHex ? 3 : 2)
        let first = index
        var value: UInt32 = 0
        while index < bytes.count, let digit = HexDigit.value(bytes[index]), UInt32(digit) < radix {
            value = value * radix + UInt32(digit)
            // Above the last character; going on would overflow.
            guard value <= 0x10FFFF else { return nil }
            index += 1
        }
        guard index > first, index < bytes.count, bytes[index] == UInt8(ascii: ";"),
            let scalar = Unicode.Scalar(value), value > 0
        else { return nil }
        character = scalar
        end = index + 1
    }
}
