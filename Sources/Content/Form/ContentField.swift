import PushCore

/// A field of the form for writing a content. It stands for a key of the content's tables.
package struct ContentField: Sendable, Hashable {
    /// How a value is entered.
    package enum Input: Sendable, Hashable {
        /// A short text.
        case line
        /// A text of several lines.
        case paragraph
        /// Texts, one per line.
        case lines
        /// Yes, no, or not set.
        case flag
        /// One of these words, or not set.
        case choice([String])
        /// A JSON object, for keys without a field of their own.
        case json
    }

    /// A list of objects with keys of their own.
    package struct List: Sendable, Hashable {
        /// The key, as the content's problems name it after the platform.
        package let key: String
        /// The description, a sentence.
        package let summary: String
        /// The allowed number of objects.
        package let count: ClosedRange<Int>
        /// Whether it is required.
        package let isRequired: Bool
        /// The fields of each object, up to the maximum number of objects.
        package let rows: [[ContentField]]
    }

    /// The key, as the content's problems name it after the platform, with the keys that contain it.
    package let key: String
    /// The last part of the key.
    package var name: String { key.split(separator: ".").last.map(String.init) ?? key }
    /// The description, a sentence.
    package let summary: String
    package let input: Input
    /// Whether most messages use it; other fields are collapsed.
    package let isMain: Bool
    /// Whether the object that contains it requires it.
    package private(set) var isRequired: Bool

    /// The keys that a locale's variant sets in the form; it inherits all others.
    package static let localised: Set<String> = ["title", "subtitle", "body"]
    /// The field for all keys without a field of their own.
    package static let rest = "more"

    /// The keys that most messages use.
    private static let main: Set<String> = [
        "title", "subtitle", "body", "badge", "sound", "sound.critical", "sound.volume", "category", "media_url",
        "click_action", "kind", "channel_id", "icon", "color", "image", "notification_count", "interruption_level",
        "priority",
    ]
    /// The keys of longer texts, which may have several lines.
    private static let paragraphs: Set<String> = [
        "body", "expanded_body", "alternate_body", "alternate_expanded_body",
    ]

    /// The fields of a platform in the order of the tables, and one for all other keys, as JSON. The application's
    /// variables and a rich template's keys are not included.
    package static func fields(_ platform: Platform) -> [ContentField] {
        let restText = "Everything else in JSON, such as {\"aps\": {…}} or {\"message\": {…}}: see Config/content.md."
        return ContentKey.keys(platform).flatMap(fields)
            + [ContentField(key: rest, summary: restText, input: .json, isMain: false, isRequired: false)]
    }

    /// A key's own field, and the fields of the object that may replace its text. The text stands for the object's
    /// first key.
    private static func fields(_ key: ContentKey) -> [ContentField] {
        let own = ContentField(key, key.name).map { [$0] } ?? []
        guard case .textOrGroup(let keys) = key.kind else { return own }
        return own + keys.dropFirst().compactMap { ContentField($0, "\(key.name).\($0.name)") }
    }

    private init(key: String, summary: String, input: Input, isMain: Bool, isRequired: Bool) {
        self.key = key
        self.summary = summary
        self.input = input
        self.isMain = isMain
        self.isRequired = isRequired
    }

    /// The field of a key; nil if its value is not a single one.
    private init?(_ key: ContentKey, _ path: String) {
        guard let input = Self.input(key) else { return nil }
        self.init(
            key: path,
            summary: key.summary,
            input: input,
            isMain: Self.main.contains(path),
            isRequired: key.isRequired
        )
    }

    /// How the value of a key is entered; nil if it is not a single value.
    static func input(_ key: ContentKey) -> Input? {
        switch key.kind {
        case .text: paragraphs.contains(key.name) ? .paragraph : .line
        case .texts, .secondsList: .lines
        case .boolean: .flag
        case .choice(let words): .choice(words)
        case .integerChoice(let numbers): .choice(numbers.map(String.init))
        case .integer, .personalisedInteger, .number, .seconds, .color, .time, .label, .packageName, .textOrGroup:
            .line
        case .lightColor, .word, .duration, .durations, .strings, .message, .variables, .object, .group, .items,
            .template:
            nil
        }
    }
}

/// A rich template's part of the form. Its type determines its fields.
extension ContentField {
    /// The key of a rich template.
    package static let template = "template"

    /// The field for the type of a platform's rich template.
    package static func templateType(_ platform: Platform) -> ContentField? {
        // A template requires a type, but a message does not require a template.
        var type = ContentField(RichTemplateKind.key(platform), "\(template).\(RichTemplateKind.typeName)")
        type?.isRequired = false
        return type
    }

    /// The fields and lists of a platform's rich template of a type; empty if the platform has no such type.
    package static func template(_ platform: Platform, type: String) -> (fields: [ContentField], lists: [List]) {
        guard let kind = RichTemplateKind(rawValue: type), RichTemplateKind.all(platform).contains(kind) else {
            return ([], [])
        }
        let keys = kind.keys(platform)
        return (
            keys.compactMap { ContentField($0, "\(template).\($0.name)") },
            keys.compactMap { key in
                guard case .items(let inner, let count) = key.kind else { return nil }
                let path = "\(template).\(key.name)"
                let rows = (0..<count.upperBound).map { row in
                    inner.compactMap { ContentField($0, "\(path)[\(row)].\($0.name)") }
                }
                return List(key: path, summary: key.summary, count: count, isRequired: key.isRequired, rows: rows)
            }
        )
    }
}

/// Conversion between values and typed text.
extension ContentField {
    /// Typed text as a value of the content; nil if it is empty. Text that should be a number but is not stays a text,
    /// so that the check reports it.
    static func value(_ text: String, of kind: ContentKey.Kind) -> JSONValue? {
        guard !text.isEmpty else { return nil }
        switch kind {
        case .boolean:
            return text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : .string(text)
        case .integer, .personalisedInteger, .number, .seconds, .integerChoice:
            return number(text) ?? .string(text)
        case .texts:
            return .array(lines(text).map { .string($0) })
        case .secondsList:
            return .array(lines(text).map { number($0) ?? .string($0) })
        default:
            return .string(text)
        }
    }

    /// A value of a content as typed text; nil if no field can show it.
    static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): return text
        case .number(let digits): return digits
        case .boolean(let flag): return flag ? "true" : "false"
        case .array(let elements):
            let texts = elements.compactMap { element -> String? in
                guard let text = text(element), !text.contains("\n") else { return nil }
                return text
            }
            return texts.count == elements.count ? texts.joined(separator: "\n") : nil
        case .null, .object: return nil
        }
    }

    /// A key's value as text for its field; nil if the text would not give the same value again.
    static func text(_ value: JSONValue, of key: ContentKey) -> String? {
        guard let input = input(key), let text = text(value), let again = self.value(text, of: key.kind),
            again.isSame(as: value)
        else { return nil }
        switch input {
        // Browsers remove line breaks from a single-line field, and normalise them in other fields.
        case .line: return text.contains(where: \.isNewline) ? nil : text
        case .choice(let words): return words.contains(text) ? text : nil
        default: return text.unicodeScalars.contains("\r") || text.first == "\n" ? nil : text
        }
    }

    private static func number(_ text: String) -> JSONValue? {
        guard case .number(let digits)? = try? JSONValue(parsing: text.utf8) else { return nil }
        return .number(digits)
    }

    private static func lines(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map(String.init).filter { !$0.isEmpty }
    }
}

extension JSONValue {
    /// Whether both values mean the same in a content: the order of keys does not matter, nulls and empty texts in an
    /// object count as absent, and a number may be written as a text.
    func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.object, .object):
            let (mine, others) = (said, other.said)
            return mine.count == others.count
                && zip(mine, others).allSatisfy { $0.name == $1.name && $0.value.isSame(as: $1.value) }
        case (.array(let mine), .array(let others)):
            return mine.count == others.count && zip(mine, others).allSatisfy { $0.isSame(as: $1) }
        case (.string(let text), .number(let digits)), (.number(let digits), .string(let text)): return text == digits
        default: return self == other
        }
    }

    /// Whether a key with this value counts as set. In a variant even an empty value does, because it removes what
    /// would be inherited.
    var saysSomething: Bool { ![.null, .string(""), .array([])].contains(self) }

    private var said: [JSONEntry] {
        guard case .object(let entries) = self else { return [] }
        return entries.filter(\.value.saysSomething).sorted { $0.name < $1.name }
    }
}
