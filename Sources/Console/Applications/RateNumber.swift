import PushCore

/// Messages per second as people type and read them. The decimal separator is a point or a comma in every language.
enum RateNumber {
    /// The typed rate; nil if it is out of range, or could mean thousands in some language: 1.000 and 1,000.
    static func parse(_ text: String) -> Double? {
        let parts = text.split(separator: /[.,]/, omittingEmptySubsequences: false)
        // No rate has more digits before the separator, and no number of this kind has more after it.
        guard (1...2).contains(parts.count), (1...9).contains(parts[0].utf8.count),
            parts.dropFirst().allSatisfy({ (1...20).contains($0.utf8.count) }), parts.allSatisfy(isDigits),
            !isGrouped(text), let rate = Double(text.replacing(",", with: ".")), DeliverySetting.rates.contains(rate)
        else { return nil }
        return rate
    }

    /// Whether a text has its digits in groups of three, as large numbers are written.
    static func isGrouped(_ text: String) -> Bool {
        text.wholeMatch(of: /[1-9][0-9]{0,2}([.,' \u{A0}\u{202F}][0-9]{3})+/) != nil
    }

    /// A rate as the text of a field, so that it is parsed as the same rate again.
    static func text(_ rate: Double) -> String {
        let plain = plain(rate)
        // Three digits of a fraction could be thousands, four could not.
        return written(isGrouped(plain) ? plain + "0" : plain)
    }

    /// A rate as pages show it.
    static func shown(_ rate: Double) -> String {
        Int64(exactly: rate).map { Figures.count($0) } ?? written(plain(rate))
    }

    /// A rate as JSON has it.
    static func plain(_ rate: Double) -> String { Int64(exactly: rate).map { String($0) } ?? String(rate) }

    private static func written(_ plain: String) -> String {
        plain.replacing(".", with: NumberForm.current.decimal)
    }

    private static func isDigits(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
