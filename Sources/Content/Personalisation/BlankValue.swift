/// Whether a value is blank: empty, or only white space, which forms and exports often leave behind.
enum BlankValue {
    /// Whether UTF-8 bytes are all white space. For nearly all values the first byte decides.
    @inline(__always)
    static func isBlank(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        guard !range.isEmpty else { return true }
        let first = bytes[range.lowerBound]
        if first > 0x20, first < 0x80 { return false }
        return isWhite(bytes[range])
    }

    /// The same for a text.
    static func isBlank(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return true }
        return first > 0x20 && first < 0x80 ? false : isWhite(Array(text.utf8)[...])
    }

    /// Works on bytes: all white-space characters begin with one of a few bytes.
    private static func isWhite(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while let first = rest.first {
            let length = whiteLength(first, rest)
            guard length > 0 else { return false }
            rest = rest.dropFirst(length)
        }
        return true
    }

    /// The length in bytes of the white-space character at the start of the text, 0 if there is none. White space is
    /// Unicode's `White_Space` and the two zero-width characters U+200B and U+FEFF.
    private static func whiteLength(_ first: UInt8, _ rest: ArraySlice<UInt8>) -> Int {
        switch first {
        case 0x09...0x0D, 0x20: return 1
        case 0xC2: return rest.starts(with: [0xC2, 0xA0]) || rest.starts(with: [0xC2, 0x85]) ? 2 : 0
        case 0xE1, 0xE2, 0xE3, 0xEF:
            guard rest.count >= 3 else { return 0 }
            let (second, third) = (rest[rest.startIndex + 1], rest[rest.startIndex + 2])
            switch (first, second, third) {
            case (0xE1, 0x9A, 0x80), (0xE2, 0x80, 0x80...0x8B), (0xE2, 0x80, 0xA8), (0xE2, 0x80, 0xA9),
                (0xE2, 0x80, 0xAF), (0xE2, 0x81, 0x9F), (0xE3, 0x80, 0x80), (0xEF, 0xBB, 0xBF):
                return 3
            default: return 0
            }
        default: return 0
        }
    }
}
