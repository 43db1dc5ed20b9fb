// Content: what a delivery says: its document, personalisation, and the payloads that gateways take.
//
// WHAT IT DOES
//   Checks a content and names all its problems at once, gives its JSON Schema, compiles it into payload templates for a
//   gateway's format, one for each locale, and renders a message's body from columns of values. Reads what applications
//   declare (variables, subscription parameters, icons, sounds) and says where the values of a registration are kept.
//
// HOW IT IS USED
//   PushContent(json:) reads, PushContent.validate(json:) only looks. LocalisedTemplate.compile(...) makes the templates,
//   whose fields say which columns have to be loaded; PayloadTemplate.render(...) appends one body and returns the size that
//   the limit is compared with; missingField(row:fields:) says whether a message lacks a value that it must have. MTAChild
//   compiles once a delivery and renders each message; Supervisor's PreparationCheck and the commands use the same to refuse
//   a content early. WebServer places registrations with PlacedRegistration. Store puts ContentSchema into the database at
//   each migration.
//
// THREADS AND TASKS
//   Values, safe to pass anywhere; no input and no output.
//
// STATE AND FILES
//   None. Config/content.schema.json is ContentSchema as a file.
//
// FAILURES
//   ContentError has a list of ContentProblems, each with key, cause and remedy. A payload that is too long even with empty
//   fields is refused when it is compiled; a message that becomes too long is the caller's to refuse, by the size. A field
//   without a value gives its default, nothing, or no message at all, as the content's `missing` says. No text of a content
//   or value of a person can end the process.
//
// SEE ALSO
//   Document/ContentValidator.swift, Document/ContentKey.swift, Personalisation/TextTemplate.swift,
//   Payload/PayloadTemplate.swift, Payload/LocalisedTemplate.swift, Declarations/ApplicationDeclarations.swift,
//   Config/content.md

import PushCore

/// A delivery's content: what its messages say, for each platform and in each locale.
///
/// It is read from JSON of the form `{"ios": {…}, "android": {…}, "locales": {"fr": {"ios": {…}}}}`; either platform
/// may be absent, and so may the locales, whose variants take from the platform's section what they do not say. Each text may have
/// `{{name}}`, `{{name|default}}` and sections in it. A key whose value is null counts as absent. `Config/content.schema.json` is the JSON
/// Schema of it.
public struct PushContent: Sendable, Hashable {
    /// What it says, the variants without a locale first.
    let variants: [ContentVariant]
    /// What becomes of messages whose text uses a field that has no value.
    public let missing: MissingValuePolicy
    /// Whether it says so itself.
    public let saysMissing: Bool
    /// Whether each payload carries the ids by which opens and clicks are reported.
    public let hasTracking: Bool

    /// Reads a content; throws all its problems at once.
    public init(json: String) throws(ContentError) {
        try self.init(json: Array(json.utf8))
    }

    /// Reads a content; throws all its problems at once.
    public init(json: [UInt8]) throws(ContentError) {
        var validator = ContentValidator()
        let content = validator.content(json: json)
        guard let content, validator.problems.isEmpty else { throw ContentError(problems: validator.problems) }
        self = content
    }

    init(variants: [ContentVariant], missing: MissingValuePolicy?, hasTracking: Bool) {
        self.variants = variants
        self.missing = missing ?? .default
        saysMissing = missing != nil
        self.hasTracking = hasTracking
    }

    /// The content as a continuous delivery sends it: a message that was asked for by itself is not sent with a gap in its text ("Your
    /// code is "), unless the content says what becomes of it.
    public var ofContinuous: PushContent {
        saysMissing ? self : PushContent(variants: variants, missing: .exclude, hasTracking: hasTracking)
    }

    /// All problems of a content; none when it can be sent.
    public static func validate(json: String) -> [ContentProblem] {
        var validator = ContentValidator()
        _ = validator.content(json: Array(json.utf8))
        return validator.problems
    }

    /// The platforms that this content has something to say for.
    public var platforms: [Platform] { variants.filter(\.locale.isEmpty).map(\.section.platform) }

    /// The locales that it has variants for, as they are written.
    public var locales: [String] {
        variants.map(\.locale).reduce(into: []) { if !$1.isEmpty, !$0.contains($1) { $0.append($1) } }
    }

    /// The variants for a platform, that without a locale first; none when it says nothing for it.
    func variants(for platform: Platform) -> [ContentVariant] {
        variants.filter { $0.section.platform == platform }
    }
}

/// What a content says to one platform in one locale.
struct ContentVariant: Sendable, Hashable {
    /// The locale as it is written; empty for the one that all others are measured by.
    let locale: String
    let section: ContentSection

    /// The path of its section in the content, for problems.
    var path: String { Self.path(locale: locale, section.platform) }

    static func path(locale: String, _ platform: Platform) -> String {
        locale.isEmpty ? platform.rawValue : "locales.\(locale).\(platform.rawValue)"
    }
}

/// A platform's section of a content, or an object in it, after validation: each value has the type that its key asks for.
struct ContentSection: Sendable, Hashable {
    let platform: Platform
    /// The entries in the order in which they were written, without those whose value is null.
    let entries: [JSONEntry]

    init(platform: Platform, entries: [JSONEntry]) {
        self.platform = platform
        self.entries = entries.filter { $0.value != .null }
    }

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

    /// Whether a boolean is there and false.
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

    /// An object with keys of its own; nil when the key is absent or no object.
    func group(_ key: String) -> ContentSection? {
        guard case .object(let entries) = self[key] else { return nil }
        return ContentSection(platform: platform, entries: entries)
    }

    /// The application's own variables.
    var variables: [JSONEntry] { object("variables") }

    var templateKind: RichTemplateKind? {
        group("template")?.string("type").flatMap(RichTemplateKind.init(rawValue:))
    }

    /// Whether a key says anything: an empty text or list is like none.
    func has(_ key: String) -> Bool {
        switch self[key] {
        case nil, .string(""), .array([]): false
        default: true
        }
    }

    /// Whether any of the keys says anything.
    func hasAny(_ keys: [String]) -> Bool {
        keys.contains { has($0) }
    }
}

/// Why a delivery's content cannot be sent: all its problems at once.
public struct ContentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problems, at least one, in the order of the content.
    public let problems: [ContentProblem]

    /// Makes an error of its problems.
    public init(problems: [ContentProblem]) {
        self.problems = problems
    }

    /// All problems, one a line.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}

/// One thing that is wrong with a delivery's content.
public struct ContentProblem: Sendable, Hashable, CustomStringConvertible {
    /// The key at fault, for example `ios.title` or `android.variables.url`; empty for the content as a whole.
    public let key: String
    /// What is wrong with it.
    public let cause: String
    /// What to do about it.
    public let remedy: String

    public init(key: String, cause: String, remedy: String) {
        self.key = key
        self.cause = cause
        self.remedy = remedy
    }

    /// Key, cause and remedy in one line.
    public var description: String {
        "\(key.isEmpty ? "content" : key): \(cause); \(remedy)"
    }
}

/// What becomes of a message when a field that its text uses has no value: it is null or empty.
public enum MissingValuePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// The default that stands at the place is used; where there is none, nothing.
    case `default`
    /// Nothing is put there, whatever default there is.
    case empty
    /// The message is not sent, unless a default stands at the place.
    case exclude
}
