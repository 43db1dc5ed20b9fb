import PostgresClient
import PushCore

extension Store {
    /// Claims up to `limit` due parts of an application and account for a child: highest priority first, then longest
    /// due.
    ///
    /// Nothing is claimed for an inactive account, while the application's circuit is not closed, or of a paused
    /// delivery. Each claim takes a new fencing token. Read `knownOutcomes` and `recovery` of parts that may have a
    /// history.
    ///
    /// - Parameter passed: deliveries to skip.
    package func claimParts(
        application: Int32,
        account: Int32,
        child: Int64,
        limit: Int,
        except passed: Set<Int64> = []
    ) async throws -> [ClaimedPart] {
        let parameters: [PostgresValue] = [.int32(application), .int32(account), .int64(child), .int64(Int64(limit))]
        return try Self.claimed(
            passed.isEmpty
                ? await query(Self.claimSQL, parameters)
                : await query(Self.claimOthersSQL, parameters + [.int64Array(passed.sorted())])
        )
    }

    /// The parts of a claim, most urgent first.
    static func claimed(_ result: PostgresResult) throws -> [ClaimedPart] {
        let parts = try (0..<result.rowCount).map { row in
            (due: try result.timestamp(row, 12), part: try claimedPart(result, row))
        }
        // RETURNING has no order of its own.
        return parts.sorted {
            ($1.part.priority, $0.due, $0.part.id) < ($0.part.priority, $1.due, $1.part.id)
        }.map(\.part)
    }

    /// The CTE is materialised so that SKIP LOCKED and LIMIT are decided once, whatever the plan of the update. Account
    /// and circuit are looked up once.
    static let claimSQL = claimSQL(more: "")

    /// A separate statement: the estimated selectivity of the condition would change the plan of the other.
    static let claimOthersSQL = claimSQL(more: "AND p.delivery_id <> ALL($5)")

    private static func claimSQL(more: String) -> String {
        """
        WITH picked AS MATERIALIZED (
            SELECT p.id \(duePartsSQL(more: more))
        )
        UPDATE pushmta_engine.delivery_part p
        SET state = 'claimed', owner = $3, fencing_token = p.fencing_token + 1, renewal = 0, claimed_at = now(),
                journal_length = 0
        FROM pushmta_engine.delivery d
        WHERE p.id = ANY(ARRAY(SELECT id FROM picked)) AND d.id = p.delivery_id
        RETURNING \(claimedColumns)
        """
    }

    /// Due parts `p` of application $1 and account $2, in the order in which they are sent, up to $4, locked.
    static func duePartsSQL(more: String) -> String {
        """
        FROM pushmta_engine.delivery_part p
            WHERE p.state = 'ready' AND p.application_id = $1 AND p.external_account_id = $2 AND p.not_before <= now()
                AND (p.closes_at IS NULL OR p.closes_at > now())
                \(more)
                AND EXISTS (SELECT FROM pushmta_engine.external_account e WHERE e.id = $2 AND e.active)
                AND NOT EXISTS (SELECT FROM pushmta_engine.application_health h WHERE h.application_id = $1 AND \(CircuitSQL.isOpen))
                AND NOT \(TroubleSQL.isTrouble(application: "$1", account: "$2"))
                AND \(claimableDelivery)
            ORDER BY p.priority DESC, p.not_before, p.id
            LIMIT $4 FOR UPDATE OF p SKIP LOCKED
        """
    }

    /// The state of the parts normally decides this; the condition is for parts that a program of an older version left
    /// ready.
    static let claimableDelivery = """
        (SELECT d.state FROM pushmta_engine.delivery d WHERE d.id = p.delivery_id) IN ('in_progress', 'preparing')
        """

    static let claimedColumns = """
        p.id, p.delivery_id, p.fencing_token, p.size, p.attempt, p.log_day, p.priority, p.dispatch_mark, p.has_variables, p.dense,
            p.application_id, d.ambiguity_policy, p.not_before, d.state, clock_timestamp(),
            EXISTS (SELECT FROM pushmta_engine.application_health b
                WHERE b.application_id = p.application_id AND b.refusals_believed_through >= coalesce(p.released_as, p.id)), p.valid_until,
            \(SubscriptionAcceptance.isApplicationProven), p.alone, p.alone AND p.load_failures > 0 AND \(SetAside.othersPass),
            p.refusals, p.waits_for, p.closes_at, coalesce(p.variant, 0::smallint)
        """

    static func claimedPart(_ rows: PostgresResult, _ row: Int, isProbe: Bool = false) throws -> ClaimedPart {
        ClaimedPart(
            id: try rows.int64(row, 0),
            deliveryID: try rows.int64(row, 1),
            fencingToken: try rows.int64(row, 2),
            size: try rows.int32(row, 3),
            attempt: try rows.int16(row, 4),
            refusals: try rows.int16(row, 20),
            logDay: LogDay(daysSince2000: try rows.date(row, 5)),
            priority: try rows.int16(row, 6),
            dispatchMark: try rows.int32(row, 7),
            applicationID: try rows.int32(row, 10),
            isDense: try rows.bool(row, 9),
            hasVariables: try rows.bool(row, 8),
            ambiguityPolicy: try choice(rows, row, 11),
            deliveryState: try choice(rows, row, 13),
            isProbe: isProbe,
            believesRefusals: try rows.bool(row, 15),
            isApplicationProven: try rows.bool(row, 17),
            isAlone: try rows.bool(row, 18),
            othersPass: try rows.bool(row, 19),
            waitsFor: try rows.textOrNil(row, 21),
            claimedAt: try rows.time(row, 14),
            dueAt: try rows.time(row, 12),
            validUntil: try rows.timeOrNil(row, 16),
            closesAt: try rows.timeOrNil(row, 22),
            variant: try rows.int16(row, 23)
        )
    }

    /// Sequence numbers of a part that already have an outcome; to be read after the claim.
    package func knownOutcomes(_ part: ClaimedPart) async throws -> Set<Int32> {
        let result = try await query(
            Self.knownOutcomesSQL,
            [.date(daysSince2000: part.logDay.daysSince2000), .int64(part.deliveryID), .int64(part.id)]
        )
        var sequences: [Int32] = []
        try result.appendColumn(0, to: &sequences)
        return Set(sequences)
    }

    static let knownOutcomesSQL = """
        SELECT b.sequence
        FROM pushmta_engine.delivery_part_target t
        JOIN pushmta_engine.broad_log b ON b.log_day = $1 AND b.delivery_id = $2
            AND b.sequence >= t.first_sequence AND b.sequence < t.first_sequence + cardinality(t.subscription_ids)
        WHERE t.log_day = $1 AND t.part_id = $3 AND t.sequences IS NULL
        UNION ALL
        SELECT b.sequence
        FROM pushmta_engine.delivery_part_target t
        JOIN pushmta_engine.broad_log b ON b.log_day = $1 AND b.delivery_id = $2 AND b.sequence = ANY(t.sequences)
        WHERE t.log_day = $1 AND t.part_id = $3 AND t.sequences IS NOT NULL
        """

    /// What lost owners of a part may have sent, and the soft errors they received; to be read after the claim.
    ///
    /// Of several soft answers to one message, the one with the highest attempt counts.
    package func recovery(_ part: ClaimedPart) async throws -> PartRecovery {
        let result = try await query(Self.recoverySQL, [.int64(part.id), .int64(part.fencingToken)])
        var recovery = PartRecovery()
        var answers: [Int32: PartRecovery.SoftAnswer] = [:]
        try result.each { row in
            recovery.ambiguousThrough = max(recovery.ambiguousThrough, try row.int32())
            let ambiguous = try row.int32Array()
            recovery.ambiguous += ambiguous
            // Tokens increase one by one: between this owner and the present one there was another.
            if try row.int64() < part.fencingToken - 1 { recovery.heldSince.formUnion(ambiguous) }
        }
        let soft = try await query(Self.softAnswersSQL, [.int64(part.id), .int64(part.fencingToken)])
        for answer in try all(soft, Self.softAnswer) {
            if let other = answers[answer.sequence], !answer.replaces(other) { continue }
            answers[answer.sequence] = answer
        }
        recovery.ambiguous = Set(recovery.ambiguous).sorted()
        recovery.softAnswers = answers.values.sorted { $0.sequence < $1.sequence }
        return recovery
    }

    private static func softAnswer(_ row: inout RowReader) throws -> PartRecovery.SoftAnswer {
        PartRecovery.SoftAnswer(
            sequence: try row.int32(),
            attempt: try row.int16(),
            httpStatus: try row.int16(),
            reason: try row.textOrNil() ?? "",
            notBefore: try row.timeOrNil(),
            maxDelayMilliseconds: try row.int64OrNil()
        )
    }

    private static let recoverySQL = """
        SELECT ambiguous_through, ambiguous, fencing_token FROM pushmta_engine.delivery_part_recovery
        WHERE part_id = $1 AND fencing_token < $2 ORDER BY fencing_token
        """

    /// A row has the time at which it was written, by the same clock as its waiting times: the difference survives a
    /// clock step.
    private static let softAnswersSQL = """
        SELECT s.sequence, s.attempt, s.http_status, s.reason, s.not_before,
            greatest(ceil(extract(epoch FROM s.not_before - r.created_at) * 1000), 0)::bigint
        FROM pushmta_engine.delivery_part_recovery r
        CROSS JOIN LATERAL unnest(r.soft_sequences, r.soft_attempts, r.soft_http_statuses, r.soft_reasons, r.soft_not_before)
            s(sequence, attempt, http_status, reason, not_before)
        WHERE r.part_id = $1 AND r.fencing_token < $2 ORDER BY r.fencing_token
        """
}

/// Parts that were returned because their push tokens were refused while none of their messages got through.
enum SetAside {
    /// Messages that got through may be this many times fewer than those set aside. One working device among twenty is
    /// enough to believe that the gateway is right and the tokens are bad; a developer's phone among thousands of the
    /// other environment is not.
    private static let share = 20
    /// This many parts set aside show that the delivery is at fault, without trying the others.
    private static let maxParts = 20

    /// Whether messages of other parts of the delivery `d` of a part `p` get through. In a continuous delivery each
    /// message stands for itself.
    static let othersPass = """
        (d.kind = 'continuous' OR (SELECT coalesce(sum(o.sent), 0) * \(share) >= \(waiting) AND coalesce(sum(o.sent), 0) > 0
            FROM pushmta_engine.delivery_part o WHERE o.delivery_id = d.id))
        """

    private static let waiting = "coalesce(sum(o.size) FILTER (WHERE o.alone AND o.state <> 'done'), 0)"

    /// The delivery of a part, if it has nothing else left to try, or has enough parts set aside, and almost nothing of
    /// it got through.
    static let refusedDeliverySQL = """
        SELECT d.id FROM pushmta_engine.delivery d
        WHERE d.id = (SELECT p.delivery_id FROM pushmta_engine.delivery_part p WHERE p.id = $1)
            AND d.kind = 'batch' AND d.state IN ('preparing', 'in_progress') AND NOT \(othersPass)
            AND (SELECT count(*) FILTER (WHERE o.alone) >= \(maxParts) OR d.state = 'in_progress' AND bool_and(o.alone)
                FROM pushmta_engine.delivery_part o WHERE o.delivery_id = d.id AND o.state <> 'done')
        """
}

extension Store {
    /// The delivery to pause, if it belongs to a part that was set aside and all of it seems to go to tokens that the
    /// gateway refuses.
    ///
    /// That is so if its other parts were set aside too, or twenty of them, and almost nothing of it got through.
    package func refusedDelivery(ofPart part: Int64) async throws -> Int64? {
        let result = try await query(SetAside.refusedDeliverySQL, [.int64(part)])
        return try result.oneOrNil { try $0.int64() }
    }
}
