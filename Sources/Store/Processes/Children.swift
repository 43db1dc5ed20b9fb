import PostgresClient
import PushCore

/// A child that a supervisor is about to start.
public struct ChildRow: Sendable {
    /// The host it runs on.
    public var hostID: String
    /// Counts up with each child of a host, so that a stale status line is recognised.
    public var generation: Int32
    public var applicationID: Int32
    public var accountID: Int32
    public var connector: Connector

    public init(hostID: String, generation: Int32, applicationID: Int32, accountID: Int32, connector: Connector) {
        self.hostID = hostID
        self.generation = generation
        self.applicationID = applicationID
        self.accountID = accountID
        self.connector = connector
    }
}

/// A child as the database knows it.
public struct ChildOverview: Sendable {
    /// What a child is doing, as the column `state` of `pushmta.mta_child` says it.
    public enum State: String, Sendable, CaseIterable {
        case starting, idle, working, draining, exited
    }

    /// The id of its row, the owner of the parts that it claims.
    public let id: Int64
    /// Where it runs and what it serves.
    public let row: ChildRow
    public var state: State
    public var report: ChildReport
    /// When its row was made.
    public let startedAt: DatabaseTime
    /// Seconds since its last report, on the database's clock.
    public let heartbeatAgeSeconds: Double
    /// Why it ended, as the supervisor names reasons; nil while it runs.
    public let exitReason: String?
    /// More about its end, "" if nothing.
    public let exitDetail: String
    /// The tail of its standard error.
    public let stderrTail: String
    /// `alive`, `late` (no report for 5 s), `gone` (none for 15 s) or `exited`.
    public let health: String
    /// Outcomes that came from its journal after its death.
    public let journalReplayed: Int64
    /// The name of its application, "" if it is gone.
    public let applicationName: String
    /// The name of its routing, "" if it is gone.
    public let accountName: String
    /// Whether somebody asked for another one in its place.
    public let isRecycleRequested: Bool

    public init(
        id: Int64,
        row: ChildRow,
        state: State = .working,
        report: ChildReport,
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
        self.id = id
        self.row = row
        self.state = state
        self.report = report
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
    public func recordChildReport(_ report: ChildReport, child: Int64) async throws {
        var kept = report
        // What a gateway says may have it, and PostgreSQL keeps no such character.
        kept.lastError.unicodeScalars.removeAll { $0 == "\0" }
        try await query(
            """
            UPDATE pushmta_engine.mta_child SET report = $2::text::jsonb, last_heartbeat = clock_timestamp()
            WHERE id = $1 AND exited_at IS NULL
            """,
            [.int64(child), .text(try JSONBody.text(kept))]
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
            UPDATE pushmta_engine.mta_child SET exited_at = coalesce(exited_at, clock_timestamp()),
                exit_reason = $2, exit_detail = $3, stderr_tail = $4,
                report = report - ARRAY['parts_held', 'in_flight', 'rate'] #- '{connections,open}' #- '{connections,wanted}'
                    #- '{connections,streams_in_flight}' #- '{connections,limited_by}'
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
        c.id, c.host_id::text, c.generation, c.application_id, c.external_account_id, c.connector, c.state, c.report::text, c.started_at,
        c.heartbeat_age_seconds, c.exit_reason, c.exit_detail, c.stderr_tail, c.health, c.journal_replayed, coalesce(c.application, ''),
        coalesce(c.account, ''), c.recycle_requested
        """

    /// A report that cannot be read, of another version for example, keeps no other child from being seen.
    private static func report(_ text: String) -> ChildReport {
        (try? JSONBody.decode(ChildReport.self, from: text.utf8)) ?? ChildReport()
    }

    private static func childOverview(_ row: inout RowReader) throws -> ChildOverview {
        ChildOverview(
            id: try row.int64(),
            row: ChildRow(
                hostID: try row.text(),
                generation: try row.int32(),
                applicationID: try row.int32(),
                accountID: try row.int32(),
                connector: try row.choice()
            ),
            state: try row.choice(),
            report: report(try row.text()),
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
        report.connections.limitedBy == .connections
            && report.latencyP50Milliseconds >= Double(Self.slowAnswerMilliseconds)
    }
}

extension [ChildOverview] {
    /// The applications whose gateways answer so slowly that it binds a delivery, by delivery; from what the children say that send it.
    public var slowGateways: [Int64: [String]] {
        filter(\.waitsForSlowGateway).reduce(into: [:]) { slow, child in
            guard let delivery = child.report.deliveryID else { return }
            if slow[delivery]?.contains(child.applicationName) != true {
                slow[delivery, default: []].append(child.applicationName)
            }
        }
    }
}
