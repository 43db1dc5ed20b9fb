/// What a child says of itself each second: to its supervisor in a status line, and to everybody in the column `report` of
/// `pushmta.mta_child`.
///
/// Supervisor, child and console may be of different versions during an upgrade. A member that the other has not written has its default
/// here, and one that is not known is not read; so a member never changes its meaning, and one that is dropped leaves its name unused.
public struct ChildReport: Sendable, Equatable {
    /// The child's process; 0 before its first report.
    public var pid: Int32 = 0
    public var state = ChildState.starting
    /// The delivery in hand, nil when idle.
    public var deliveryID: Int64?
    /// The part in hand, nil when idle.
    public var partID: Int64?
    /// Parts that it holds a lease on.
    public var partsHeld = 0
    /// Messages handed to the gateway and not resolved yet.
    public var inFlight = 0
    /// Its connections to the gateway, and how much may be on its way.
    public var connections = ChildConnections()
    /// What it has done since its start.
    public var counts = ChildCounts()
    /// Grows with every resolved message, stored batch and answered claim, and never falls.
    ///
    /// A child that has work and whose progress stands still is stuck, however lively its reports are.
    public var progress: UInt64 = 0
    /// Messages a second, lately.
    public var rate = 0.0
    /// Half of the answers came within so many milliseconds, lately.
    public var latencyP50Milliseconds = 0.0
    /// 99 of 100 answers came within so many milliseconds, lately.
    public var latencyP99Milliseconds = 0.0
    public var residentBytes: Int64 = 0
    /// Bytes that its journal has had, those that were cut off too.
    public var journalLength: Int64 = 0
    /// The last trouble, "" if there was none.
    public var lastError = ""

    /// The report of a child that has done nothing yet.
    public init(pid: Int32 = 0, state: ChildState = .starting) {
        self.pid = pid
        self.state = state
    }
}

extension ChildReport: Codable {
    /// The columns of `mta_child` are made from these names.
    private enum CodingKeys: String, CodingKey {
        case pid, state, connections, counts, progress, rate
        case deliveryID = "delivery_id"
        case partID = "part_id"
        case partsHeld = "parts_held"
        case inFlight = "in_flight"
        case latencyP50Milliseconds = "latency_p50_ms"
        case latencyP99Milliseconds = "latency_p99_ms"
        case residentBytes = "resident_bytes"
        case journalLength = "journal_length"
        case lastError = "last_error"
    }

    /// Reads a report of this or another version.
    ///
    /// - Throws: `DecodingError` if a member that is there has another form.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        pid = try values.decodeIfPresent(Int32.self, forKey: .pid) ?? pid
        // One that only the other version knows: it is at work.
        state =
            try values.decodeIfPresent(String.self, forKey: .state).map { ChildState(rawValue: $0) ?? .sending }
            ?? state
        deliveryID = try values.decodeIfPresent(Int64.self, forKey: .deliveryID)
        partID = try values.decodeIfPresent(Int64.self, forKey: .partID)
        partsHeld = try values.decodeIfPresent(Int.self, forKey: .partsHeld) ?? partsHeld
        inFlight = try values.decodeIfPresent(Int.self, forKey: .inFlight) ?? inFlight
        connections = try values.decodeIfPresent(ChildConnections.self, forKey: .connections) ?? connections
        counts = try values.decodeIfPresent(ChildCounts.self, forKey: .counts) ?? counts
        progress = try values.decodeIfPresent(UInt64.self, forKey: .progress) ?? progress
        rate = try values.decodeIfPresent(Double.self, forKey: .rate) ?? rate
        latencyP50Milliseconds =
            try values.decodeIfPresent(Double.self, forKey: .latencyP50Milliseconds) ?? latencyP50Milliseconds
        latencyP99Milliseconds =
            try values.decodeIfPresent(Double.self, forKey: .latencyP99Milliseconds) ?? latencyP99Milliseconds
        residentBytes = try values.decodeIfPresent(Int64.self, forKey: .residentBytes) ?? residentBytes
        journalLength = try values.decodeIfPresent(Int64.self, forKey: .journalLength) ?? journalLength
        lastError = try values.decodeIfPresent(String.self, forKey: .lastError) ?? lastError
    }
}
