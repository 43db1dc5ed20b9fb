/// A language of the pages, with its HTML language tag.
enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"
    case french = "fr"

    /// The language of the page that is being rendered. It belongs to the task rather than to each call, so that all
    /// texts and figures of a page agree.
    @TaskLocal static var current = Language.english

    /// Its name in the language itself.
    var name: String {
        switch self {
        case .english: "English"
        case .german: "Deutsch"
        case .french: "Français"
        }
    }

    /// Its texts by name, as they are shown.
    var texts: [String: String] { Self.files[self] ?? [:] }

    private static let files = Dictionary(
        uniqueKeysWithValues: allCases.map { language in
            let file = WordFile(ConsoleFile.all[language.rawValue + ".words"] ?? "")
            return (language, file.texts.mapValues(language.spaced))
        }
    )

    /// In French, some punctuation marks and digit groups take a narrow no-break space. The word file has plain
    /// spaces, which can be seen.
    func spaced(_ text: String) -> String {
        guard self == .french else { return text }
        return [" :", " ;", " ?", " !", " 000"].reduce(text) { shown, sign in
            shown.replacing(sign, with: "\u{202F}" + sign.dropFirst())
        }
    }

    /// The plural form for a number (Unicode CLDR, plural rules).
    func form(_ count: Int64) -> PluralForm {
        switch self {
        case .english, .german: count == 1 ? .one : .other
        case .french: (0...1).contains(count) ? .one : .other
        }
    }

    /// The maximum number of `Accept-Language` ranges to read: browsers send a handful.
    private static let maxRanges = 20

    /// The language that a browser asks for in `Accept-Language` (RFC 9110, section 12.5.4): the available one with
    /// the highest weight. Of several with the same weight, it is the first. English if there is none.
    init(accepted header: String?) {
        var best = (language: Language.english, weight: 0.0)
        for range in (header ?? "").split(separator: ",").prefix(Self.maxRanges) {
            let parts = range.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
            guard let tag = parts.first?.split(separator: "-").first, let language = Language(rawValue: String(tag))
            else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if weight > best.weight { best = (language, weight) }
        }
        self = best.language
    }
}
