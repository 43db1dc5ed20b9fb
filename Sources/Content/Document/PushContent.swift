// Content: the content of deliveries: its document, personalisation, and the payloads for gateways.
//
// WHAT IT DOES
//   Checks a content and reports all its problems at once. Provides the JSON Schema of contents. Compiles a content
//   into payload templates for a gateway's format, one for each locale, and renders a message's body from columns of
//   values. Reads the declarations of applications (variables, subscription parameters, icons, sounds), and assigns the
//   values of a registration to the columns that store them.
//
// HOW IT IS USED
//   PushContent(json:) reads a content; PushContent.validate(json:) only checks it. LocalisedTemplate.compile(...)
//   makes the templates, whose fields say which columns to load. PayloadTemplate.render(...) appends one body and
//   returns the size to compare with the limit. missingField(row:fields:) returns a required field that a message
//   lacks. MTAChild compiles once per delivery and renders each message. Supervisor's PreparationCheck and the commands
//   compile too, to refuse a content early. WebServer assigns registrations to columns with PlacedRegistration. Store
//   writes ContentSchema to the database at each migration.
//
// THREADS AND TASKS
//   Only values, which are safe to share between threads. There is no input or output.
//
// STATE AND FILES
//   None. Config/content.schema.json is a copy of ContentSchema.
//
// FAILURES
//   ContentError lists ContentProblems, each with key, cause and remedy. A payload that is too long even with empty
//   fields is refused at compilation. If a single message becomes too long, the caller must refuse it, by its size. For
//   a field without a value, the content's `missing` decides: its default, nothing, or no message at all. Neither the
//   text of a content nor a person's value can end the process.
//
// SEE ALSO
//   Document/ContentValidator.swift, Document/ContentKey.swift, Personalisation/TextTemplate.swift,
//   Payload/PayloadTemplate.swift, Payload/LocalisedTemplate.swift, Declarations/ApplicationDeclarations.swift,
//   Config/content.md

import PushCore

/// A delivery's content: what its messages say on each platform and in each locale.
///
/// It is read from JSON of the form `{"ios": {…}, "android": {…}, "locales": {"fr": {"ios": {…}}}}`; either platform
/// may be absent, and so may the locales. The variant of a locale inherits from the platform's section the keys that it
/// does not set. Each text may have `{{name}}`, `{{name|default}}` and sections. A key whose value is null counts as
/// absent. `Config/content.schema.json` is its JSON Schema.
package struct PushContent: Sendable, Hashable {
    /// The variants, those without a locale first.
    let variants: [ContentVariant]
    /// What to do if a text uses a field without a value.
    package let missing: MissingValuePolicy
    /// Whether the content itself sets ``missing``.
    package let saysMissing: Bool
    /// Whether payloads carry the ids for reporting opens and clicks.
    package let hasTracking: Bool

    /// Reads a content; throws all its problems at once.
    package init(json: String) throws(ContentError) {
        try self.init(json: Array(json.utf8))
    }

    /// Reads a content; throws all its problems at once.
    package init(json: [UInt8]) throws(ContentError) {
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

    /// The content as a continuous delivery sends it. A single message that a system requested must not have a gap in
    /// its text ("Your code is "), so it is excluded unless the content sets ``missing``.
    package var ofContinuous: PushContent {
        saysMissing ? self : PushContent(variants: variants, missing: .exclude, hasTracking: hasTracking)
    }

    /// All problems of a content; empty if it can be sent.
    package static func validate(json: String) -> [ContentProblem] {
        var validator = ContentValidator()
        _ = validator.content(json: Array(json.utf8))
        return validator.problems
    }

    /// The platforms that the content has a section for.
    package var platforms: [Platform] { variants.filter(\.locale.isEmpty).map(\.section.platform) }

    /// The locales of its variants, as written.
    package var locales: [String] {
        variants.map(\.locale).reduce(into: []) { if !$1.isEmpty, !$0.contains($1) { $0.append($1) } }
    }

    /// The variants for a platform, the one without a locale first; empty if it has none.
    func variants(for platform: Platform) -> [ContentVariant] {
        variants.filter { $0.section.platform == platform }
    }
}
