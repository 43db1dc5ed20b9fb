import PushCore
import Store

extension JSONValue {
    /// An object.
    static func members(_ members: (String, JSONValue)...) -> JSONValue {
        .object(members.map { JSONEntry(name: $0.0, value: $0.1) })
    }

    /// A whole number.
    static func integer(_ number: some BinaryInteger) -> JSONValue { .number(String(number)) }

    /// A text, or null.
    static func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    /// A text, or null for an empty one.
    static func filledText(_ text: String) -> JSONValue { text.isEmpty ? .null : .string(text) }

    /// A list of texts.
    static func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

    /// A moment as RFC 3339 has it, in UTC, or null.
    static func time(_ time: DatabaseTime?) -> JSONValue { time.map { .string($0.internetText) } ?? .null }

    /// JSON of the database's; null for what is none.
    static func stored(_ text: String?) -> JSONValue {
        text.flatMap { try? JSONValue(parsing: Array($0.utf8)) } ?? .null
    }
}
