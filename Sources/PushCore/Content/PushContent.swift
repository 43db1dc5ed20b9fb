/// A delivery's content: what its messages say, for each platform.
///
/// It is read from JSON of the form `{"ios": {…}, "android": {…}}`; either may be absent. Each text may have
/// `{{name}}` and `{{name|default}}` in it. A key whose value is null counts as absent.
public struct PushContent: Sendable, Hashable {
    let sections: [ContentSection]

    /// Reads a content; throws all its problems at once.
    public init(json: String) throws(ContentError) {
        try self.init(json: Array(json.utf8))
    }

    /// Reads a content; throws all its problems at once.
    public init(json: [UInt8]) throws(ContentError) {
        var validator = ContentValidator()
        let sections = validator.sections(json: json)
        guard validator.problems.isEmpty else { throw ContentError(problems: validator.problems) }
        self.sections = sections
    }

    /// All problems of a content; none when it can be sent.
    public static func validate(json: String) -> [ContentProblem] {
        var validator = ContentValidator()
        _ = validator.sections(json: Array(json.utf8))
        return validator.problems
    }

    /// The platforms that this content has something to say for.
    public var platforms: [Platform] { sections.map(\.platform) }

    func section(_ platform: Platform) -> ContentSection? {
        sections.first { $0.platform == platform }
    }
}
