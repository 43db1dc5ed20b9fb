import PushCore

/// A field of the form that a content is written with: a key of the content's own tables, as people fill it in.
public struct ContentField: Sendable, Hashable {
    /// How a value is typed.
    public enum Input: Sendable, Hashable {
        /// A short text.
        case line
        /// A text of several lines.
        case paragraph
        /// Texts, one a line.
        case lines
        /// Yes, no, or nothing said.
        case flag
        /// One of these words, or nothing said.
        case choice([String])
        /// An object in JSON: what has no field of its own.
        case json
    }

    /// A list of objects with keys of their own.
    public struct List: Sendable, Hashable {
        /// The key, as problems of the content name it behind the platform.
        public let key: String
        /// What it means: a sentence.
        public let summary: String
        /// How many objects it may have.
        public let count: ClosedRange<Int>
        /// Whether a message needs it.
        public let isRequired: Bool
        /// The fields of each object, as many objects as there may be.
        public let rows: [[ContentField]]
    }

    /// The key, as problems of the content name it behind the platform: with the keys that it is in.
    public let key: String
    /// The last part of the key.
    public var name: String { key.split(separator: ".").last.map(String.init) ?? key }
    /// What it means: a sentence.
    public let summary: String
    public let input: Input
    /// Whether most messages have it; the others are folded.
    public let isMain: Bool
    /// Whether what it is part of needs it.
    public private(set) var isRequired: Bool

    /// What a variant for a locale says for itself; all else is as in the content for everybody.
    public static let localised: Set<String> = ["title", "subtitle", "body"]
    /// The field for everything that has none of its own.
    public static let rest = "more"

    /// What most messages say.
    private static let main: Set<String> = [
        "title", "subtitle", "body", "badge", "sound", "sound.critical", "sound.volume", "category", "media_url",
        "click_action", "kind", "channel_id", "icon", "color", "image", "notification_count", "interruption_level",
        "priority",
    ]
    /// Texts of sentences, which may have several lines.
    private static let paragraphs: Set<String> = [
        "body", "expanded_body", "alternate_body", "alternate_expanded_body",
    ]

    /// The fields of a platform in the order of their tables, without the application's variables and a rich template's keys, and the
    /// rest as JSON.
    public static func fields(_ platform: Platform) -> [ContentField] {
        let restText = "Everything else in JSON, such as {\"aps\": {…}} or {\"message\": {…}}: see Config/content.md."
        return ContentKey.keys(platform).flatMap(fields)
            + [ContentField(key: rest, summary: restText, input: .json, isMain: false, isRequired: false)]
    }

    /// A key's own field, and those of the object that may stand in its place: its first key is what the text alone says.
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

    /// The field of a key; nil for what is no single value.
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

    /// How the value of a key is typed; nil for what is no single value.
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

/// A rich template's part of the form: its type says which fields it has.
extension ContentField {
    /// The key of a rich template.
    public static let template = "template"

    /// The field for the type of a platform's rich template.
    public static func templateType(_ platform: Platform) -> ContentField? {
        // A template needs it, and a message no template.
        var type = ContentField(RichTemplateKind.key(platform), "\(template).\(RichTemplateKind.typeName)")
        type?.isRequired = false
        return type
    }

    /// The fields of a platform's rich template of a type: those of its own keys, and its lists. None where there is no such type.
    public static func template(_ platform: Platform, type: String) -> (fields: [ContentField], lists: [List]) {
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

/// Values as they are typed.
extension ContentField {
    /// What was typed as a value of the content; nil for nothing. What is no number where one is due stays a text, for the check to name.
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

    /// A value of a content as it is typed; nil for what no field can show.
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

    /// A value of a key as its field has it, from which the same value is made again; nil where the field could not.
    static func text(_ value: JSONValue, of key: ContentKey) -> String? {
        guard let input = input(key), let text = text(value), let again = self.value(text, of: key.kind),
            again.isSame(as: value)
        else { return nil }
        switch input {
        // Browsers take the ends of lines out of a line, and turn all others into one kind.
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
    /// Whether a content says the same with both: the order of members means nothing, nulls and empty texts in an object are like none,
    /// and a number may stand as a text.
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

    /// Whether a key with this value says anything, but in a variant: there an empty one takes away.
    var saysSomething: Bool { ![.null, .string(""), .array([])].contains(self) }

    private var said: [JSONEntry] {
        guard case .object(let entries) = self else { return [] }
        return entries.filter(\.value.saysSomething).sorted { $0.name < $1.name }
    }
}
