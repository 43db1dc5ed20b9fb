import PushCore

/// The section of a content for one platform and one locale.
struct ContentVariant: Sendable, Hashable {
    /// The locale as written; empty for the main section, from which the others inherit.
    let locale: String
    let section: ContentSection

    /// The path of the section in the content, for problems.
    var path: String { Self.path(locale: locale, section.platform) }

    static func path(locale: String, _ platform: Platform) -> String {
        locale.isEmpty ? platform.rawValue : "locales.\(locale).\(platform.rawValue)"
    }
}
