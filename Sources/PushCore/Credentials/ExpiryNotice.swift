/// How soon a credential expires, in the steps at which it is reported: 30, 7 and 1 days ahead, and once it has
/// expired.
package enum ExpiryNotice: String, Sendable, Hashable, CaseIterable, Comparable {
    /// At most 30 days are left.
    case month
    /// At most 7 days are left.
    case week
    /// At most a day is left.
    case day
    /// It has expired.
    case over

    /// The first notice is given this many days ahead.
    package static let firstDays = 30

    private static let secondsOfDay = 86_400.0

    /// The step for the seconds left; nil while no notice is due.
    package init?(secondsLeft: Double) {
        switch secondsLeft {
        case ...0: self = .over
        case ...Self.secondsOfDay: self = .day
        case ...(7 * Self.secondsOfDay): self = .week
        case ...(Double(Self.firstDays) * Self.secondsOfDay): self = .month
        default: return nil
        }
    }

    /// Later steps are greater.
    package static func < (left: ExpiryNotice, right: ExpiryNotice) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }

    /// The time left, in words that complete a sentence about a credential.
    package static func text(secondsLeft: Double) -> String {
        let days = Int(exactly: (abs(secondsLeft) / secondsOfDay).rounded(.down)) ?? .max
        let hours = Int(exactly: (abs(secondsLeft) / 3_600).rounded(.down)) ?? .max
        let span = days >= 2 ? "\(days) days" : hours == 1 ? "1 hour" : "\(hours) hours"
        return secondsLeft <= 0 ? "expired \(span) ago" : "expires in \(span)"
    }
}
