/// A child's status, written every second.
///
/// The supervisor gets it as a status line; everyone else reads it from the column `report` of `pushmta.mta_child`.
///
/// During an upgrade, supervisor, child and console may run different versions. A missing member takes its default, and
/// an unknown member is ignored. So never change the meaning of a member, and never reuse the name of a removed one.
package struct ChildReport: Sendable, Equatable {
    /// The child's process id; 0 before its first report.
    package var pid: Int32 = 0
    package var state = ChildState.starting
    /// The delivery that it is sending; nil when idle.
    package var deliveryID: Int64?
    /// The part that it is sending; nil when idle.
    package var partID: Int64?
    /// Parts that it holds a lease on.
    package var partsHeld = 0
    /// Messages written to the gateway and not yet resolved.
    package var inFlight = 0
    /// Its connections to the gateway and its dispatch window.
    package var connections = ChildConnections()
    /// What it has done since its start.
    package var counts = ChildCounts()
    /// Grows with every resolved message, stored batch and answered claim. It never decreases.
    ///
    /// A child that has work but makes no progress is stuck, even if it keeps reporting.
    package var progress: UInt64 = 0
    /// Recent rate, in messages a second.
    package var rate = 0.0
    /// Recent median latency of answers, in milliseconds.
    package var latencyP50Milliseconds = 0.0
    /// Recent 99th percentile of the latency of answers, in milliseconds.
    package var latencyP99Milliseconds = 0.0
    package var residentBytes: Int64 = 0
    /// Bytes written to its journal so far, including those that were cut off.
    package var journalLength: Int64 = 0
    /// The last error; "" if there was none.
    package var lastError = ""

    /// The report of a child that has done nothing yet.
    package init(pid: Int32 = 0, state: ChildState = .starting) {
        self.pid = pid
        self.state = state
    }
}

extension ChildReport: Codable {
    /// The columns of `mta_child` are filled from members with these names.
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
    /// - Throws: `DecodingError` if a member has another type.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        pid = try values.decodeIfPresent(Int32.self, forKey: .pid) ?? pid
        // A state that only the other version knows: the child is at work.
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
