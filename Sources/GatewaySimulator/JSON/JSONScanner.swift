/// Steps through a JSON text (RFC 8259) without making anything of it: the gateway has to check a million bodies and keep none.
struct JSONScanner {
    /// The text is not JSON; where that shows.
    struct Fault: Error {
        var position: Int
    }

    /// A string as it stands in the text, without its quotes.
    struct Text {
        var range: Range<Int>
        var hasEscapes: Bool
    }

    /// Deeper nesting is refused, as it only serves to exhaust a stack.
    static let deepestNesting = 100

    let bytes: [UInt8]
    private(set) var position = 0

    /// A scanner at the start of those bytes.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next byte that is not white space, without taking it; nil at the end.
    @inline(__always)
    mutating func peek() -> UInt8? {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            position += 1
        }
        return nil
    }

    /// Takes that byte, after white space.
    @inline(__always)
    mutating func expect(_ byte: UInt8) throws(Fault) {
        guard peek() == byte else { throw Fault(position: position) }
        position += 1
    }

    /// Takes that byte if it comes next, after white space.
    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    /// Nothing but white space may be left.
    mutating func expectEnd() throws(Fault) {
        guard peek() == nil else { throw Fault(position: position) }
    }

    /// Takes a string.
    mutating func string() throws(Fault) -> Text {
        try expect(UInt8(ascii: "\""))
        let start = position
        var hasEscapes = false
        while true {
            skipPlain()
            guard position < bytes.count else { throw Fault(position: position) }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return Text(range: start..<position - 1, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try escape()
            default:
                throw Fault(position: position)
            }
        }
    }

    /// Goes to the next quote, backslash or control character.
    @inline(__always)
    private mutating func skipPlain() {
        var index = position
        while index &+ 8 <= bytes.count {
            let word = Words.load(bytes, index)
            let controls = (word &- Words.all(0x20)) & ~word & Words.tops
            let quotes = Words.zeros(word ^ Words.all(UInt8(ascii: "\"")))
            let found = controls | quotes | Words.zeros(word ^ Words.all(UInt8(ascii: "\\")))
            if found != 0 {
                position = index &+ found.trailingZeroBitCount >> 3
                return
            }
            index &+= 8
        }
        while index < bytes.count, bytes[index] >= 0x20, bytes[index] != UInt8(ascii: "\""),
            bytes[index] != UInt8(ascii: "\\")
        {
            index &+= 1
        }
        position = index
    }

    private mutating func escape() throws(Fault) {
        position += 1
        guard position < bytes.count else { throw Fault(position: position) }
        switch bytes[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            guard position + 4 < bytes.count else { throw Fault(position: position) }
            for index in position + 1...position + 4 where HexNibble.value(bytes[index]) == nil {
                throw Fault(position: index)
            }
            position += 5
        default:
            throw Fault(position: position)
        }
    }

    /// Takes any value.
    mutating func skipValue(depth: Int = 0) throws(Fault) {
        switch peek() {
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "{"): try skipObject(depth: depth + 1)
        case UInt8(ascii: "["): try skipArray(depth: depth + 1)
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: try number()
        }
    }

    private mutating func skipObject(depth: Int) throws(Fault) {
        guard depth <= Self.deepestNesting else { throw Fault(position: position) }
        try expect(UInt8(ascii: "{"))
        if take(UInt8(ascii: "}")) { return }
        repeat {
            _ = try string()
            try expect(UInt8(ascii: ":"))
            try skipValue(depth: depth)
        } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "}"))
    }

    private mutating func skipArray(depth: Int) throws(Fault) {
        guard depth <= Self.deepestNesting else { throw Fault(position: position) }
        try expect(UInt8(ascii: "["))
        if take(UInt8(ascii: "]")) { return }
        repeat { try skipValue(depth: depth) } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "]"))
    }

    /// Takes one of the words `true`, `false` and `null`.
    mutating func literal(_ word: StaticString) throws(Fault) {
        _ = peek()
        for offset in 0..<word.utf8CodeUnitCount {
            guard position + offset < bytes.count, bytes[position + offset] == Self.byte(of: word, at: offset) else {
                throw Fault(position: position)
            }
        }
        position += word.utf8CodeUnitCount
    }

    private static func byte(of word: StaticString, at offset: Int) -> UInt8? {
        word.withUTF8Buffer { $0[offset] }
    }

    /// Takes a number: no leading zeros or plus sign, digits on both sides of a point.
    mutating func number() throws(Fault) {
        _ = peek()
        _ = takeNow(UInt8(ascii: "-"))
        if !takeNow(UInt8(ascii: "0")) { try digits() }
        if takeNow(UInt8(ascii: ".")) { try digits() }
        if takeNow(UInt8(ascii: "e")) || takeNow(UInt8(ascii: "E")) {
            if !takeNow(UInt8(ascii: "+")) { _ = takeNow(UInt8(ascii: "-")) }
            try digits()
        }
    }

    private mutating func takeNow(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func digits() throws(Fault) {
        let start = position
        while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
            position += 1
        }
        guard position > start else { throw Fault(position: position) }
    }
}
