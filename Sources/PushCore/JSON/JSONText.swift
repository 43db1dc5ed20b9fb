package enum JSONText {
    /// Appends the bytes as the contents of a JSON string, without the quotes.
    ///
    /// Any bytes give valid JSON: quotes, backslashes and control characters are escaped, and each maximal piece of
    /// invalid UTF-8 becomes one U+FFFD, as Unicode recommends. Valid UTF-8 is not escaped, because payloads are short
    /// of space.
    ///
    /// Returns the size of the string's value in bytes, after repair and before escaping.
    @discardableResult
    package static func appendEscaped(_ bytes: [UInt8], _ range: Range<Int>, to output: inout [UInt8]) -> Int {
        var size = range.count
        var runStart = range.lowerBound
        var index = runStart
        while true {
            index = endOfPlain(bytes, index..<range.upperBound)
            guard index < range.upperBound else { break }
            let byte = bytes[index]
            let sequence = byte < 0x80 ? nil : UTF8Sequence(bytes, at: index, before: range.upperBound)
            if let sequence, sequence.isValid {
                index += sequence.length
                continue
            }
            output.append(contentsOf: bytes[runStart..<index])
            if sequence == nil {
                appendEscape(byte, to: &output)
            } else {
                output.append(contentsOf: UTF8Sequence.replacement)
                size += UTF8Sequence.replacement.count - (sequence?.length ?? 0)
            }
            index += sequence?.length ?? 1
            runStart = index
        }
        output.append(contentsOf: bytes[runStart..<index])
        return size
    }

    /// The index of the first byte that is not ASCII or must be escaped.
    ///
    /// It checks eight bytes at a time, as an FCM push token has about 150.
    @inline(__always)
    package static func endOfPlain(_ bytes: [UInt8], _ range: Range<Int>) -> Int {
        var index = range.lowerBound
        while range.upperBound - index >= 8, isPlain(word(bytes, index)) { index += 8 }
        while index < range.upperBound {
            let byte = bytes[index]
            guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else { break }
            index += 1
        }
        return index
    }

    /// Eight bytes, the first one lowest. With a single bounds check it compiles to one load.
    @inline(__always)
    private static func word(_ bytes: [UInt8], _ index: Int) -> UInt64 {
        precondition(index >= 0 && index <= bytes.count &- 8)
        return UInt64(bytes[index]) | UInt64(bytes[index &+ 1]) << 8 | UInt64(bytes[index &+ 2]) << 16
            | UInt64(bytes[index &+ 3]) << 24 | UInt64(bytes[index &+ 4]) << 32 | UInt64(bytes[index &+ 5]) << 40
            | UInt64(bytes[index &+ 6]) << 48 | UInt64(bytes[index &+ 7]) << 56
    }

    /// Whether all eight bytes are plain: none has its highest bit set, is below a space, or is a quote or backslash.
    /// Only a byte that is one of these can borrow from the next one.
    @inline(__always)
    static func isPlain(_ word: UInt64) -> Bool {
        let each: UInt64 = 0x0101_0101_0101_0101
        let control = word &- each &* 0x20
        let quote = (word ^ each &* UInt64(UInt8(ascii: "\""))) &- each
        let backslash = (word ^ each &* UInt64(UInt8(ascii: "\\"))) &- each
        return (word | control | quote | backslash) & (each &* 0x80) == 0
    }

    /// Appends a text as a JSON string with its quotes.
    package static func appendString(_ text: String, to output: inout [UInt8]) {
        let bytes = Array(text.utf8)
        output.append(UInt8(ascii: "\""))
        appendEscaped(bytes, bytes.indices, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    private static func appendEscape(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        default:
            output.append(contentsOf: [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")])
            output.append(HexDigit.characters[Int(byte >> 4)])
            output.append(HexDigit.characters[Int(byte & 15)])
        }
    }
}

extension JSONText {
    /// The bytes as the contents of a JSON string, without the quotes.
    package static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        appendEscaped(bytes, bytes.indices, to: &output)
        return output
    }
}

extension JSONText {
    /// A value's JSON text without spaces.
    package static func compact(_ value: JSONValue) -> String {
        var output: [UInt8] = []
        append(value, indent: nil, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// A value's JSON text for people: one entry a line, and a line feed at the end.
    package static func pretty(_ value: JSONValue) -> String {
        var output: [UInt8] = []
        append(value, indent: 0, to: &output)
        return String(decoding: output, as: UTF8.self) + "\n"
    }

    private static func append(_ value: JSONValue, indent: Int?, to output: inout [UInt8]) {
        switch value {
        case .null: output.append(contentsOf: "null".utf8)
        case .boolean(let flag): output.append(contentsOf: (flag ? "true" : "false").utf8)
        case .number(let digits): output.append(contentsOf: digits.utf8)
        case .string(let text): appendString(text, to: &output)
        case .array(let elements):
            // A list of scalars stays on one line.
            let isFlat = elements.allSatisfy { if case .array = $0 { false } else { !$0.isObject } }
            let separator = indent != nil && isFlat ? ", " : ","
            list("[", "]", elements, separator, indent: isFlat ? nil : indent, to: &output) { element, inner, output in
                append(element, indent: inner, to: &output)
            }
        case .object(let entries):
            list("{", "}", entries, ",", indent: indent, to: &output) { entry, inner, output in
                appendString(entry.name, to: &output)
                output.append(contentsOf: (indent == nil ? ":" : ": ").utf8)
                append(entry.value, indent: inner, to: &output)
            }
        }
    }

    private static func list<Element>(
        _ open: Unicode.Scalar,
        _ close: Unicode.Scalar,
        _ elements: [Element],
        _ separator: String,
        indent: Int?,
        to output: inout [UInt8],
        append: (Element, Int?, inout [UInt8]) -> Void
    ) {
        output.append(UInt8(ascii: open))
        for (index, element) in elements.enumerated() {
            if index > 0 { output.append(contentsOf: separator.utf8) }
            newLine(indent.map { $0 + 1 }, to: &output)
            append(element, indent.map { $0 + 1 }, &output)
        }
        if !elements.isEmpty { newLine(indent, to: &output) }
        output.append(UInt8(ascii: close))
    }

    private static func newLine(_ indent: Int?, to output: inout [UInt8]) {
        guard let indent else { return }
        output.append(UInt8(ascii: "\n"))
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indent * 2))
    }
}

extension JSONValue {
    /// Appends the value as JSON text.
    package func append(to output: inout [UInt8]) {
        switch self {
        case .null: output += Array("null".utf8)
        case .boolean(let flag): output += Array((flag ? "true" : "false").utf8)
        case .number(let digits): output += Array(digits.utf8)
        case .string(let text): JSONText.appendString(text, to: &output)
        case .array(let elements): Self.append(elements, "[", "]", to: &output) { $0.append(to: &$1) }
        case .object(let entries):
            Self.append(entries, "{", "}", to: &output) { entry, output in
                JSONText.appendString(entry.name, to: &output)
                output.append(UInt8(ascii: ":"))
                entry.value.append(to: &output)
            }
        }
    }

    private static func append<Element>(
        _ elements: [Element],
        _ open: Unicode.Scalar,
        _ close: Unicode.Scalar,
        to output: inout [UInt8],
        _ write: (Element, inout [UInt8]) -> Void
    ) {
        output.append(UInt8(ascii: open))
        for (index, element) in elements.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            write(element, &output)
        }
        output.append(UInt8(ascii: close))
    }
}

extension JSONValue {
    /// Whether the value is an object.
    package var isObject: Bool { if case .object = self { true } else { false } }
}

/// A multi-byte UTF-8 sequence, or the longest valid beginning of one (the Unicode Standard, table 3-7).
struct UTF8Sequence {
    /// U+FFFD in UTF-8.
    static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

    /// The length of the sequence, or of its valid beginning, in bytes; at least 1.
    let length: Int
    /// Whether it is complete and valid.
    let isValid: Bool

    /// Examines the sequence at an index; its first byte is at least 0x80.
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
