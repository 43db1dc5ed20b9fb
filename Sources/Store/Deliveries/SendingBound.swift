/// What decides when the last message of a delivery leaves, at the earliest.
package struct SendingBound: Sendable, Hashable, Decodable {
    package enum Kind: String, Sendable, Hashable, Codable {
        /// A limit in messages a second.
        case rate
        /// A time zone of recipients.
        case zone
        /// Sending hours in a time zone.
        case hours
        case wave
        /// The winner of an experiment.
        case winner
    }

    package let kind: Kind
    /// The limit, the time zone, or the number of the wave; "" for a winner.
    package let name: String
    /// When it begins: a moment in UTC, as JSON has it; nil for a rate.
    package let beginsAt: String?
    /// The same, to the minute, on the clock of the delivery's service.
    package let localTime: String?
    /// The time zone of that clock.
    package let timeZone: String?

    private enum CodingKeys: String, CodingKey {
        case kind, name
        case beginsAt = "begins_at"
        case localTime = "local_time"
        case timeZone = "time_zone"
    }
}
