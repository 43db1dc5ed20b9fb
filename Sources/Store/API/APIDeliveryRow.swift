import PushCore

/// A delivery as the API shows it, with its counts in one snapshot.
package struct APIDeliveryRow: Sendable {
    /// How many messages are in each state; they add up to `target`.
    package struct Counts: Sendable, Hashable {
        /// Messages made so far.
        package var target: Int64
        /// People left out at preparation.
        package var excluded: Int64
        /// Messages without an outcome.
        package var pending: Int64
        /// Messages that the gateway accepted.
        package var sent: Int64
        /// Messages refused permanently.
        package var failed: Int64
        /// Messages not sent because they would have been too late or unwanted.
        package var ignored: Int64
        /// Messages whose device was gone or disabled at sending.
        package var notApplicable: Int64
        /// Messages of a stopped delivery.
        package var canceled: Int64
        /// Messages whose arrival is unknown.
        package var unknown: Int64
        /// How many of the target are messages to seed addresses.
        package var seeds: Int64
    }

    package let id: Int64
    package let label: String
    /// `batch` or `continuous`.
    package let kind: String
    package let state: DeliveryState
    /// Why it failed, or what it waits for; "" if nothing.
    package let stateReason: String
    /// The greater goes first.
    package let priority: Int32
    package let counts: Counts
    /// Whether all messages are prepared.
    package let isPrepared: Bool
    package let createdAt: DatabaseTime
    /// When it is to start, nil before it is started.
    package let startAt: DatabaseTime?
    /// When it began, nil before.
    package let startedAt: DatabaseTime?
    /// When it ended, nil before.
    package let finishedAt: DatabaseTime?
    /// The end of its validity, nil before it is started.
    package let validUntil: DatabaseTime?
    /// The moment of the counts.
    package let asOf: DatabaseTime
    /// The names of its applications.
    package let applications: [String]
    /// The delivery that it is a day or a proof of.
    package let parentID: Int64?
    /// Whether it also goes to people who opted out.
    package let isOneTimeCode: Bool
    /// The name of its category; nil if it has none.
    package let category: String?
    /// Since when lists leave it out, nil if they show it.
    package let archivedAt: DatabaseTime?
    /// The health signal that its rate follows, nil if it follows none.
    package let signal: DeliverySignalRow?
}
