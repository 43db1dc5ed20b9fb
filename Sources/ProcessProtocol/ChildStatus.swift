/// How a child is doing: the content of a status line.
public struct ChildStatus: Sendable, Codable, Equatable {
    /// The child's process id.
    public var pid: Int32
    /// The number that the supervisor gave to this start; lines of another generation are ignored.
    public var generation: Int32
    /// What the child is doing.
    public var state: ChildState
    /// Parts that the child holds a lease on.
    public var partsHeld: Int
    /// Messages handed to the gateway and not resolved yet.
    public var inFlight: Int
    /// Messages accepted by the gateway since the start of the process.
    public var sent: Int64
    /// Messages that failed for good since the start of the process.
    public var failed: Int64
    /// Messages put off to a retry part since the start of the process.
    public var retried: Int64
    /// Answers that came after the part had been taken from this process, and were stored as facts.
    public var late: Int64
    /// Messages of which nobody knows whether they were sent, and that are not sent again; since the start of the process.
    public var unknown: Int64
    /// Messages that this process sent although an earlier owner may have sent them before.
    public var resent: Int64
    /// Resident memory in bytes.
    public var residentBytes: Int64
    /// Grows with every resolved message, stored batch and answered claim, and never falls.
    ///
    /// A child that has work and whose progress stands still is stuck, however lively its status lines are.
    public var progress: UInt64
    /// Why the child is about to exit; set in its last line only.
    public var exitReason: ChildExitReason?
    /// What it tells for the metrics of its host; nil from a child of an older version.
    public var figures: ChildFigures?

    /// Makes a status with counters at zero.
    public init(
        pid: Int32,
        generation: Int32,
        state: ChildState = .starting,
        partsHeld: Int = 0,
        inFlight: Int = 0,
        sent: Int64 = 0,
        failed: Int64 = 0,
        retried: Int64 = 0,
        late: Int64 = 0,
        unknown: Int64 = 0,
        resent: Int64 = 0,
        residentBytes: Int64 = 0,
        progress: UInt64 = 0,
        exitReason: ChildExitReason? = nil,
        figures: ChildFigures? = nil
    ) {
        self.pid = pid
        self.generation = generation
        self.state = state
        self.partsHeld = partsHeld
        self.inFlight = inFlight
        self.sent = sent
        self.failed = failed
        self.retried = retried
        self.late = late
        self.unknown = unknown
        self.resent = resent
        self.residentBytes = residentBytes
        self.progress = progress
        self.exitReason = exitReason
        self.figures = figures
    }

    /// Messages that this process has resolved, in whatever way.
    public var resolved: Int64 { sent &+ failed &+ retried }

    enum CodingKeys: String, CodingKey {
        case pid, generation, state, partsHeld, inFlight, sent, failed, retried, late, unknown, resent, residentBytes
        case progress, exitReason, figures
    }
}

extension ChildStatus {
    /// Reads a status of this or an older version; counters that an older child does not write are 0.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            pid: try values.decode(Int32.self, forKey: .pid),
            generation: try values.decode(Int32.self, forKey: .generation),
            state: try values.decode(ChildState.self, forKey: .state),
            partsHeld: try values.decode(Int.self, forKey: .partsHeld),
            inFlight: try values.decode(Int.self, forKey: .inFlight),
            sent: try values.decode(Int64.self, forKey: .sent),
            failed: try values.decode(Int64.self, forKey: .failed),
            retried: try values.decode(Int64.self, forKey: .retried),
            late: try values.decodeIfPresent(Int64.self, forKey: .late) ?? 0,
            unknown: try values.decodeIfPresent(Int64.self, forKey: .unknown) ?? 0,
            resent: try values.decodeIfPresent(Int64.self, forKey: .resent) ?? 0,
            residentBytes: try values.decode(Int64.self, forKey: .residentBytes),
            progress: try values.decode(UInt64.self, forKey: .progress),
            exitReason: try Self.exitReason(values),
            // Those of another version may have another form, and the line counts all the same.
            figures: try? values.decodeIfPresent(ChildFigures.self, forKey: .figures)
        )
    }

    /// A reason of a newer child that this version does not know is none, so that its line still counts.
    private static func exitReason(_ values: KeyedDecodingContainer<CodingKeys>) throws -> ChildExitReason? {
        try values.decodeIfPresent(String.self, forKey: .exitReason).flatMap(ChildExitReason.init(rawValue:))
    }
}

/// What a child is doing, as `mta_child` shows it.
public enum ChildState: String, Sendable, Codable, CaseIterable {
    /// It reads its settings and connects to database and gateway.
    case starting
    /// It holds no part and waits for work.
    case idle
    /// It holds at least one part.
    case sending
    /// It holds parts and sends nothing: the gateway or the database is in trouble, or a quota is used up.
    case stalled
    /// It sends single messages to find out whether the gateway takes messages again.
    case probing
    /// It claims nothing more and resolves what it holds.
    case draining
    /// It is gone; its row remains with the reason.
    case exited
}
