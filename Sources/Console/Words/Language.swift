/// A language of the pages, as HTML names it.
enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"
    case french = "fr"

    /// The language of the page that is being made. The task knows it and not each call: every text and every figure of a page has the same.
    @TaskLocal static var current = Language.english

    /// Its name for those who speak it.
    var name: String {
        switch self {
        case .english: "English"
        case .german: "Deutsch"
        case .french: "Français"
        }
    }

    /// Its texts by their names, as they are shown.
    var texts: [String: String] { Self.files[self] ?? [:] }

    private static let files = Dictionary(
        uniqueKeysWithValues: allCases.map { language in
            let file = WordFile(ConsoleFile.all[language.rawValue + ".words"] ?? "")
            return (language, file.texts.mapValues(language.spaced))
        }
    )

    /// French has a narrow space before some signs and within numbers, at which no line is broken; its file has a plain one, which can be seen.
    func spaced(_ text: String) -> String {
        guard self == .french else { return text }
        return [" :", " ;", " ?", " !", " 000"].reduce(text) { shown, sign in
            shown.replacing(sign, with: "\u{202F}" + sign.dropFirst())
        }
    }

    /// The form that goes with a number (Unicode CLDR, plural rules).
    func form(_ count: Int64) -> PluralForm {
        switch self {
        case .english, .german: count == 1 ? .one : .other
        case .french: (0...1).contains(count) ? .one : .other
        }
    }

    /// Ranges of `Accept-Language` that are looked at: browsers send a handful.
    private static let mostRanges = 20

    /// The language that a browser asks for by `Accept-Language` (RFC 9110, section 12.5.4): of those there are, the one with the highest weight, of
    /// two with the same the first; English if there is none.
    init(accepted header: String?) {
        var best = (language: Language.english, weight: 0.0)
        for range in (header ?? "").split(separator: ",").prefix(Self.mostRanges) {
            let parts = range.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
            guard let tag = parts.first?.split(separator: "-").first, let language = Language(rawValue: String(tag))
            else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if weight > best.weight { best = (language, weight) }
        }
        self = best.language
    }
}

/// How a language writes numbers, units and days.
struct NumberForm: Sendable {
    /// What stands between groups of three digits.
    let group: String
    /// What stands before the fraction.
    let decimal: String
    /// Short words for a thousand, a million and a milliard.
    let thousand: String
    let million: String
    let milliard: String
    /// The sign of a byte, and that of a day as a span of time.
    let byte: String
    let day: String
    /// Year, month and day in the order of the language.
    let date: @Sendable (_ year: Substring, _ month: Substring, _ day: Substring) -> String

    static let english = NumberForm(
        group: ",",
        decimal: ".",
        thousand: "k",
        million: "M",
        milliard: "G",
        byte: "B",
        day: "d",
        date: { "\($0)-\($1)-\($2)" }
    )
    static let german = NumberForm(
        group: ".",
        decimal: ",",
        thousand: "Tsd.",
        million: "Mio.",
        milliard: "Mrd.",
        byte: "B",
        day: "d",
        date: { "\($2).\($1).\($0)" }
    )
    // Groups of digits have a narrow space at which no line is broken; a byte is an octet.
    static let french = NumberForm(
        group: "\u{202F}",
        decimal: ",",
        thousand: "k",
        million: "M",
        milliard: "Md",
        byte: "o",
        day: "j",
        date: { "\($2)/\($1)/\($0)" }
    )

    /// That of the page that is being made.
    static var current: NumberForm {
        switch Language.current {
        case .english: english
        case .german: german
        case .french: french
        }
    }
}
