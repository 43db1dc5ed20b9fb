#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A moment on this host's wall clock, in its time zone.
struct LocalTime: Sendable, Equatable, Comparable {
    /// Grows from day to day, with gaps at the end of years.
    var day: Int
    /// Seconds since midnight.
    var second: Int

    /// The present moment.
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
