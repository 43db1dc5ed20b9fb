/// How a language writes numbers, units and dates.
struct NumberForm: Sendable {
    /// The separator between groups of three digits.
    let group: String
    /// The decimal separator.
    let decimal: String
    /// Abbreviations for a thousand, a million and a billion (10⁹).
    let thousand: String
    let million: String
    let milliard: String
    /// The symbols of a byte, and of a day in durations.
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
    // Digit groups have a narrow no-break space; a byte is an octet.
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

    /// The number form of the page that is being rendered.
    static var current: NumberForm {
        switch Language.current {
        case .english: english
        case .german: german
        case .french: french
        }
    }
}
