/// Decodes the bytes that a terminal sends: UTF-8, and the escape sequences that all current terminals share.
package struct KeyDecoder: Sendable {
    /// Longer sequences are not keys.
    private static let maxSequenceLength = 16
    /// The sequences `ESC [ …` and `ESC O …` by their final byte; those that end with `~` by their number.
    private static let sequences: [String: TerminalKey] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "Z": .backTab, "1~": .home, "7~": .home,
        "4~": .end, "8~": .end, "5~": .pageUp, "6~": .pageDown,
    ]

    /// The beginning of an incomplete character or sequence.
    private var rest: [UInt8] = []

    package init() {}

    /// Decodes bytes that were read at once. An escape at their end is the key itself, as terminals send sequences as
    /// a whole.
    package mutating func decode(_ bytes: [UInt8]) -> [TerminalKey] {
        var input = (rest + bytes)[...]
        rest = []
        var keys: [TerminalKey] = []
        while let first = input.first {
            guard let (key, length) = Self.next(input, first) else {
                // A sequence that never ends is dropped.
                if input.count <= Self.maxSequenceLength { rest = Array(input) }
                break
            }
            if let key { keys.append(key) }
            input.removeFirst(length)
        }
        return keys
    }

    /// The first key of the input (nil if the sequence is not a key) and its length. Returns nil if the input is
    /// incomplete.
    private static func next(_ input: ArraySlice<UInt8>, _ first: UInt8) -> (key: TerminalKey?, length: Int)? {
        switch first {
        case 0x1B: return escape(input)
        case 0x0A, 0x0D: return (.enter, 1)
        case 0x09: return (.tab, 1)
        case 0x08, 0x7F: return (.backspace, 1)
        case 0x01..<0x1B: return (.control(Character(UnicodeScalar(first | 0x60))), 1)
        case 0x20..<0x7F: return (.character(Character(UnicodeScalar(first))), 1)
        case 0xC2..<0xF5: return character(input, length: first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4)
        default: return (nil, 1)
        }
    }

    private static func character(_ input: ArraySlice<UInt8>, length: Int) -> (key: TerminalKey?, length: Int)? {
        let bytes = input.prefix(length)
        // A byte that cannot continue the character ends it.
        if let wrong = bytes.dropFirst().firstIndex(where: { $0 & 0xC0 != 0x80 }) {
            return (nil, wrong - input.startIndex)
        }
        guard bytes.count == length else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.count == 1, let found = text.first, found != "\u{FFFD}" else { return (nil, length) }
        return (.character(found), length)
    }

    private static func escape(_ input: ArraySlice<UInt8>) -> (key: TerminalKey?, length: Int)? {
        let behind = input.dropFirst()
        guard let kind = behind.first, kind == UInt8(ascii: "[") || kind == UInt8(ascii: "O") else {
            return (.escape, 1)
        }
        // Parameters, then the final byte: ECMA-48, 5.4.
        guard let end = behind.dropFirst().firstIndex(where: { (0x40...0x7E).contains($0) }) else { return nil }
        let body = String(decoding: input[(behind.startIndex + 1)...end], as: UTF8.self)
        // `1;5A` is an arrow with the control key: treat it as the arrow.
        let name = body.hasSuffix("~") ? body : String(body.suffix(1))
        return (sequences[name], end - input.startIndex + 1)
    }
}
