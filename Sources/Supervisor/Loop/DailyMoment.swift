import PushCore

/// Finds out when a time of day has come, once a day, from looks at a wall clock that may jump.
struct DailyMoment: Sendable {
    private var lastLook: LocalTime?
    private var lastDay: Int?

    /// Whether the time has come between the last look and this one.
    ///
    /// - Parameter time: nil if there is no such time.
    mutating func hasCome(_ time: TimeOfDay?, at now: LocalTime) -> Bool {
        defer { lastLook = now }
        // The hour that is repeated in autumn, and a clock that is set back, bring no second one in a day.
        guard let time, let lastLook, lastDay != now.day else { return false }
        let moment = LocalTime(day: now.day, second: (time.hour * 60 + time.minute) * 60 + time.second)
        guard lastLook < moment, moment <= now else { return false }
        lastDay = now.day
        return true
    }
}
