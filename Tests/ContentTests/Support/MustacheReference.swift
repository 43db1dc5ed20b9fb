@testable import Content
@testable import PushCore

/// Evaluates a text with sections by walking over its tags. It is slow, and lacks Mustache's rules for lines.
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

    /// Walks over tags. The scopes are the elements of the enclosing sections, innermost last.
    private mutating func run(_ range: Range<Int>, _ scopes: [JSONValue]) throws {
        var index = range.lowerBound
        while index < range.upperBound {
            switch tokens[index] {
            case .literal(let text): output += text
            case .field(let field) where field.name == SectionText.element: output += scopes.last?.scalarText ?? ""
            case .field(let field):
                let value = find(field.name, scopes).text
                output += Self.isBlank(value) ? field.defaultValue ?? "" : value
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
            if let value = Self.look(in: scope, name) { return value }
        }
        return field(name)
    }

    /// The object's entry of a name, or the value at the path that the name is; nil if the object does not have the
    /// path's root.
    private static func look(in scope: JSONValue, _ name: String) -> JSONValue? {
        if let value = scope[name] { return value }
        let parts = name.split(separator: ".").map(String.init)
        guard parts.count == 2, let root = scope[parts[0]] else { return nil }
        return root[parts[1]] ?? .null
    }

    private func field(_ name: String) -> JSONValue {
        let text = fields[name] ?? ""
        let parts = name.split(separator: ".").map(String.init)
        guard parts.count == 2, Self.isBlank(text) else { return .string(text) }
        guard let root = fields[parts[0]], root.hasPrefix("{") || root.hasPrefix("["),
            let value = try? JSONParser.parse(Array(root.utf8))
        else { return .null }
        return value[parts[1]] ?? .null
    }

    private static func isBlank(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.properties.isWhitespace || $0 == "\u{FEFF}" || $0 == "\u{200B}" }
    }

    private func condition(_ name: String, _ scopes: [JSONValue]) -> JSONValue {
        for scope in scopes.reversed() {
            if let value = Self.look(in: scope, name) { return value }
        }
        guard case .string(let text) = field(name) else { return field(name) }
        guard text.hasPrefix("[") || text.hasPrefix("{"), let value = try? JSONParser.parse(Array(text.utf8)) else {
            return .string(text)
        }
        return value
    }

    private func sections(_ value: JSONValue) -> [JSONValue] {
        switch value {
        case .array(let elements): elements
        case .object(let entries): entries.isEmpty ? [] : [value]
        default: Self.isBlank(value.text) || ["false", "0"].contains(value.text) ? [] : [value]
        }
    }
}

extension JSONValue {
    /// The text of a list's element for `{{.}}`.
    fileprivate var scalarText: String {
        if case .object = self { "" } else { text }
    }
}
