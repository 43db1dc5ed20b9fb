extension JSONText {
    /// A value's JSON text without spaces.
    static func compact(_ value: JSONValue) -> String {
        var output: [UInt8] = []
        append(value, indent: nil, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// A value's JSON text with a line for each entry, for people to read, and a line feed at the end.
    static func pretty(_ value: JSONValue) -> String {
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
            // A list of words and numbers stays in one line.
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
    /// Whether it is an object.
    var isObject: Bool { if case .object = self { true } else { false } }
}
