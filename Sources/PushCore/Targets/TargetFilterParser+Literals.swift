/// Values of a filter.
extension TargetFilterParser {
    /// `now` is the delivery's start; a hundred years from there is as good as never.
    static let furthestSeconds: Int64 = 100 * 366 * 86_400

    mutating func literal() throws(TargetFilterError) -> TargetLiteral {
        switch token.kind {
        case .text(let text):
            try advance()
            return .text(text)
        case .number(let digits):
            try advance()
            return .number(digits.hasPrefix("+") ? String(digits.dropFirst()) : digits)
        case .word(let word):
            switch word.lowercased() {
            case "true":
                try advance()
                return .boolean(true)
            case "false":
                try advance()
                return .boolean(false)
            case "date", "timestamp": return .time(try calendarMoment())
            case "now": return .time(try distance())
            case "null":
                throw error("nothing equals null", "write is null or is not null")
            default: break
            }
        default: break
        }
        throw error(
            "\(token.words) stands where a value is expected",
            "write a text in single quotes, a number, true, false, date '2026-01-31' or now - 7 days"
        )
    }

    /// `date '2026-01-31'`.
    private mutating func calendarMoment() throws(TargetFilterError) -> TargetMoment {
        try advance()
        guard case .text(let text) = token.kind, let moment = TargetMoment(text) else {
            throw error(
                "\(token.words) is no day or time",
                "write date '2026-01-31' or date '2026-01-31T10:00:00Z'"
            )
        }
        try advance()
        return moment
    }

    /// `now`, `now - 7 days`, `now + 2 hours`.
    private mutating func distance() throws(TargetFilterError) -> TargetMoment {
        try advance()
        let isLater: Bool
        let digits: String
        switch token.kind {
        case .plus, .minus:
            isLater = token.kind == .plus
            try advance()
            guard case .number(let text) = token.kind else { throw noDistance() }
            digits = text
        // The lexer takes a sign that stands before a digit with the number.
        case .number(let text) where text.hasPrefix("-") || text.hasPrefix("+"):
            isLater = text.hasPrefix("+")
            digits = String(text.dropFirst())
        default: return .beforeStart(seconds: 0)
        }
        guard let amount = Int64(digits), (0...Self.furthestSeconds).contains(amount) else { throw noDistance() }
        try advance()
        guard case .word(let word) = token.kind, let unit = Self.units[word.lowercased()] else { throw noDistance() }
        let (seconds, overflow) = amount.multipliedReportingOverflow(by: unit)
        guard !overflow, seconds <= Self.furthestSeconds else { throw noDistance() }
        try advance()
        return .beforeStart(seconds: isLater ? -seconds : seconds)
    }

    private func noDistance() -> TargetFilterError {
        error(
            "\(token.words) makes no distance from now of at most a hundred years",
            "write now - 7 days; units are seconds, minutes, hours, days and weeks"
        )
    }

    /// The units of a distance, in seconds.
    static let units: [String: Int64] = [
        "second": 1, "seconds": 1, "minute": 60, "minutes": 60, "hour": 3_600, "hours": 3_600, "day": 86_400,
        "days": 86_400, "week": 604_800, "weeks": 604_800,
    ]
}
