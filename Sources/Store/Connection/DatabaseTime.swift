/// A moment on the database's clock, the only clock that hosts compare.
public struct DatabaseTime: Sendable, Hashable, Comparable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    public let microsecondsSince1970: Int64

    /// A moment from microseconds since 1970-01-01 00:00 UTC.
    public init(microsecondsSince1970: Int64) {
        self.microsecondsSince1970 = microsecondsSince1970
    }

    /// PostgreSQL counts from 2000-01-01; this is the distance of the two epochs.
    static let epochDistance: Int64 = 946_684_800_000_000

    init(microsecondsSince2000: Int64) {
        microsecondsSince1970 = microsecondsSince2000 &+ Self.epochDistance
    }

    var microsecondsSince2000: Int64 { microsecondsSince1970 &- Self.epochDistance }

    /// Earlier moments sort first.
    public static func < (left: DatabaseTime, right: DatabaseTime) -> Bool {
        left.microsecondsSince1970 < right.microsecondsSince1970
    }

    /// The moment so many milliseconds later (earlier if negative).
    public func advanced(byMilliseconds milliseconds: Int64) -> DatabaseTime {
        DatabaseTime(microsecondsSince1970: microsecondsSince1970 &+ milliseconds &* 1000)
    }
}
