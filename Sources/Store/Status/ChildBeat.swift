/// What a child says of itself, at least every two seconds; `mta_child` shows it.
public struct ChildBeat: Sendable {
    /// What a child is doing.
    public enum State: String, Sendable, CaseIterable {
        case starting, idle, working, draining, exited
    }

    /// Row of `mta_child`.
    public var childID: Int64
    /// Its process.
    public var pid: Int32
    /// What it is doing.
    public var state: State
    /// Delivery in hand, nil when idle.
    public var deliveryID: Int64?
    /// Part in hand, nil when idle.
    public var partID: Int64?
    /// Parts held.
    public var partsHeld: Int32
    /// Open connections to the gateway.
    public var connections: Int32
    /// Requests without an answer.
    public var streamsInFlight: Int32
    /// Messages accepted by the gateway since the start.
    public var sent: Int64
    /// Messages refused for good.
    public var failed: Int64
    /// Messages handed to retry parts.
    public var retried: Int64
    /// Messages recorded as `unknown`.
    public var unknown: Int64
    /// Messages sent again although the gateway may have had them.
    public var resentAfterAmbiguity: Int64
    /// Outcomes stored after it had lost the part.
    public var lateOutcomes: Int64
    /// Messages a second, lately.
    public var rate: Double
    /// Half of the answers came within so many milliseconds.
    public var latencyP50Milliseconds: Double
    /// 99 of 100 answers came within so many milliseconds.
    public var latencyP99Milliseconds: Double
    /// Memory in use, bytes.
    public var residentBytes: Int64
    /// Last trouble, "" if none.
    public var lastError: String

    /// A beat; counters start at zero.
    public init(
        childID: Int64,
        pid: Int32,
        state: State,
        deliveryID: Int64? = nil,
        partID: Int64? = nil,
        partsHeld: Int32 = 0,
        connections: Int32 = 0,
        streamsInFlight: Int32 = 0,
        sent: Int64 = 0,
        failed: Int64 = 0,
        retried: Int64 = 0,
        unknown: Int64 = 0,
        resentAfterAmbiguity: Int64 = 0,
        lateOutcomes: Int64 = 0,
        rate: Double = 0,
        latencyP50Milliseconds: Double = 0,
        latencyP99Milliseconds: Double = 0,
        residentBytes: Int64 = 0,
        lastError: String = ""
    ) {
        self.childID = childID
        self.pid = pid
        self.state = state
        self.deliveryID = deliveryID
        self.partID = partID
        self.partsHeld = partsHeld
        self.connections = connections
        self.streamsInFlight = streamsInFlight
        self.sent = sent
        self.failed = failed
        self.retried = retried
        self.unknown = unknown
        self.resentAfterAmbiguity = resentAfterAmbiguity
        self.lateOutcomes = lateOutcomes
        self.rate = rate
        self.latencyP50Milliseconds = latencyP50Milliseconds
        self.latencyP99Milliseconds = latencyP99Milliseconds
        self.residentBytes = residentBytes
        self.lastError = lastError
    }
}
