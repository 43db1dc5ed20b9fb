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
