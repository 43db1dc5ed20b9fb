import PushCore

/// A delivery as the API shows it, with its counts in one snapshot.
public struct APIDeliveryRow: Sendable {
    /// How many messages are in each state; they add up to `target`.
    public struct Counts: Sendable, Hashable {
        /// Messages made so far.
        public var target: Int64
        /// People left out at preparation.
        public var excluded: Int64
        /// Messages without an outcome.
        public var pending: Int64
        /// Messages that the gateway accepted.
        public var sent: Int64
        /// Messages refused for good.
        public var failed: Int64
        /// Messages not sent because they would have come too late or nobody wanted them.
        public var ignored: Int64
        /// Messages whose device was gone or disabled at sending.
        public var notApplicable: Int64
        /// Messages of a stopped delivery.
        public var canceled: Int64
        /// Messages of which nobody knows whether they arrived.
        public var unknown: Int64
    }

    /// Its id.
    public let id: Int64
    /// Its name.
    public let label: String
    /// `batch` or `continuous`.
    public let kind: String
    /// Its state.
    public let state: DeliveryState
    /// Why it failed or what it waits for, "" if nothing.
    public let stateReason: String
    /// Greater goes first.
    public let priority: Int32
    /// Its counts.
    public let counts: Counts
    /// Whether all messages are made.
    public let isPrepared: Bool
    /// When it was created.
    public let createdAt: DatabaseTime
    /// When it is to start, nil before it was started.
    public let startAt: DatabaseTime?
    /// When it began, nil before.
    public let startedAt: DatabaseTime?
    /// When it ended, nil before.
    public let finishedAt: DatabaseTime?
    /// Until when its messages are sent, nil before it was started.
    public let validUntil: DatabaseTime?
    /// The moment of the counts.
    public let asOf: DatabaseTime
    /// The names of its applications.
    public let applications: [String]
    /// The delivery that it is a day or a proof of.
    public let parentID: Int64?
}
