extension DatabaseTime {
    /// The moment as RFC 3339 has it, in UTC with six digits of a second: `2026-11-21T18:00:00.000000Z`.
    public var internetText: String {
        let (seconds, fraction) = microsecondsSince1970.quotientAndRemainderDown(by: 1_000_000)
        let (days, second) = seconds.quotientAndRemainderDown(by: 86_400)
        let day = LogDay(daysSince2000: Int32(clamping: days - Self.daysTo2000))
        return
            "\(day)T\(Self.digits(second / 3_600, 2)):\(Self.digits(second / 60 % 60, 2)):\(Self.digits(second % 60, 2)).\(Self.digits(fraction, 6))Z"
    }

    /// Days from 1970 to 2000.
    private static let daysTo2000: Int64 = 10_957

    private static func digits(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int64 {
    /// Quotient and remainder with a remainder that is never negative.
    fileprivate func quotientAndRemainderDown(by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
