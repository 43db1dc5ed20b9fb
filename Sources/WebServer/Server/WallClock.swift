import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

enum WallClock {
    /// Microseconds of Unix time.
    static var microseconds: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) &* 1_000_000 &+ Int64(now.tv_nsec) / 1_000
    }
}

/// The `Date` field of responses (RFC 9110, section 6.6.1), formatted once a second.
final class DateText: Sendable {
    private let made = Mutex<(second: Int64, text: String)>((-1, ""))

    /// `Sat, 21 Nov 2026 14:00:00 GMT`.
    func now() -> String {
        let second = WallClock.microseconds / 1_000_000
        return made.withLock { made in
            if made.second != second { made = (second, Self.text(second)) }
            return made.text
        }
    }

    private static func text(_ second: Int64) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(second)))
    }
}
