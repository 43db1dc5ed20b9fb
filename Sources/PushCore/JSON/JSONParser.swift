/// Parses JSON (RFC 8259) into ``JSONValue``.
///
/// The product has its own parser because Foundation's turns `1.0` into `1` and forgets the order of entries, while a
/// payload must carry what the marketing system wrote.
struct JSONParser {
    /// Deeper nesting is refused, so that no input exhausts the stack.
    static let maximumDepth = 64

    let bytes: [UInt8]
    var position = 0
    /// What stands for half a surrogate pair; nil refuses it.
    var halfPair: Character? = "\u{FFFD}"

    /// Parses a complete text.
    ///
    /// - Parameter halfPair: what stands for half a surrogate pair, which is no character; nil refuses the text.
    static func parse(
        _ text: some Collection<UInt8>,
        halfPair: Character? = "\u{FFFD}"
    ) throws(JSONSyntaxError) -> JSONValue {
        var parser = JSONParser(bytes: Array(text), halfPair: halfPair)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.position == parser.bytes.count else { throw parser.error("there is more after the value") }
        return value
    }

    mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth < Self.maximumDepth else {
            throw error("values are nested more than \(Self.maximumDepth) deep")
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
