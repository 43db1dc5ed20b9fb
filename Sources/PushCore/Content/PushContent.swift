/// A delivery's content: what its messages say, for each platform and in each locale.
///
/// It is read from JSON of the form `{"ios": {…}, "android": {…}, "locales": {"fr": {"ios": {…}}}}`; either platform
/// may be absent, and so may the locales. Each text may have `{{name}}`, `{{name|default}}` and sections in it. A key
/// whose value is null counts as absent. `Config/content.schema.json` is the JSON Schema of it.
public struct PushContent: Sendable, Hashable {
    /// What it says, the variants without a locale first.
    let variants: [ContentVariant]
    /// What becomes of messages whose text uses a field that has no value.
    public let missing: MissingValuePolicy
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

    init(variants: [ContentVariant], missing: MissingValuePolicy, hasTracking: Bool) {
        self.variants = variants
        self.missing = missing
        self.hasTracking = hasTracking
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
