/// Parses JSON (RFC 8259) into ``JSONValue``.
///
/// PushMTA has its own parser because Foundation's turns `1.0` into `1` and loses the order of entries. A payload must
/// carry exactly what the marketing system wrote.
package struct JSONParser {
    /// The maximum nesting depth of texts from outside. Deeper input is refused, so that no input exhausts the stack.
    package static let maxDepth = 64

    let bytes: [UInt8]
    var position = 0
    /// Replaces half a surrogate pair; nil refuses the text.
    var halfPair: Character? = "\u{FFFD}"
    /// How deep values may be nested.
    var deepest = JSONParser.maxDepth

    /// Parses a complete text.
    ///
    /// - Parameters:
    ///   - halfPair: the replacement for half a surrogate pair, which is not a character; nil refuses the text.
    ///   - deepest: the maximum nesting depth. Only texts that the program wrote itself may be deeper than the default.
    package static func parse(
        _ text: some Collection<UInt8>,
        halfPair: Character? = "\u{FFFD}",
        deepest: Int = JSONParser.maxDepth
    ) throws(JSONSyntaxError) -> JSONValue {
        var parser = JSONParser(bytes: Array(text), halfPair: halfPair, deepest: deepest)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.position == parser.bytes.count else { throw parser.error("there is text after the value") }
        return value
    }

    mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth < deepest else {
            throw error("values are nested more than \(deepest) deep")
        }
        skipSpace()
        guard let first = peek else { throw error("the text ends where a value is expected") }
        switch first {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        default: throw error("no value begins like this")
        }
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        position += 1
        var entries: [JSONEntry] = []
        skipSpace()
        if take("}") { return .object(entries) }
        repeat {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw error("a name in quotes is expected") }
            let name = try string()
            skipSpace()
            guard take(":") else { throw error("a colon is expected") }
            entries.append(JSONEntry(name: name, value: try value(depth: depth + 1)))
            skipSpace()
        } while take(",")
        guard take("}") else { throw error("a comma or } is expected") }
        return .object(entries)
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(elements) }
        repeat {
            elements.append(try value(depth: depth + 1))
            skipSpace()
        } while take(",")
        guard take("]") else { throw error("a comma or ] is expected") }
        return .array(elements)
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        for byte in "\(word)".utf8 {
            guard peek == byte else { throw error("no value begins like this") }
            position += 1
        }
        return value
    }

    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    func error(_ cause: String) -> JSONSyntaxError {
        let before = bytes[..<min(position, bytes.count)]
        let newline = UInt8(ascii: "\n")
        let lineStart = before.lastIndex(of: newline).map { $0 + 1 } ?? 0
        let line = before.count { $0 == newline } + 1
        return JSONSyntaxError(cause: cause, line: line, column: before.count - lineStart + 1)
    }
}

extension JSONParser {
    /// Parses a number and returns it verbatim.
    mutating func number() throws(JSONSyntaxError) -> String {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = position
        while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        guard position > start else { throw error("a digit is expected") }
    }

    /// Parses a string in quotes; invalid UTF-8 is repaired.
    mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        var output: [UInt8] = []
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: output, as: UTF8.self)
            case UInt8(ascii: "\\"):
                position += 1
                try escape(into: &output)
            case 0..<0x20:
                throw error("a string contains a control character that is not escaped")
            default:
                output.append(byte)
                position += 1
            }
        }
        throw error("a string is not closed")
    }

    private mutating func escape(into output: inout [UInt8]) throws(JSONSyntaxError) {
        guard let byte = peek else { throw error("a string is not closed") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): output.append(byte)
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "f"): output.append(0x0C)
        case UInt8(ascii: "n"): output.append(0x0A)
        case UInt8(ascii: "r"): output.append(0x0D)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "u"): output.append(contentsOf: Array(String(try scalar()).utf8))
        default: throw error("a string contains an unknown escape")
        }
    }

    /// The character of a `\u` escape or of a surrogate pair of them; half a pair becomes ``halfPair``.
    private mutating func scalar() throws(JSONSyntaxError) -> Character {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        let afterFirst = position
        if first < 0xDC00, take("\\"), take("u") {
            let second = try codeUnit()
            if (0xDC00..<0xE000).contains(second) {
                let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
                if let scalar = Unicode.Scalar(value) { return Character(scalar) }
            }
        }
        guard let halfPair else { throw error("a \\u escape is half of a surrogate pair") }
        position = afterFirst
        return halfPair
    }

    private mutating func codeUnit() throws(JSONSyntaxError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = HexDigit.value(byte) else {
                throw error("four hexadecimal digits are expected after \\u")
            }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }
}

/// Why a text is not JSON.
package struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong; it never contains the text itself.
    package let cause: String
    /// The line of the error, counted from 1.
    package let line: Int
    /// The column of the error in bytes, counted from 1.
    package let column: Int

    package var description: String { "\(cause) at line \(line), column \(column)" }
}
