import PushCore

/// A platform's section of a content, or an object in it, after validation: each value has the type of its key.
struct ContentSection: Sendable, Hashable {
    let platform: Platform
    /// The entries in their written order, without those whose value is null.
    let entries: [JSONEntry]

    init(platform: Platform, entries: [JSONEntry]) {
        self.platform = platform
        self.entries = entries.filter { $0.value != .null }
    }

    /// The value of a key, or nil.
    subscript(key: String) -> JSONValue? {
        entries.first { $0.name == key }?.value
    }

    /// A text's template; nil if the key is absent or its text is empty.
    func text(_ key: String) -> TextTemplate? {
        guard case .string(let text) = self[key], !text.isEmpty else { return nil }
        return try? TextTemplate(text)
    }

    /// A word or a text as written.
    func string(_ key: String) -> String? {
        if case .string(let text) = self[key] { text } else { nil }
    }

    /// A number as written.
    func number(_ key: String) -> String? {
        if case .number(let digits) = self[key] { digits } else { nil }
    }

    /// Whether a boolean is present and true.
    func isTrue(_ key: String) -> Bool {
        self[key] == .boolean(true)
    }

    /// Whether a boolean is present and false.
    func isFalse(_ key: String) -> Bool {
        self[key] == .boolean(false)
    }

    /// The elements of a list.
    func list(_ key: String) -> [JSONValue] {
        if case .array(let elements) = self[key] { elements } else { [] }
    }

    /// The entries of an object.
    func object(_ key: String) -> [JSONEntry] {
        if case .object(let entries) = self[key] { entries } else { [] }
    }

    /// An object with keys of its own; nil if the key is absent or not an object.
    func group(_ key: String) -> ContentSection? {
        guard case .object(let entries) = self[key] else { return nil }
        return ContentSection(platform: platform, entries: entries)
    }

    /// The application's own variables.
    var variables: [JSONEntry] { object("variables") }

    var templateKind: RichTemplateKind? {
        group("template")?.string("type").flatMap(RichTemplateKind.init(rawValue:))
    }

    /// Whether a key has a value; an empty text or list does not count.
    func has(_ key: String) -> Bool {
        switch self[key] {
        case nil, .string(""), .array([]): false
        default: true
        }
    }

    /// Whether any of the keys has a value.
    func hasAny(_ keys: [String]) -> Bool {
        keys.contains { has($0) }
    }
}
