import PostgresClient
import PushCore

/// A moment on the database's clock, the only clock that hosts compare.
package struct DatabaseTime: Sendable, Hashable, Comparable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    package let microsecondsSince1970: Int64

    /// A moment from microseconds since 1970-01-01 00:00 UTC.
    package init(microsecondsSince1970: Int64) {
        self.microsecondsSince1970 = microsecondsSince1970
    }

    /// PostgreSQL counts from 2000-01-01; this is the distance of the two epochs.
    static let epochDistance: Int64 = 946_684_800_000_000

    init(microsecondsSince2000: Int64) {
        microsecondsSince1970 = microsecondsSince2000 &+ Self.epochDistance
    }

    var microsecondsSince2000: Int64 { microsecondsSince1970 &- Self.epochDistance }

    package static func < (left: DatabaseTime, right: DatabaseTime) -> Bool {
        left.microsecondsSince1970 < right.microsecondsSince1970
    }

    /// The time this many milliseconds later (earlier if negative).
    package func advanced(byMilliseconds milliseconds: Int64) -> DatabaseTime {
        DatabaseTime(microsecondsSince1970: microsecondsSince1970 &+ milliseconds &* 1000)
    }
}

extension DatabaseTime {
    /// The time in RFC 3339 form, in UTC with microseconds: `2026-11-21T18:00:00.000000Z`.
    package var internetText: String {
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
    /// Quotient and remainder, with a remainder that is never negative.
    fileprivate func quotientAndRemainderDown(by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension PostgresValue {
    /// The state of a part that a child holds. It is passed as a parameter where the plan must not use the index of
    /// claimed parts: that index keeps an entry of each part ever claimed until vacuum runs, which long transactions
    /// delay.
    static let heldState = PostgresValue.text(PartState.claimed.rawValue)

    /// `bigint`, or NULL for nil.
    static func int64OrNull(_ value: Int64?) -> PostgresValue {
        value.map(PostgresValue.int64) ?? .null
    }
}
