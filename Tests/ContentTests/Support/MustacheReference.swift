@testable import Content
@testable import PushCore

/// Says what a text with sections means, by walking over its tags; slow, and without Mustache's rules for lines.
struct MustacheReference {
    struct Unclosed: Error {}

    private let tokens: [TextToken]
    private let fields: [String: String]
    private var output = ""

    var text: String { output }

    init(_ tokens: [TextToken], _ fields: [String: String]) throws {
        self.tokens = tokens
        self.fields = fields
        try run(0..<tokens.count, [])
    }

    /// Walks over tags; the scopes are the elements of the sections that they stand in, the innermost last.
    private mutating func run(_ range: Range<Int>, _ scopes: [JSONValue]) throws {
        var index = range.lowerBound
        while index < range.upperBound {
            switch tokens[index] {
            case .literal(let text): output += text
            case .field(let field) where field.name == SectionText.element: output += scopes.last?.scalarText ?? ""
            case .field(let field):
                let value = find(field.name, scopes).text
                output += value.isEmpty ? field.defaultValue ?? "" : value
            case .open(let name), .openInverted(let name):
                let end = try close(of: index, before: range.upperBound)
                let elements = sections(condition(name, scopes))
                if case .open = tokens[index] {
                    for element in elements { try run(index + 1..<end, scopes + [element]) }
                } else if elements.isEmpty {
                    try run(index + 1..<end, scopes)
                }
                index = end
            case .close: break
            }
            index += 1
        }
    }

    private func close(of open: Int, before end: Int) throws -> Int {
        var depth = 0
        for index in open..<end {
            switch tokens[index] {
            case .open, .openInverted: depth += 1
            case .close: depth -= 1
            default: break
            }
            if depth == 0 { return index }
        }
        throw Unclosed()
    }

    private func find(_ name: String, _ scopes: [JSONValue]) -> JSONValue {
        for scope in scopes.reversed() {
            if let value = scope[name] { return value }
        }
        return .string(fields[name] ?? "")
    }

    private func condition(_ name: String, _ scopes: [JSONValue]) -> JSONValue {
        for scope in scopes.reversed() {
            if let value = scope[name] { return value }
        }
        let text = fields[name] ?? ""
        guard text.hasPrefix("[") || text.hasPrefix("{"), let value = try? JSONParser.parse(Array(text.utf8)) else {
            return .string(text)
        }
        return value
    }

    private func sections(_ value: JSONValue) -> [JSONValue] {
        switch value {
        case .array(let elements): elements
        case .object(let entries): entries.isEmpty ? [] : [value]
        default: ["", "false", "0"].contains(value.text) ? [] : [value]
        }
    }
}

extension JSONValue {
    /// What `{{.}}` shows of the element of a list.
    fileprivate var scalarText: String {
        if case .object = self { "" } else { text }
    }
}
