import PostgresClient
import PushCore

/// A delivery's counts in one snapshot: `target = pending + sent + failed + ignored + notApplicable + canceled +
/// unknown`.
package struct DeliveryProgress: Sendable {
    package let id: Int64
    package let label: String
    package let state: DeliveryState
    /// Why it failed, "" if it has not.
    package let stateReason: String
    /// Messages prepared so far (final once prepared).
    package let target: Int64
    /// People left out at preparation.
    package let excluded: Int64
    /// Messages without an outcome.
    package let pending: Int64
    /// Messages that the gateway accepted.
    package let sent: Int64
    /// Messages refused permanently.
    package let failed: Int64
    /// Messages not sent because they would have been too late or unwanted.
    package let ignored: Int64
    /// Messages whose subscription was gone or disabled at sending.
    package let notApplicable: Int64
    /// Messages of a stopped delivery.
    package let canceled: Int64
    /// Messages whose arrival is unknown, with the policy `report`.
    package let unknown: Int64
    /// Outcomes stored for an owner that had lost its part.
    package let lateOutcomes: Int64
    /// Messages sent again although the gateway may have received them.
    package let resentAfterAmbiguity: Int64
    /// Outcomes that came from journals of dead children.
    package let journalReplayed: Int64
    /// Parts that wait for a child.
    package let partsReady: Int64
    /// Parts that a child holds.
    package let partsClaimed: Int64
    /// Parts that are held back.
    package let partsWaiting: Int64
    package let partsDone: Int64
    /// Whether all parts are created.
    package let prepared: Bool
    /// When it was started, nil before.
    package let startedAt: DatabaseTime?
    /// When its last outcome was stored and it ended, nil before.
    package let finishedAt: DatabaseTime?
    /// The database's time at this snapshot.
    package let now: DatabaseTime
    /// Whether its target is frozen at its start (batch), or messages are added to it (continuous).
    package let kind: DeliveryKind
    /// The continuous delivery whose day it is, nil if it is not a day.
    package let parentID: Int64?
    /// Why it cannot be prepared now, or why some of its messages cannot be loaded; "" if it waits for nothing.
    package let waitingReason: String
    /// Whether it carries one-time codes, so that it also goes to people who opted out.
    package let isOneTimeCode: Bool
    /// How many of its messages go to seed addresses in addition to its target; `target` and the outcomes include them.
    package let seeds: Int64
    /// When it starts or started; nil while it is edited.
    package let startAt: DatabaseTime?
    /// The name of its category; nil if it has none.
    package let category: String?
    /// Since when lists leave it out; nil if they show it.
    package let archivedAt: DatabaseTime?

    /// Why it is in its state, or what it waits for, on one line; the reason itself has a line for each problem.
    package var reasonLine: String {
        (stateReason.isEmpty ? waitingReason : stateReason).split(separator: "\n").joined(separator: "; ")
    }

    /// Whether it is under way but sends nothing: all its remaining parts are held up, or no child holds any of them.
    package var standsStill: Bool {
        guard state == .inProgress else { return false }
        // A continuous delivery has the messages of its days, and waits for what they wait for.
        if kind == .continuous, parentID == nil { return !waitingReason.isEmpty }
        guard pending > 0 else { return false }
        return !waitingReason.isEmpty || partsClaimed == 0
    }

    /// The counts of a delivery.
    package init(
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
        waitingReason: String = "",
        isOneTimeCode: Bool = false,
        seeds: Int64 = 0,
        startAt: DatabaseTime? = nil,
        category: String? = nil,
        archivedAt: DatabaseTime? = nil
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
        self.isOneTimeCode = isOneTimeCode
        self.seeds = seeds
        self.startAt = startAt
        self.category = category
        self.archivedAt = archivedAt
    }
}

/// The counts of a delivery's messages to one application: `target = pending + sent + failed + other`.
package struct ApplicationProgress: Sendable, Hashable {
    /// The application's name; "" if no longer known.
    package let application: String
    /// Messages prepared so far.
    package let target: Int64
    /// Messages without an outcome.
    package let pending: Int64
    /// Messages that the gateway accepted.
    package let sent: Int64
    /// Messages refused permanently.
    package let failed: Int64
    /// All others that have ended.
    package let other: Int64

    /// The counts of an application.
    package init(application: String, target: Int64, pending: Int64, sent: Int64, failed: Int64, other: Int64) {
        self.application = application
        self.target = target
        self.pending = pending
        self.sent = sent
        self.failed = failed
        self.other = other
    }
}

extension Store {
    /// A delivery's counts in one snapshot.
    package func deliveryProgress(_ id: Int64) async throws -> DeliveryProgress {
        let result = try await query("SELECT \(Self.progressColumns) FROM pushmta.delivery_status($1) p", [.int64(id)])
        return try first(result, orThrow: "There is no delivery \(id).", Self.progress)
    }

    /// The newest deliveries with their counts.
    package func deliveries(limit: Int = 20, withArchived: Bool = true) async throws -> [DeliveryProgress] {
        let result = try await query(
            """
            SELECT \(Self.progressColumns) FROM pushmta.delivery_progress p WHERE $2 OR p.archived_at IS NULL
            ORDER BY p.id DESC LIMIT $1
            """,
            [.int64(Int64(limit)), .bool(withArchived)]
        )
        return try all(result, Self.progress)
    }

    /// The deliveries that have not ended, newest first: all that were started, and those in editing that are among the
    /// newest.
    package func unfinishedDeliveries(amongNewest limit: Int = 50) async throws -> [DeliveryProgress] {
        let result = try await query(
            """
            SELECT \(Self.progressColumns) FROM pushmta.delivery_progress p
            WHERE p.state IN ('analysing', 'ready', 'pending', 'preparing', 'in_progress', 'paused')
            UNION ALL
            SELECT \(Self.progressColumns) FROM pushmta.delivery_progress p
            WHERE p.state = 'editing'
                AND p.id >= (SELECT min(n.id) FROM (SELECT e.id FROM pushmta.delivery_progress e ORDER BY e.id DESC LIMIT $1) n)
            ORDER BY 1 DESC
            """,
            [.int64(Int64(limit))]
        )
        return try all(result, Self.progress)
    }

    /// The deliveries under way, also those being analysed, in the order in which they are served, at most this many; the
    /// cost does not grow with the number of others. Monitoring rights suffice.
    package func deliveriesUnderWay(atMost limit: Int32) async throws -> [DeliveryProgress] {
        try all(try await query(Self.underWaySQL, [.int32(limit)]), Self.progress)
    }

    /// In the order of the index of open deliveries, so that only the parts of these deliveries are counted.
    static let underWaySQL = """
        SELECT \(progressColumns) FROM pushmta.delivery_progress p
        WHERE p.state IN ('analysing', 'pending', 'preparing', 'in_progress', 'paused')
        ORDER BY p.priority DESC, p.served_from, p.id LIMIT $1
        """

    /// The counts of a delivery's messages to each application, by name; with the days of a continuous one.
    package func applicationProgress(delivery id: Int64) async throws -> [ApplicationProgress] {
        let result = try await query(
            """
            SELECT coalesce(a.name, ''), c.target, c.pending, c.sent, c.failed, c.target - c.pending - c.sent - c.failed
            FROM (
                SELECT p.application_id, sum(p.size - p.handed_over)::bigint AS target,
                    coalesce(sum(CASE WHEN p.state <> 'done' THEN r.rest END), 0)::bigint AS pending, sum(p.sent)::bigint AS sent,
                    sum(p.failed + CASE WHEN p.rest_status = 2 THEN r.rest ELSE 0 END)::bigint AS failed
                FROM pushmta_engine.delivery_part p
                CROSS JOIN LATERAL (SELECT p.size - p.handed_over - (\(StatusCounts.sumSQL)) AS rest) r
                WHERE p.delivery_id = ANY(ARRAY(SELECT $1::bigint UNION ALL SELECT d.id FROM pushmta_engine.delivery d
                    WHERE d.kind = 'continuous' AND d.parent_delivery_id = $1))
                GROUP BY p.application_id
            ) c LEFT JOIN pushmta_engine.application a ON a.id = c.application_id ORDER BY 1
            """,
            [.int64(id)]
        )
        return try all(result) { row in
            ApplicationProgress(
                application: try row.text(),
                target: try row.int64(),
                pending: try row.int64(),
                sent: try row.int64(),
                failed: try row.int64(),
                other: try row.int64()
            )
        }
    }

    package static let progressColumns = """
        p.id, p.label, p.state, p.state_reason, p.target, p.excluded, p.pending, p.sent, p.failed, p.ignored,
        p.not_applicable, p.canceled, p.unknown, p.late_outcomes, p.resent_after_ambiguity, p.journal_replayed,
        p.parts_ready, p.parts_claimed, p.parts_waiting, p.parts_done, p.prepared, p.started_at, p.finished_at, p.snapshot_at,
        p.kind, p.parent_delivery_id, p.waiting_reason, p.one_time_code, p.seeds, p.start_at, p.category, p.archived_at
        """

    package static func progress(_ row: inout RowReader) throws -> DeliveryProgress {
        DeliveryProgress(
            id: try row.int64(),
            label: try row.text(),
            state: try row.choice(),
            stateReason: try row.text(),
            target: try row.int64(),
            excluded: try row.int64(),
            pending: try row.int64(),
            sent: try row.int64(),
            failed: try row.int64(),
            ignored: try row.int64(),
            notApplicable: try row.int64(),
            canceled: try row.int64(),
            unknown: try row.int64(),
            lateOutcomes: try row.int64(),
            resentAfterAmbiguity: try row.int64(),
            journalReplayed: try row.int64(),
            partsReady: try row.int64(),
            partsClaimed: try row.int64(),
            partsWaiting: try row.int64(),
            partsDone: try row.int64(),
            prepared: try row.bool(),
            startedAt: try row.timeOrNil(),
            finishedAt: try row.timeOrNil(),
            now: try row.time(),
            kind: try row.choice(),
            parentID: try row.int64OrNil(),
            waitingReason: try row.text(),
            isOneTimeCode: try row.bool(),
            seeds: try row.int64(),
            startAt: try row.timeOrNil(),
            category: try row.textOrNil(),
            archivedAt: try row.timeOrNil()
        )
    }

    /// The outcomes of a delivery's messages, by status, reason and kind of failure; most frequent first.
    ///
    /// Sent messages are counted from the parts, so that the cost does not grow with their number.
    package func outcomeCounts(delivery id: Int64) async throws -> [OutcomeCount] {
        let result = try await query(
            """
            SELECT 1::smallint, '', coalesce(sum(sent), 0)::bigint AS n, NULL::smallint FROM pushmta_engine.delivery_part WHERE delivery_id = $1
            HAVING sum(sent) > 0
            UNION ALL
            SELECT b.status, coalesce(b.reason, ''), count(*), b.failure
            FROM pushmta_engine.delivery d
            JOIN pushmta_engine.broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id AND b.status <> 1
            WHERE d.id = $1 GROUP BY 1, 2, 4
            UNION ALL
            SELECT p.rest_status, coalesce(p.rest_reason, ''), sum(p.size - (\(StatusCounts.sumSQL)))::bigint, NULL
            FROM pushmta_engine.delivery_part p WHERE p.delivery_id = $1 AND p.rest_status IS NOT NULL
            GROUP BY 1, 2 HAVING sum(p.size - (\(StatusCounts.sumSQL))) > 0
            ORDER BY n DESC, 1, 2
            """,
            [.int64(id)]
        )
        return try all(result) { row in
            OutcomeCount(
                status: MessageStatus(rawValue: try row.int16()),
                reason: try row.text(),
                count: try row.int64(),
                failure: try row.int16OrNil().flatMap(MessageFailure.init(code:))
            )
        }
    }

    /// Why people were left out of a delivery at preparation; most frequent reason first.
    package func exclusionCounts(delivery id: Int64) async throws -> [OutcomeCount] {
        let result = try await query(
            "SELECT e.reason, e.messages FROM pushmta_engine.api_exclusion_counts($1) e",
            [.int64(id)]
        )
        return try all(result) { row in
            OutcomeCount(status: nil, reason: try row.text(), count: try row.int64())
        }
    }
}
