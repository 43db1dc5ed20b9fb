/// One multi-byte UTF-8 sequence, or the longest beginning of one (the Unicode Standard, table 3-7).
struct UTF8Sequence {
    /// U+FFFD in UTF-8.
    static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

    /// The number of bytes of the sequence, or of its valid beginning; at least 1.
    let length: Int
    /// Whether it is complete and valid.
    let isValid: Bool

    /// Examines the sequence that begins at an index with a byte of at least 0x80.
    @inline(__always)
    init(_ bytes: [UInt8], at start: Int, before end: Int) {
        let lead = bytes[start]
        let following: Int
        var allowed: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: following = 1
        case 0xE0: (following, allowed) = (2, 0xA0...0xBF)
        case 0xED: (following, allowed) = (2, 0x80...0x9F)
        case 0xE1...0xEF: following = 2
        case 0xF0: (following, allowed) = (3, 0x90...0xBF)
        case 0xF4: (following, allowed) = (3, 0x80...0x8F)
        case 0xF1...0xF3: following = 3
        default: following = 0
        }
        var index = start + 1
        let needed = start + 1 + following
        while index < needed, index < end, allowed.contains(bytes[index]) {
            allowed = 0x80...0xBF
            index += 1
        }
        length = index - start
        isValid = following > 0 && index == needed
    }
}
