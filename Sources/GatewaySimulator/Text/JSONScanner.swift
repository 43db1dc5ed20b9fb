/// Scans JSON text (RFC 8259) without building values: the gateway must check a million bodies and keep none.
struct JSONScanner {
    /// The text is not JSON, with the position of the error.
    struct Fault: Error {
        var position: Int
    }

    /// A string's range in the text, without the quotes.
    struct Text {
        var range: Range<Int>
        var hasEscapes: Bool
    }

    /// The maximum nesting. Deeper nesting is refused, because it could exhaust the stack.
    static let deepestNesting = 100

    let bytes: [UInt8]
    private(set) var position = 0

    /// A scanner at the start of these bytes.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next byte that is not white space, without consuming it; nil at the end.
    @inline(__always)
    mutating func peek() -> UInt8? {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            position += 1
        }
        return nil
    }

    /// Consumes this byte, after white space.
    @inline(__always)
    mutating func expect(_ byte: UInt8) throws(Fault) {
        guard peek() == byte else { throw Fault(position: position) }
        position += 1
    }

    /// Consumes this byte if it is next, after white space.
    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    /// Expects that only white space is left.
    mutating func expectEnd() throws(Fault) {
        guard peek() == nil else { throw Fault(position: position) }
    }

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

    /// Skips to the next quote, backslash or control character.
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

    /// Consumes one of the words `true`, `false` and `null`.
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

    /// Consumes a number: no leading zeros or plus sign, digits on both sides of a point.
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

extension JSONScanner {
    /// Whether the whole text is one JSON object.
    static func isObject(_ bytes: [UInt8]) -> Bool {
        var scanner = JSONScanner(bytes)
        guard scanner.peek() == UInt8(ascii: "{") else { return false }
        do throws(Fault) {
            try scanner.skipValue()
            try scanner.expectEnd()
            return true
        } catch {
            return false
        }
    }

    /// The string with its escapes resolved, for answers and for the few cases where the raw bytes are not enough.
    func decoded(_ text: Text) -> [UInt8] {
        guard text.hasEscapes else { return Array(bytes[text.range]) }
        var output: [UInt8] = []
        output.reserveCapacity(text.range.count)
        var index = text.range.lowerBound
        while index < text.range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\") else {
                output.append(bytes[index])
                index += 1
                continue
            }
            if bytes[index + 1] == UInt8(ascii: "u") {
                index = appendUnicode(at: index, end: text.range.upperBound, &output)
            } else {
                output.append(Self.plain(bytes[index + 1]))
                index += 2
            }
        }
        return output
    }

    private static func plain(_ escaped: UInt8) -> UInt8 {
        switch escaped {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: escaped
        }
    }

    /// Appends the character of one `\uXXXX` or of a surrogate pair; returns where the text continues.
    private func appendUnicode(at index: Int, end: Int, _ output: inout [UInt8]) -> Int {
        let first = codeUnit(at: index + 2)
        var value = UInt32(first)
        var next = index + 6
        if (0xD800...0xDBFF).contains(first), next + 5 < end, bytes[next] == UInt8(ascii: "\\"),
            bytes[next + 1] == UInt8(ascii: "u"), case let second = codeUnit(at: next + 2),
            (0xDC00...0xDFFF).contains(second)
        {
            value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
            next += 6
        }
        output.append(contentsOf: String(Unicode.Scalar(value) ?? "\u{FFFD}").utf8)
        return next
    }

    private func codeUnit(at index: Int) -> UInt16 {
        var value: UInt16 = 0
        for position in index..<index + 4 { value = value << 4 | UInt16(HexNibble.value(bytes[position]) ?? 0) }
        return value
    }
}
