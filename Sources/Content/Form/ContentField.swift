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

    /// The key, as problems of the content name it behind the platform.
    public let key: String
    /// What it means: a sentence.
    public let summary: String
    /// How it is typed.
    public let input: Input
    /// Whether most messages have it; the others are folded.
    public let isMain: Bool

    /// What a variant for a locale says for itself; all else is as in the content for everybody.
    public static let localised: Set<String> = ["title", "subtitle", "body"]
    /// The field for everything that has none of its own.
    public static let rest = "more"

    /// What most messages say.
    private static let main: Set<String> = [
        "title", "subtitle", "body", "badge", "sound", "category", "media_url", "click_action", "kind", "channel_id",
        "icon",
        "color", "image", "notification_count", "interruption_level", "priority",
    ]

    /// The fields of a platform in the order of their tables, without the application's variables, and the rest as JSON.
    public static func fields(_ platform: Platform) -> [ContentField] {
        let restText = "Everything else in JSON, such as {\"template\": {…}}: see Config/content.md."
        return ContentKey.keys(platform).compactMap { ContentField($0) }
            + [ContentField(key: rest, summary: restText, input: .json, isMain: false)]
    }

    private init(key: String, summary: String, input: Input, isMain: Bool) {
        self.key = key
        self.summary = summary
        self.input = input
        self.isMain = isMain
    }

    /// The field of a key; nil for what is no single value.
    private init?(_ key: ContentKey) {
        let input: Input
        switch key.kind {
        case .text: input = key.name == "body" ? .paragraph : .line
        case .texts, .secondsList: input = .lines
        case .boolean: input = .flag
        case .choice(let words): input = .choice(words)
        case .integerChoice(let numbers): input = .choice(numbers.map(String.init))
        case .integer, .personalisedInteger, .number, .seconds, .color, .time, .label, .packageName, .textOrGroup:
            input = .line
        case .lightColor, .word, .duration, .durations, .strings, .message, .variables, .object, .group, .items,
            .template:
            return nil
        }
        self.init(key: key.name, summary: key.summary, input: input, isMain: Self.main.contains(key.name))
    }

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

    /// A value of a content as it is typed; nil for what this field cannot show.
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

    private static func number(_ text: String) -> JSONValue? {
        guard case .number(let digits)? = try? JSONValue(parsing: text.utf8) else { return nil }
        return .number(digits)
    }

    private static func lines(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map(String.init).filter { !$0.isEmpty }
    }
}
