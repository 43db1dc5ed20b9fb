import PushCore

/// Messages that have not ended, of one application over one account: a row of `pushmta.queue()`.
package struct QueueRow: Sendable, Hashable {
    /// How long messages have been due.
    package enum Age: Int, Sendable, CaseIterable {
        case underTenSeconds, underOneMinute, underTenMinutes, underOneHour, older
    }

    package let application: String
    package let account: String
    package let connector: Connector
    /// Messages that are due and unclaimed.
    package let ready: Int64
    /// Whether there may be more than were counted.
    package let isReadyAtLeast: Bool
    /// The same by the time since they were due, in the order of ``Age``.
    package let readyByAge: [Int64]
    /// Seconds since the oldest of them was due; nil if there is none.
    package let oldestSeconds: Double?
    /// Messages that are due later, for retries.
    package let later: Int64
    /// Messages that a child has claimed.
    package let claimed: Int64
    /// Messages of paused deliveries.
    package let held: Int64
    /// Whether there may be more of these than were counted.
    package let isHeldAtLeast: Bool
    /// Why they wait, "" if none does.
    package let waitingReason: String

    package init(
        application: String,
        account: String,
        connector: Connector,
        ready: Int64,
        isReadyAtLeast: Bool = false,
        readyByAge: [Int64],
        oldestSeconds: Double? = nil,
        later: Int64 = 0,
        claimed: Int64 = 0,
        held: Int64 = 0,
        isHeldAtLeast: Bool = false,
        waitingReason: String = ""
    ) {
        self.application = application
        self.account = account
        self.connector = connector
        self.ready = ready
        self.isReadyAtLeast = isReadyAtLeast
        self.readyByAge = readyByAge
        self.oldestSeconds = oldestSeconds
        self.later = later
        self.claimed = claimed
        self.held = held
        self.isHeldAtLeast = isHeldAtLeast
        self.waitingReason = waitingReason
    }
}
