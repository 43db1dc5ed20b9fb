/// A platform's section of a content, after validation: each value has the type that its key asks for.
struct ContentSection: Sendable, Hashable {
    let platform: Platform
    /// The entries in the order in which they were written.
    let entries: [JSONEntry]

    /// The value of a key, or nil.
    subscript(key: String) -> JSONValue? {
        entries.first { $0.name == key }?.value
    }

    /// A text's template; nil when the key is absent or its text is empty.
    func text(_ key: String) -> TextTemplate? {
        guard case .string(let text) = self[key], !text.isEmpty else { return nil }
        return try? TextTemplate(text)
    }

    /// A word or a text as it was written.
    func string(_ key: String) -> String? {
        if case .string(let text) = self[key] { text } else { nil }
    }

    /// A number as it was written.
    func number(_ key: String) -> String? {
        if case .number(let digits) = self[key] { digits } else { nil }
    }

    /// Whether a boolean is there and true.
    func isTrue(_ key: String) -> Bool {
        self[key] == .boolean(true)
    }

    /// The application's own variables.
    var variables: [JSONEntry] {
        if case .object(let entries) = self["variables"] { entries } else { [] }
    }

    /// Whether any of the keys has a value.
    func hasAny(_ keys: [String]) -> Bool {
        keys.contains { self[$0] != nil }
    }
}
