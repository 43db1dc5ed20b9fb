import PushCore

/// A delivery's counts in one snapshot: `target = pending + sent + failed + ignored + notApplicable + canceled + unknown`.
public struct DeliveryProgress: Sendable {
    /// The delivery.
    public let id: Int64
    /// Its name.
    public let label: String
    /// Its state.
    public let state: DeliveryState
    /// Why it failed, "" if it has not.
    public let stateReason: String
    /// Messages made so far (final once prepared).
    public let target: Int64
    /// People left out at preparation.
    public let excluded: Int64
    /// Messages without an outcome.
    public let pending: Int64
    /// Messages that the gateway accepted.
    public let sent: Int64
    /// Messages refused for good.
    public let failed: Int64
    /// Messages not sent because they would have come too late or nobody wanted them.
    public let ignored: Int64
    /// Messages whose subscription was gone or disabled at sending.
    public let notApplicable: Int64
    /// Messages of a stopped delivery.
    public let canceled: Int64
    /// Messages of which nobody knows whether they arrived, by the policy `report`.
    public let unknown: Int64
    /// Outcomes stored for an owner that had lost its part.
    public let lateOutcomes: Int64
    /// Messages sent again although the gateway may have had them.
    public let resentAfterAmbiguity: Int64
    /// Outcomes that came from journals of dead children.
    public let journalReplayed: Int64
    /// Parts that wait for a child.
    public let partsReady: Int64
    /// Parts that a child holds.
    public let partsClaimed: Int64
    /// Parts that are held back.
    public let partsWaiting: Int64
    /// Parts that ended.
    public let partsDone: Int64
    /// Whether all parts are made.
    public let prepared: Bool
    /// When it was started, nil before.
    public let startedAt: DatabaseTime?
    /// When its last outcome was stored and it was ended, nil before.
    public let finishedAt: DatabaseTime?
    /// The database's time at this snapshot.
    public let now: DatabaseTime
    /// Whether its target is frozen at its start, or messages are added to it.
    public let kind: DeliveryKind
    /// The continuous delivery of which it is a day, nil for every other.
    public let parentID: Int64?
    /// Why it cannot be prepared now, or messages of it cannot be loaded, "" if nothing is waited for.
    public let waitingReason: String

    /// The counts of a delivery.
    public init(
        id: Int64,
        label: String,
        state: DeliveryState,
        stateReason: String,
        target: Int64,
        excluded: Int64,
        pending: Int64,
        sent: Int64,
        failed: Int64,
        ignored: Int64,
        notApplicable: Int64,
        canceled: Int64,
        unknown: Int64,
        lateOutcomes: Int64,
        resentAfterAmbiguity: Int64,
        journalReplayed: Int64,
        partsReady: Int64,
        partsClaimed: Int64,
        partsWaiting: Int64,
        partsDone: Int64,
        prepared: Bool,
        startedAt: DatabaseTime?,
        finishedAt: DatabaseTime?,
        now: DatabaseTime,
        kind: DeliveryKind = .batch,
        parentID: Int64? = nil,
        waitingReason: String = ""
    ) {
        self.id = id
        self.label = label
        self.state = state
        self.stateReason = stateReason
        self.target = target
        self.excluded = excluded
        self.pending = pending
        self.sent = sent
        self.failed = failed
        self.ignored = ignored
        self.notApplicable = notApplicable
        self.canceled = canceled
        self.unknown = unknown
        self.lateOutcomes = lateOutcomes
        self.resentAfterAmbiguity = resentAfterAmbiguity
        self.journalReplayed = journalReplayed
        self.partsReady = partsReady
        self.partsClaimed = partsClaimed
        self.partsWaiting = partsWaiting
        self.partsDone = partsDone
        self.prepared = prepared
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.now = now
        self.kind = kind
        self.parentID = parentID
        self.waitingReason = waitingReason
    }
}
