import Administration
import Foundation
import PostgresClient
import PushCore
import Store

/// Whether two clocks agree.
enum ClockCheck {
    /// Schedules and quiet hours use the database's clock, log lines and tokens this machine's. People notice a few
    /// seconds…
    private static let noticeable = 2.0
    /// …and gateways refuse tokens after some minutes: Google allows at most 5 minutes, Apple an hour.
    private static let harmful = 60.0

    /// The time in a `Date` field (RFC 9110, section 5.6.7); nil if it is malformed.
    static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }

    /// The result for the difference of two clocks.
    ///
    /// - Parameter uncertainty: the possible error of the difference, in seconds.
    static func result(_ subject: String, ours: Date, theirs: Date, uncertainty: Double) -> CheckResult {
        let difference = ours.timeIntervalSince(theirs)
        let size = max(0, abs(difference) - uncertainty)
        let amount = (size * 10).rounded() / 10
        let text =
            size < 0.1
            ? "this machine's clock is right"
            : "this machine's clock is \(amount) s \(difference > 0 ? "fast" : "slow")"
        let remedy = "synchronize both by NTP (`timedatectl`, chrony)"
        if size >= harmful {
            return CheckResult(
                subject,
                .failed,
                "\(text): gateways refuse tokens, and schedules run at the wrong times; \(remedy)"
            )
        }
        return size >= noticeable
            ? CheckResult(subject, .warning, "\(text): \(remedy)") : CheckResult(subject, .ok, text)
    }
}
