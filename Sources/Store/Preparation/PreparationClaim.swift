import PostgresClient
import PushCore

extension Store {
    /// Claims due deliveries, those being analysed, and those whose preparing host makes no progress, most urgent first;
    /// after them, deliveries that start soon.
    ///
    /// All of them are claimed together, because claiming ten small ones costs hardly more than one. If that fails,
    /// each is tried separately. A delivery that cannot be claimed because of its own data is returned to editing with
    /// the reason. One with data that this program does not understand is skipped: a newer program may have written it,
    /// and may prepare it. So is one whose target mapping cannot be read: it waits until the mapping can be read, or
    /// its validity ends.
    ///
    /// - Parameters:
    ///   - taken: deliveries that the host is already preparing. One that was prepared before its start is claimed again
    ///     when it starts.
    ///   - least: the minimum priority: the host already has more urgent ones. Deliveries that start soon are claimed
    ///     only with the default.
    ///   - limit: the maximum number.
    ///   - freezeSeconds: how long before its start a delivery is prepared, and how long an analysis is good for a start.
    /// - Returns: an empty list if there is nothing to claim.
    package func claimDeliveriesToPrepare(
        host: String,
        except taken: [Int64] = [],
        atLeast least: Int16 = .min,
        limit: Int = 1,
        freezeSeconds: Int = PreparationSettings().freezeSec
    ) async throws -> [PreparationJob] {
        let freeze = PostgresValue.int32(Int32(clamping: freezeSeconds))
        var passed: [Int64] = []
        var beyond = Self.looksBeyond
        while true {
            let picked = try await query(
                Self.pickSQL,
                [
                    .text(host), .int64Array(passed), .int16(least), .int32(Int32(clamping: limit)), .int32(beyond),
                    freeze, .int64Array(taken),
                ]
            )
            let (ids, hasMore) = try picked.one { row in (try row.int64Array(), try row.bool()) }
            if hasMore, beyond < Self.maxBeyond {
                beyond *= 8
                continue
            }
            guard !ids.isEmpty else { return [] }
            var claimed: [PreparationJob] = []
            do {
                claimed = try await claim(ids, host: host, freeze)
            } catch {
                for id in ids where !passed.contains(id) {
                    claimed += try await claimAlone(id, host: host, freeze, &passed)
                }
            }
            if !claimed.isEmpty { return claimed }
        }
    }

    /// Claims one delivery, or handles what prevents that.
    ///
    /// - Parameter passed: gets its id if nothing more can be done about it now.
    private func claimAlone(
        _ id: Int64,
        host: String,
        _ freeze: PostgresValue,
        _ passed: inout [Int64]
    ) async throws -> [PreparationJob] {
        do {
            return try await claim([id], host: host, freeze)
        } catch {
            switch PreparationDecision(error, target: nil) {
            case .waits(let reason, let isTimeout) where isTimeout || (error as? PostgresError)?.isLockTimeout == true:
                // Trying again is expensive.
                passed.append(id)
                let holder = await waitReason(reason, after: error)
                try await postponePreparation(id, reason: holder)
                passed += try await postponeLocked(reason: holder)
            case .waits(let reason, isTimeout: _):
                passed.append(id)
                try await notePreparation(id, waitsFor: reason)
            case .fails(let reason):
                _ = try await returnDelivery(id, reason: "Its preparation could not begin: \(reason)")
            case .passes:
                guard (error as? StoreError)?.code == .unexpectedAnswer else { throw error }
                passed.append(id)
            }
            return []
        }
    }

    /// Reads, freezes and marks the picked deliveries, except those that another host took first.
    private func claim(_ ids: [Int64], host: String, _ freeze: PostgresValue) async throws -> [PreparationJob] {
        // Read first, claim afterwards: an owner that cannot continue would keep other hosts away.
        let jobs = try await jobs(ids)
        let targets = try await chunkTargets(of: ids)
        let own = try await own(ids, host: host, freeze)
        return jobs.compactMap { job in
            // One that was changed since its job was read is claimed again.
            guard let target = targets[job.deliveryID], let own = own[job.deliveryID],
                own.preparation == job.preparation
            else { return nil }
            var job = job
            job.target = target
            job.resumed = own.resumed
            if own.isDropped { job.preparation += 1 }
            // What does not start now goes after all others.
            if own.state != .preparing { job.priority = .min }
            return job
        }
    }

    /// Marks deliveries as this host's and freezes those that start.
    ///
    /// - Returns: those that are now its own.
    private func own(_ ids: [Int64], host: String, _ freeze: PostgresValue) async throws -> [Int64: Own] {
        let parameters: [PostgresValue] = [.text(host), .int64Array(ids), freeze]
        // What their messages depend on is read after their rows are locked.
        let mark = [Self.claimLockSQL, Self.ownSQL].map { PostgresStatement($0, parameters) }
        return try await transaction(first: mark) { transaction, results in
            var own = try all(results[1], Own.init)
            if let place = own.firstIndex(where: \.isStale) {
                let stale = PostgresValue.int64(own[place].id)
                let isKept = try await transaction.execute([
                    PostgresStatement(Self.keepSQL, [stale]), PostgresStatement(Self.droppedSQL, [stale, .text(host)]),
                ])[0].one { try $0.bool() }
                if !isKept {
                    own[place].resumed = false
                    own[place].isDropped = true
                }
            }
            try await self.holdUnapproved(&own, transaction)
            let new = own.filter { !$0.resumed }
            if !new.isEmpty { try await self.freeze(new, freeze, transaction) }
            return Dictionary(own.map { ($0.id, $0) }) { first, _ in first }
        }
    }

    /// Holds those of the deliveries that begin now and may not leave: one whose messages are not counted yet is
    /// prepared and counted first; one that lacks an approval waits for it, and is no longer this host's.
    private func holdUnapproved(_ own: inout [Own], _ transaction: PostgresTransaction) async throws {
        let beginning = own.filter(\.mayNeedApproval).map(\.id)
        guard !beginning.isEmpty else { return }
        let held = try await transaction.execute(
            PostgresStatement(
                "SELECT h.delivery, h.is_counted FROM pushmta_engine.hold_unapproved($1) h",
                [.int64Array(beginning)]
            )
        )
        for (id, isCounted) in try all(held, { row in (try row.int64(), try row.bool()) }) {
            guard let place = own.firstIndex(where: { $0.id == id }) else { continue }
            if isCounted { own.remove(at: place) } else { own[place].state = .pending }
        }
    }

    /// A claimed delivery.
    private struct Own {
        let id: Int64
        /// Whether its preparation had begun before.
        var resumed: Bool
        var state: DeliveryState
        /// Whether it starts now, and services ask for approvals.
        let mayNeedApproval: Bool
        /// Whether it starts now, and messages that were prepared before its start may not leave.
        let isStale: Bool
        let preparation: Int32
        /// Whether what had been prepared was dropped just now.
        var isDropped = false

        init(_ row: inout RowReader) throws {
            id = try row.int64()
            resumed = try row.bool()
            state = try row.choice()
            mayNeedApproval = try row.bool()
            isStale = try row.bool()
            preparation = try row.int32()
        }
    }

    /// From when on the messages of a delivery leave that starts now. Supervisors may have been away for a moment.
    private static let beginning = "CASE WHEN now() < start_at + interval '1 hour' THEN start_at ELSE now() END"

    /// Drops the messages of a delivery, unless they may leave after all.
    private static let keepSQL = """
        SELECT pushmta_engine.keep_analysis(id, \(beginning)) FROM pushmta_engine.delivery WHERE id = $1
        """

    private static let droppedSQL = """
        UPDATE pushmta_engine.delivery SET preparing_host = $2, frozen_at = now(), filter_now = greatest(start_at, now())
        WHERE id = $1 AND frozen_at IS NULL
        """

    /// Releases claimed deliveries to any host, including this one.
    ///
    /// It never waits: a delivery that another transaction has locked stays this host's until others may take it over.
    package func leavePreparations(_ ids: [Int64], host: String) async throws {
        guard !ids.isEmpty else { return }
        try await query(
            """
            UPDATE pushmta_engine.delivery SET preparing_host = '' WHERE id = ANY(ARRAY(
                SELECT d.id FROM pushmta_engine.delivery d
                WHERE d.id = ANY($1::bigint[]) AND d.state IN ('analysing', 'pending', 'preparing') AND d.preparing_host = $2
                FOR NO KEY UPDATE SKIP LOCKED))
            """,
            [.int64Array(ids), .text(host)]
        )
    }

    /// A preparing host writes to the delivery with each chunk. After 5 s of silence another host may continue; a
    /// paused delivery can be continued at once.
    ///
    /// The cost of the look does not depend on how many deliveries are due, under way or scheduled: for each priority
    /// it reads the first due ones, each with one index step. Postponed deliveries, and those being prepared, have
    /// indexes of their own, and so have those that are due and have to be counted before they may leave. If all of the
    /// first ones are locked, which may last for hours, the second column says that more have to be read.
    static let pickSQL = """
        WITH RECURSIVE level AS (
            (SELECT d.priority FROM pushmta_engine.delivery d WHERE d.state = 'pending' AND d.wait_until IS NULL AND d.gate = ''
                ORDER BY d.priority DESC LIMIT 1)
            UNION ALL
            SELECT (SELECT d.priority FROM pushmta_engine.delivery d
                WHERE d.state = 'pending' AND d.wait_until IS NULL AND d.gate = '' AND d.priority < l.priority
                ORDER BY d.priority DESC LIMIT 1)
            FROM level l WHERE l.priority > $3
        ), first AS MATERIALIZED (
            SELECT c.id, l.priority, 1 AS line FROM level l CROSS JOIN LATERAL (
                SELECT d.id FROM pushmta_engine.delivery d
                WHERE d.state = 'pending' AND d.wait_until IS NULL AND d.gate = '' AND d.priority = l.priority
                    AND d.start_at <= now() AND d.id <> ALL($2::bigint[])
                ORDER BY d.start_at, d.id LIMIT $4 + $5) c
            UNION ALL
            (SELECT d.id, NULL, 2 FROM pushmta_engine.delivery d
                WHERE d.state = 'pending' AND d.wait_until IS NOT NULL AND \(isToBeTried)
                    AND (d.start_at <= now() OR d.kind = 'batch' AND NOT d.analysed AND $3 = \(Int16.min)
                        AND d.start_at <= now() + $6 * interval '1 second' AND d.id <> ALL($7::bigint[]))
                    AND d.id <> ALL($2::bigint[])
                ORDER BY d.priority DESC, d.start_at, d.id LIMIT $4 + $5)
            UNION ALL
            SELECT d.id, NULL, 3 FROM pushmta_engine.delivery d
            WHERE d.state IN ('preparing', 'analysing') AND d.id <> ALL($2::bigint[] || $7::bigint[])
            UNION ALL
            (SELECT d.id, NULL, 4 FROM pushmta_engine.delivery d
                WHERE d.state = 'pending' AND NOT d.analysed AND d.kind = 'batch' AND d.wait_until IS NULL AND $3 = \(Int16.min)
                    AND d.start_at > now() AND d.start_at <= now() + $6 * interval '1 second'
                    AND d.id <> ALL($2::bigint[] || $7::bigint[])
                ORDER BY d.start_at, d.id LIMIT $4 + $5)
            UNION ALL
            (SELECT d.id, NULL, 5 FROM pushmta_engine.delivery d
                WHERE d.state = 'pending' AND d.gate <> '' AND NOT d.analysed AND d.wait_until IS NULL AND $3 = \(Int16.min)
                    AND d.start_at <= now() AND d.id <> ALL($2::bigint[] || $7::bigint[])
                ORDER BY d.start_at, d.id LIMIT $4 + $5)
        ), picked AS MATERIALIZED (
            SELECT id, priority, start_at FROM pushmta_engine.delivery
            WHERE id = ANY(ARRAY(SELECT f.id FROM first f)) AND priority >= $3 AND \(claimable(freeze: "$6"))
            ORDER BY coalesce(start_at > now(), true), priority DESC, start_at, id LIMIT $4 FOR NO KEY UPDATE SKIP LOCKED
        )
        SELECT ARRAY(SELECT p.id FROM picked p ORDER BY coalesce(p.start_at > now(), true), p.priority DESC, p.start_at, p.id),
            EXISTS (SELECT FROM first f WHERE f.line = 2 OR f.priority >= $3 GROUP BY f.line, f.priority
                HAVING count(*) >= $4 + $5 AND NOT bool_or(f.id IN (SELECT p.id FROM picked p))
                    AND CASE f.line WHEN 1 THEN (f.priority > (SELECT max(p.priority) FROM picked p)) IS NOT FALSE
                        ELSE (SELECT count(*) FROM picked) < $4 END)
        """

    /// Read this many more than wanted, because other hosts look at the same moment; eight times as many each time that
    /// all were locked.
    private static let looksBeyond: Int32 = 8
    /// Reading more would cost more than it is worth.
    private static let maxBeyond: Int32 = 30_000

    /// A delivery that starts soon is prepared, too, and one that is due and may not leave yet. Once it may, its
    /// preparing host is left at once: any other may release what is held.
    private static func claimable(freeze: String) -> String {
        """
        (state = 'pending' AND start_at <= now() AND gate = ''
            OR state = 'pending' AND kind = 'batch' AND NOT analysed AND start_at <= now() + \(freeze) * interval '1 second'
                AND (preparing_host IN ($1, '') OR changed_at < now() - interval '5 seconds')
            OR state IN ('preparing', 'analysing')
                AND (preparing_host IN ($1, '') OR changed_at < now() - interval '5 seconds'))
            AND \(isToBeTried)
        """
    }

    private static let claimLockSQL = """
        SELECT FROM pushmta_engine.delivery WHERE id = ANY($2::bigint[]) AND \(claimable(freeze: "$3")) FOR NO KEY UPDATE SKIP LOCKED
        """

    /// Also returns whether each preparation had already begun, its state, whether its approval is to be checked, and
    /// whether its messages are to be dropped. That may take long, so at most one of those is claimed at a time.
    private static let ownSQL = """
        WITH free AS MATERIALIZED (
            SELECT id, coalesce(frozen_at, started_at) IS NOT NULL AS resumed,
                CASE WHEN \(begins) THEN 'preparing' ELSE state END AS state,
                \(begins) AND EXISTS (SELECT FROM pushmta_engine.approval_rule) AS is_checked,
                started_at IS NULL AND frozen_until IS NOT NULL AND \(begins)
                    AND pushmta_engine.analysis_fault(id, \(beginning)) IS NOT NULL AS is_stale
            FROM pushmta_engine.delivery
            WHERE id = ANY($2::bigint[]) AND \(claimable(freeze: "$3")) FOR NO KEY UPDATE SKIP LOCKED
        ), before AS (
            SELECT f.* FROM free f WHERE NOT f.is_stale
                OR f.id = (SELECT g.id FROM free g WHERE g.is_stale ORDER BY array_position($2::bigint[], g.id) LIMIT 1)
        )
        UPDATE pushmta_engine.delivery d SET state = b.state, preparing_host = $1, frozen_at = coalesce(d.frozen_at, now()),
            filter_now = coalesce(d.filter_now, greatest(d.start_at, now())),
            started_at = CASE WHEN b.state = 'preparing' THEN coalesce(d.started_at, now()) ELSE d.started_at END,
            changed_at = now()
        FROM before b WHERE d.id = b.id RETURNING d.id, b.resumed, b.state, b.is_checked, b.is_stale, d.preparation
        """

    private static let begins = "state = 'pending' AND start_at <= now() AND gate = ''"

    /// Records where preparations end, so that later rows are not included, and reserves what else they need. Each
    /// begins at its first target, because the author of the list may number the rows, even below zero.
    private func freeze(_ own: [Own], _ time: PostgresValue, _ transaction: PostgresTransaction) async throws {
        let parameters = [PostgresValue.int64Array(own.map(\.id))]
        var statements = [
            """
            UPDATE pushmta_engine.delivery_application a SET prepare_to = coalesce((SELECT max(s.id)
                FROM pushmta_engine.subscription s WHERE s.application_id = a.application_id), 0)
            WHERE a.delivery_id = ANY($1::bigint[])
            """,
            "SELECT pushmta_engine.freeze_targets(d.id) FROM unnest($1::bigint[]) d(id)",
            // Its service may have got sending hours since it was scheduled.
            "SELECT pushmta_engine.keep_plan(d.id) FROM unnest($1::bigint[]) d(id)",
            """
            SELECT pushmta_engine.ensure_partitions(d.log_day, d.log_day)
            FROM (SELECT DISTINCT log_day FROM pushmta_engine.delivery WHERE id = ANY($1::bigint[])) d
            """,
            "SELECT pushmta_engine.reserve_message_ids(d.id) FROM unnest($1::bigint[]) d(id)",
        ].map { PostgresStatement($0, parameters) }
        let held = own.filter { $0.state != .preparing }.map(\.id)
        if !held.isEmpty {
            statements.append(PostgresStatement(Self.frozenUntilSQL, [.int64Array(held), time]))
        }
        try await transaction.execute([Self.shortLockWait] + statements)
    }

    private static let frozenUntilSQL = """
        UPDATE pushmta_engine.delivery d SET frozen_until = greatest(now() + $2 * interval '1 second', d.start_at),
            frozen_digest = pushmta_engine.preparation_digest(d.id)
        WHERE d.id = ANY($1::bigint[])
        """

    /// What a delivery goes to, and its content.
    package func job(_ id: Int64) async throws -> PreparationJob {
        guard let job = try await jobs([id]).first else {
            throw StoreError(.notFound, "There is no delivery \(id).")
        }
        return job
    }

    /// The same for several deliveries, in the order of `ids`.
    private func jobs(_ ids: [Int64]) async throws -> [PreparationJob] {
        let parameters = [PostgresValue.int64Array(ids)]
        let of = "FROM pushmta_engine.delivery_application d WHERE d.delivery_id = ANY($1::bigint[])"
        let statements = [
            """
            SELECT id, label, content::text, wait_reason <> '', priority, preparation, target_kind = 'explicit',
                ARRAY(SELECT c.label FROM pushmta_engine.experiment_cell c WHERE c.delivery_id = d.id AND c.cell < 9 ORDER BY c.cell),
                ARRAY(SELECT coalesce(c.content, d.content)::text FROM pushmta_engine.experiment_cell c
                    WHERE c.delivery_id = d.id AND c.cell < 9 ORDER BY c.cell), valid_until
            FROM pushmta_engine.delivery d WHERE id = ANY($1::bigint[]) ORDER BY array_position($1, id)
            """,
            "SELECT d.delivery_id, d.application_id, d.external_account_id \(of) ORDER BY d.application_id",
            """
            SELECT \(ApplicationRow.columns) FROM pushmta_engine.application a
            WHERE a.id = ANY(ARRAY(SELECT d.application_id \(of)))
            """,
            """
            SELECT \(AccountRow.columns) FROM pushmta_engine.external_account e
            WHERE e.id = ANY(ARRAY(SELECT d.external_account_id \(of)))
            """,
            """
            SELECT \(CredentialNotice.columns) FROM pushmta_engine.credential c
            WHERE c.id = ANY(ARRAY(SELECT a.credential_id FROM pushmta_engine.application a
                WHERE a.id = ANY(ARRAY(SELECT d.application_id \(of)))))
            """,
        ]
        let results = try await group(statements.map { PostgresStatement($0, parameters) })
        let routes = try all(results[1]) { row in
            (delivery: try row.int64(), application: try row.int32(), account: try row.int32())
        }
        let applications = try all(results[2], ApplicationRow.init)
        let accounts = try all(results[3], AccountRow.init)
        let credentials = try all(results[4], CredentialNotice.init)
        return try all(results[0]) { row in
            let id = try row.int64()
            let own = routes.filter { $0.delivery == id }
            let goesTo = own.compactMap { route in applications.first { $0.id == route.application } }
            var job = PreparationJob(
                deliveryID: id,
                label: try row.text(),
                content: try row.text(),
                applications: goesTo,
                accounts: own.compactMap { route in accounts.first { $0.id == route.account } },
                credentials: goesTo.map { one in credentials.first { $0.id == one.credentialID } }
            )
            job.hasWaited = try row.bool()
            job.priority = try row.int16()
            job.preparation = try row.int32()
            job.isExplicit = try row.bool()
            let (labels, contents) = (try row.textArray(), try row.textArray())
            job.variants = zip(labels, contents).enumerated().map { place, variant in
                PreparationJob.Variant(number: Int16(place + 1), label: variant.0, content: variant.1)
            }
            job.validUntil = try row.timeOrNil()
            return job
        }
    }
}
