/// Whether a value says nothing: it is empty, or has white space only, as forms and exports leave it.
enum BlankValue {
    /// Whether bytes of UTF-8 are white space and nothing else. The first byte answers for nearly all values.
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

    /// Looks at the bytes: every invisible character begins with one of few.
    private static func isWhite(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while let first = rest.first {
            let length = whiteLength(first, rest)
            guard length > 0 else { return false }
            rest = rest.dropFirst(length)
        }
        return true
    }

    /// The bytes of the white space that a text begins with (Unicode's `White_Space`, and the two of no width); 0 for none.
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
