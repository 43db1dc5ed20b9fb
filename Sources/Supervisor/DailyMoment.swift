import PushCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Detects once a day that a time of day has come, from readings of a wall clock that may jump.
struct DailyMoment: Sendable {
    private var lastLook: LocalTime?
    private var lastDay: Int?

    /// Whether the time has come between the last call and this one.
    ///
    /// - Parameter time: the time of day; nil if none is set.
    mutating func hasCome(_ time: TimeOfDay?, at now: LocalTime) -> Bool {
        defer { lastLook = now }
        // Not twice a day, even when the clock is set back or an hour repeats in autumn.
        guard let time, let lastLook, lastDay != now.day else { return false }
        let moment = LocalTime(day: now.day, second: (time.hour * 60 + time.minute) * 60 + time.second)
        guard lastLook < moment, moment <= now else { return false }
        lastDay = now.day
        return true
    }
}

/// A moment on this host's wall clock, in its time zone.
struct LocalTime: Sendable, Equatable, Comparable {
    /// Increases from day to day, with gaps at the ends of years.
    var day: Int
    /// Seconds since midnight.
    var second: Int

    static func now() -> LocalTime {
        var seconds = time(nil)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return LocalTime(
            day: Int(parts.tm_year) * 366 + Int(parts.tm_yday),
            second: (Int(parts.tm_hour) * 60 + Int(parts.tm_min)) * 60 + Int(parts.tm_sec)
        )
    }

    static func < (left: Self, right: Self) -> Bool { (left.day, left.second) < (right.day, right.second) }
}
