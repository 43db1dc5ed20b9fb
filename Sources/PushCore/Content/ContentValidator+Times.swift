extension ContentValidator {
    /// Whether a text is a time as RFC 3339 writes it, and one that protobuf's `Timestamp` takes: a day that there is, no leap
    /// second, and at most nine digits behind the point.
    static func isTime(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        guard let year = take(4, "-", from: &rest), let month = take(2, "-", from: &rest),
            let day = take(2, "T", from: &rest), let hour = take(2, ":", from: &rest),
            let minute = take(2, ":", from: &rest), let second = take(2, nil, from: &rest)
        else { return false }
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard (1...9).contains(fraction.count) else { return false }
            rest = rest[fraction.endIndex...]
        }
        return year > 0 && (1...12).contains(month) && (1...days(month, year)).contains(day) && hour < 24 && minute < 60
            && second < 60 && isZone(rest)
    }

    /// `Z`, or hours and minutes from it.
    private static func isZone(_ text: ArraySlice<UInt8>) -> Bool {
        if text.elementsEqual("Z".utf8) { return true }
        guard let sign = text.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return false }
        var rest = text.dropFirst()
        guard let hours = take(2, ":", from: &rest), let minutes = take(2, nil, from: &rest) else { return false }
        return rest.isEmpty && hours < 24 && minutes < 60
    }

    /// Takes so many digits and the mark behind them; nil if there is anything else.
    private static func take(_ count: Int, _ mark: Unicode.Scalar?, from text: inout ArraySlice<UInt8>) -> Int? {
        let digits = text.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        text = text[digits.endIndex...]
        if let mark {
            guard text.first == UInt8(ascii: mark) else { return nil }
            text = text.dropFirst()
        }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func days(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
