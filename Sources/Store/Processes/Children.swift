import PostgresClient
import PushCore

/// A child that a supervisor is about to start.
public struct ChildRow: Sendable {
    /// The host it runs on.
    public var hostID: String
    /// Counts up with each child of a host, so that a stale status line is recognised.
    public var generation: Int32
    /// The application it serves.
    public var applicationID: Int32
    /// The routing it uses.
    public var accountID: Int32
    /// The routing's connector.
    public var connector: Connector

    /// A child to be.
    public init(hostID: String, generation: Int32, applicationID: Int32, accountID: Int32, connector: Connector) {
        self.hostID = hostID
        self.generation = generation
        self.applicationID = applicationID
        self.accountID = accountID
        self.connector = connector
    }
}

/// What a child says of itself, at least every two seconds; `mta_child` shows it.
public struct ChildHeartbeat: Sendable {
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
    /// Its connections to the gateway, and how much may be on its way.
    public var connections: ChildConnections
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
    /// How long its journal is, see ``Store/journalLength(ofChild:)``.
    public var journalLength: Int64 = 0
    /// Last trouble, "" if none.
    public var lastError: String

    /// A heartbeat; counters start at zero.
    public init(
        childID: Int64,
        pid: Int32,
        state: State,
        deliveryID: Int64? = nil,
        partID: Int64? = nil,
        partsHeld: Int32 = 0,
        connections: ChildConnections = ChildConnections(),
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

/// The connections of a child to its gateway.
public struct ChildConnections: Sendable, Equatable {
    /// Open ones.
    public var open: Int32
    /// How many the child wants: what rate and latency ask for.
    public var wanted: Int32
    /// Why so many, in a word; "" where the number is fixed.
    public var reason: String
    /// Requests without an answer.
    public var streamsInFlight: Int32
    /// Messages that may be without a stored outcome: the most that can be sent twice if this host is lost with its disk now.
    public var dispatchWindow: Int32
    /// The most that the settings allow.
    public var most: Most
    /// What keeps the child from sending faster.
    public var limitedBy: SendingLimit?

    /// The settings that bound what a child chooses by itself.
    public struct Most: Sendable, Equatable {
        /// Connections.
        public var connections: Int32
        /// Messages of the dispatch window.
        public var dispatchWindow: Int32

        /// What is left out is 0.
        public init(connections: Int32 = 0, dispatchWindow: Int32 = 0) {
            self.connections = connections
            self.dispatchWindow = dispatchWindow
        }
    }

    /// What is left out is 0.
    public init(
        open: Int32 = 0,
        wanted: Int32 = 0,
        reason: String = "",
        streamsInFlight: Int32 = 0,
        dispatchWindow: Int32 = 0,
        most: Most = Most(),
        limitedBy: SendingLimit? = nil
    ) {
        self.open = open
        self.wanted = wanted
        self.reason = reason
        self.streamsInFlight = streamsInFlight
        self.dispatchWindow = dispatchWindow
        self.most = most
        self.limitedBy = limitedBy
    }
}

/// What keeps a child from sending faster at a moment; the column `limited_by` of `pushmta.mta_child`.
public enum SendingLimit: String, Sendable, CaseIterable {
    /// It has no messages.
    case work
    /// Messages are claimed, read and made no faster: the database, or this process.
    case loading
    /// Messages wait for a stream: the gateway's answers take their time, and all streams of all connections are in use.
    case connections
    /// As many messages as may be are on their way or not stored.
    case window = "dispatch window"
    /// A limit of messages a second.
    case rate
    /// The gateway takes nothing.
    case trouble = "gateway trouble"
    /// The application's circuit is open.
    case circuit
}

/// A child as the database knows it.
public struct ChildOverview: Sendable {
    /// The last heartbeat, with the child's row id.
    public let heartbeat: ChildHeartbeat
    /// Where it runs and what it serves.
    public let row: ChildRow
    /// When its row was made.
    public let startedAt: DatabaseTime
    /// Seconds since its last heartbeat, on the database's clock.
    public let heartbeatAgeSeconds: Double
    /// Why it ended, as the supervisor names reasons; nil while it runs.
    public let exitReason: String?
    /// More about its end, "" if nothing.
    public let exitDetail: String
    /// The tail of its standard error.
    public let stderrTail: String
    /// `alive`, `late` (no heartbeat for 5 s), `gone` (none for 15 s) or `exited`.
    public let health: String
    /// Outcomes that came from its journal after its death.
    public let journalReplayed: Int64
    /// The name of its application, "" if it is gone.
    public let applicationName: String
    /// The name of its routing, "" if it is gone.
    public let accountName: String
    /// Whether somebody asked for another one in its place.
    public let isRecycleRequested: Bool

    /// A child.
    public init(
        heartbeat: ChildHeartbeat,
        row: ChildRow,
        startedAt: DatabaseTime,
        heartbeatAgeSeconds: Double,
        exitReason: String?,
        exitDetail: String,
        stderrTail: String,
        health: String = "alive",
        journalReplayed: Int64 = 0,
        applicationName: String = "",
        accountName: String = "",
        isRecycleRequested: Bool = false
    ) {
        self.heartbeat = heartbeat
        self.row = row
        self.startedAt = startedAt
        self.heartbeatAgeSeconds = heartbeatAgeSeconds
        self.exitReason = exitReason
        self.exitDetail = exitDetail
        self.stderrTail = stderrTail
        self.health = health
        self.journalReplayed = journalReplayed
        self.applicationName = applicationName
        self.accountName = accountName
        self.isRecycleRequested = isRecycleRequested
    }
}

extension Store {
    /// Makes the row of a child that is about to start; its id is the owner of the parts that it will claim.
    public func insertChild(_ child: ChildRow) async throws -> Int64 {
        let result = try await query(
            """
            INSERT INTO pushmta_engine.mta_child (host_id, generation, application_id, external_account_id, connector)
            VALUES ($1::uuid, $2, $3, $4, $5) RETURNING id
            """,
            [
                .text(child.hostID), .int32(child.generation), .int32(child.applicationID), .int32(child.accountID),
                .text(child.connector.rawValue),
            ]
        )
        return try result.int64(0, 0)
    }

    /// Says that a child lives and what it does; a child that was declared dead stays so.
    public func recordChildHeartbeat(_ heartbeat: ChildHeartbeat) async throws {
        try await query(
            """
            UPDATE pushmta_engine.mta_child SET pid = $2, state = $3, delivery_id = $4, part_id = $5, parts_held = $6,
                connections = $7, streams_in_flight = $8, connections_wanted = $20, connections_reason = $21, dispatch_window = $22,
                connections_limit = $23, dispatch_window_limit = $24, limited_by = $25, sent = $9, failed = $10, retried = $11, unknown = $12,
                resent_after_ambiguity = $13, rate = $14, latency_p50_ms = $15, latency_p99_ms = $16, resident_bytes = $17,
                last_error = $18, late_outcomes = $19, journal_length = $26, last_heartbeat = clock_timestamp()
            WHERE id = $1 AND exited_at IS NULL
            """,
            [
                .int64(heartbeat.childID), .int32(heartbeat.pid), .text(heartbeat.state.rawValue),
                .int64OrNull(heartbeat.deliveryID), .int64OrNull(heartbeat.partID), .int32(heartbeat.partsHeld),
                .int32(heartbeat.connections.open), .int32(heartbeat.connections.streamsInFlight),
                .int64(heartbeat.sent),
                .int64(heartbeat.failed),
                .int64(heartbeat.retried), .int64(heartbeat.unknown), .int64(heartbeat.resentAfterAmbiguity),
                .double(heartbeat.rate),
                .double(heartbeat.latencyP50Milliseconds), .double(heartbeat.latencyP99Milliseconds),
                .int64(heartbeat.residentBytes),
                .text(heartbeat.lastError), .int64(heartbeat.lateOutcomes), .int32(heartbeat.connections.wanted),
                .text(heartbeat.connections.reason), .int32(heartbeat.connections.dispatchWindow),
                .int32(heartbeat.connections.most.connections), .int32(heartbeat.connections.most.dispatchWindow),
                .text(heartbeat.connections.limitedBy?.rawValue ?? ""), .int64(heartbeat.journalLength),
            ]
        )
    }

    /// Says why a child ended, with the tail of its standard error.
    ///
    /// What the child says of itself counts until its supervisor, which sees the real end, has judged it: a child may crash
    /// after its stop record. `orphaned` is said of ends that nobody saw, and replaces nothing.
    public func childExited(
        _ id: Int64,
        reason: String,
        detail: String = "",
        stderrTail: String = "",
        saidByItself: Bool = false
    ) async throws {
        try await query(
            """
            UPDATE pushmta_engine.mta_child SET state = 'exited', exited_at = coalesce(exited_at, clock_timestamp()),
                exit_reason = $2, exit_detail = $3, stderr_tail = $4, parts_held = 0, connections = 0, connections_wanted = 0,
                streams_in_flight = 0, limited_by = '', rate = 0
            WHERE id = $1 AND (exited_at IS NULL OR NOT $5 AND $2 <> 'orphaned')
            """,
            [.int64(id), .text(reason), .text(detail), .text(stderrTail), .bool(saidByItself)]
        )
    }

    /// Counts outcomes that came from a dead child's journal.
    public func addReplayed(child: Int64, count: Int64) async throws {
        try await query(
            "UPDATE pushmta_engine.mta_child SET journal_replayed = journal_replayed + $2 WHERE id = $1",
            [.int64(child), .int64(count)]
        )
    }

    /// Children of a host that have not ended as far as the database knows.
    public func runningChildren(ofHost host: String) async throws -> [Int64] {
        let result = try await query(
            "SELECT id FROM pushmta_engine.mta_child WHERE host_id = $1::uuid AND exited_at IS NULL ORDER BY id",
            [.text(host)]
        )
        return try all(result) { row in try row.int64() }
    }

    /// Children that run, newest first; with `includeExited` also the last 100 that ended.
    public func children(includeExited: Bool = false) async throws -> [ChildOverview] {
        let result = try await query(
            """
            SELECT \(Self.childColumns) FROM pushmta.mta_child c
            WHERE c.exited_at IS NULL OR ($1 AND c.id IN (SELECT e.id FROM pushmta.mta_child e
                WHERE e.exited_at IS NOT NULL ORDER BY e.exited_at DESC LIMIT 100))
            ORDER BY c.id DESC
            """,
            [.bool(includeExited)]
        )
        return try all(result, Self.childOverview)
    }

    private static let childColumns = """
        c.id, coalesce(c.pid, 0), c.state, c.delivery_id, c.part_id, c.parts_held, c.connections, c.connections_wanted, c.connections_reason,
        c.streams_in_flight, c.dispatch_window, c.connections_limit, c.dispatch_window_limit, c.limited_by, c.sent, c.failed, c.retried,
        c.unknown, c.resent_after_ambiguity, c.late_outcomes, c.rate, c.latency_p50_ms, c.latency_p99_ms, c.resident_bytes, c.last_error,
        c.host_id::text, c.generation, c.application_id, c.external_account_id, c.connector, c.started_at, c.heartbeat_age_seconds,
        c.exit_reason, c.exit_detail, c.stderr_tail, c.health, c.journal_replayed, coalesce(c.application, ''), coalesce(c.account, ''),
        c.recycle_requested
        """

    private static func childOverview(_ row: inout RowReader) throws -> ChildOverview {
        ChildOverview(
            heartbeat: ChildHeartbeat(
                childID: try row.int64(),
                pid: try row.int32(),
                state: try row.choice(),
                deliveryID: try row.int64OrNil(),
                partID: try row.int64OrNil(),
                partsHeld: try row.int32(),
                connections: ChildConnections(
                    open: try row.int32(),
                    wanted: try row.int32(),
                    reason: try row.text(),
                    streamsInFlight: try row.int32(),
                    dispatchWindow: try row.int32(),
                    most: ChildConnections.Most(
                        connections: try row.int32(),
                        dispatchWindow: try row.int32()
                    ),
                    limitedBy: SendingLimit(rawValue: try row.text())
                ),
                sent: try row.int64(),
                failed: try row.int64(),
                retried: try row.int64(),
                unknown: try row.int64(),
                resentAfterAmbiguity: try row.int64(),
                lateOutcomes: try row.int64(),
                rate: try row.double(),
                latencyP50Milliseconds: try row.double(),
                latencyP99Milliseconds: try row.double(),
                residentBytes: try row.int64(),
                lastError: try row.text()
            ),
            row: ChildRow(
                hostID: try row.text(),
                generation: try row.int32(),
                applicationID: try row.int32(),
                accountID: try row.int32(),
                connector: try row.choice()
            ),
            startedAt: try row.time(),
            heartbeatAgeSeconds: try row.double(),
            exitReason: try row.textOrNil(),
            exitDetail: try row.text(),
            stderrTail: try row.text(),
            health: try row.text(),
            journalReplayed: try row.int64(),
            applicationName: try row.text(),
            accountName: try row.text(),
            isRecycleRequested: try row.bool()
        )
    }
}

extension ChildOverview {
    /// Half of a gateway's answers take as long: it is slow, as Apple's and Google's need a tenth of it.
    static let slowAnswerMilliseconds = 1_000

    /// Whether nothing but the slow answers of its gateway keeps it from sending faster.
    public var waitsForSlowGateway: Bool {
        heartbeat.connections.limitedBy == .connections
            && heartbeat.latencyP50Milliseconds >= Double(Self.slowAnswerMilliseconds)
    }
}

extension [ChildOverview] {
    /// The applications whose gateways answer so slowly that it binds a delivery, by delivery; from what the children say that send it.
    public var slowGateways: [Int64: [String]] {
        filter(\.waitsForSlowGateway).reduce(into: [:]) { slow, child in
            guard let delivery = child.heartbeat.deliveryID else { return }
            if slow[delivery]?.contains(child.applicationName) != true {
                slow[delivery, default: []].append(child.applicationName)
            }
        }
    }
}
