/// When messages of a service may leave, in the time zone of each recipient.
package struct SendingHours: Sendable, Hashable, Codable {
    /// Hours of some weekdays.
    package struct Line: Sendable, Hashable, Codable {
        /// 1 is Monday, 7 is Sunday.
        package var weekdays: [Int]
        /// As in `09:00`.
        package var opens: String
        /// As in `18:00`; `24:00` is the end of the day.
        package var closes: String

        package init(weekdays: [Int], opens: String, closes: String) {
            self.weekdays = weekdays
            self.opens = opens
            self.closes = closes
        }
    }

    /// What happens to messages outside of the hours.
    package enum Policy: String, Sendable, Codable, CaseIterable {
        /// They wait for the next hours.
        case postpone
        /// They are not sent.
        case drop
    }

    /// Empty: at all times.
    package var hours: [Line] = []
    /// Days without hours, as in `2026-12-25`.
    package var daysOff: [String] = []
    package var outside = Policy.postpone
    /// For recipients whose subscription has none.
    package var timeZone = "UTC"

    package init() {}

    private enum CodingKeys: String, CodingKey {
        case hours
        case daysOff = "days_off"
        case outside
        case timeZone = "time_zone"
    }
}
