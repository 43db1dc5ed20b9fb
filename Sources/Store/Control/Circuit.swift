import PostgresClient
import PushCore

extension Store {
    /// Opens an application's circuit: every message would fail, so none is sent until a probe passes.
    ///
    /// Any number of children may report this at once. If a probe was under way or due, it counts as failed, and the
    /// next one comes later: after 5 s, doubling to 300 s.
    ///
    /// - Parameters:
    ///   - account: the account on which the cause was found, nil if it concerns all.
    ///   - holdsTokenEffects: what gateways report about tokens, from now until the circuit is closed, is held back.
    package func openCircuit(
        application: Int32,
        account: Int32? = nil,
        reason: String,
        remedy: String,
        holdsTokenEffects: Bool = false
    ) async throws {
        var statements = [
            PostgresStatement(
                Self.openCircuitSQL,
                [
                    .int32(application), account.map(PostgresValue.int32) ?? .null, .text(reason), .text(remedy),
                    .bool(holdsTokenEffects),
                ]
            )
        ]
        if holdsTokenEffects { statements.append(PostgresStatement(Self.holdSQL, [.int32(application)])) }
        try await group(statements)
    }

    private static let openCircuitSQL = """
        INSERT INTO pushmta_engine.application_health AS h (application_id, external_account_id, state, reason, remedy, opened_at,
            next_probe_at, probes, token_effects_held)
        VALUES ($1, $2::integer, 'open', $3, $4, now(), now() + \(CircuitSQL.interval(probes: "0")), 0, $5)
        ON CONFLICT (application_id) DO UPDATE SET state = 'open',
            external_account_id = CASE WHEN \(stays) THEN h.external_account_id ELSE excluded.external_account_id END,
            reason = CASE WHEN \(stays) THEN h.reason ELSE excluded.reason END,
            remedy = CASE WHEN \(stays) THEN h.remedy ELSE excluded.remedy END,
            opened_at = CASE WHEN \(CircuitSQL.isOpen) THEN h.opened_at ELSE now() END,
            probes = CASE WHEN NOT (\(CircuitSQL.isOpen)) THEN 0 WHEN \(isDue) THEN h.probes + 1 ELSE h.probes END,
            next_probe_at = CASE WHEN \(stays) THEN h.next_probe_at
                WHEN NOT (\(CircuitSQL.isOpen)) THEN now() + \(CircuitSQL.interval(probes: "0"))
                ELSE now() + \(CircuitSQL.interval(probes: "h.probes + CASE WHEN \(isDue) THEN 1 ELSE 0 END")) END,
            token_effects_held = $5 OR h.token_effects_held AND \(CircuitSQL.isOpen),
            changed_at = CASE WHEN \(stays) THEN h.changed_at ELSE now() END
        """

    /// An open circuit whose probe is not due: another child reported the same a moment ago.
    private static let stays = "(h.state = 'open' AND h.next_probe_at > now())"
    /// A due probe that no child took counts now; one that was taken counted then.
    private static let isDue = "(h.state = 'open' AND h.next_probe_at <= now())"

    private static let holdSQL = """
        UPDATE pushmta_engine.token_event e SET state = 'held'
        WHERE e.application_id = $1 AND pushmta_engine.is_doubtful(e.kind, e.part_id) AND e.state = 'pending'
        """

    /// Closes an application's circuit because a message got through; token effects that were held are undone.
    package func closeCircuit(application: Int32) async throws {
        try await query("SELECT pushmta_engine.close_circuit($1, false)", [.int32(application)])
    }

    /// Shows a problem that passes without help, such as an unreachable gateway; "" as the reason says that it has
    /// passed.
    ///
    /// The circuit does not change, and an open one keeps its own reason.
    package func showTrouble(
        application: Int32,
        account: Int32? = nil,
        reason: String,
        remedy: String
    ) async throws {
        try await query(
            """
            INSERT INTO pushmta_engine.application_health AS h (application_id, external_account_id, state, reason, remedy)
            SELECT $1, $2::integer, 'closed', $3, $4
            WHERE $3 <> '' OR EXISTS (SELECT FROM pushmta_engine.application_health o WHERE o.application_id = $1 AND o.reason <> '')
            ON CONFLICT (application_id) DO UPDATE SET external_account_id = excluded.external_account_id, state = 'closed',
                reason = excluded.reason, remedy = excluded.remedy, changed_at = now()
            WHERE NOT (\(CircuitSQL.isOpen)) AND (h.reason <> excluded.reason OR h.remedy <> excluded.remedy)
            """,
            [
                .int32(application), account.map(PostgresValue.int32) ?? .null, .text(reason),
                .text(reason.isEmpty ? "" : remedy),
            ]
        )
    }

    /// The known health of applications. One that is not listed has a closed circuit and no problem.
    package func applicationHealth() async throws -> [ApplicationHealthRow] {
        let result = try await query(Self.healthSQL + " ORDER BY h.application_id")
        return try all(result, Self.health)
    }

    static let healthSQL = """
        SELECT h.application_id, pushmta_engine.circuit_of(h.state, h.next_probe_at), h.reason, h.remedy, h.probes, h.opened_at,
            extract(epoch FROM h.next_probe_at - clock_timestamp())::double precision, h.token_effects_held
        FROM pushmta_engine.application_health h
        """

    static func health(_ row: inout RowReader) throws -> ApplicationHealthRow {
        ApplicationHealthRow(
            applicationID: try row.int32(),
            state: try row.choice(),
            reason: try row.text(),
            remedy: try row.text(),
            probes: try row.int32(),
            openedAt: try row.timeOrNil(),
            nextProbeInSeconds: try row.doubleOrNil(),
            tokenEffectsHeld: try row.bool()
        )
    }
}

extension Store {
    /// The circuits of all applications by name; monitoring rights suffice.
    package func circuits() async throws -> [CircuitRow] {
        let result = try await query(
            """
            SELECT a.name, a.platform, a.environment, a.id, a.circuit, a.circuit_reason, a.circuit_remedy, a.probes, a.circuit_opened_at,
                extract(epoch FROM a.next_probe_at - clock_timestamp())::double precision, a.token_effects_held
            FROM pushmta.application a ORDER BY a.name
            """
        )
        return try all(result) { row in
            CircuitRow(
                application: try row.text(),
                platform: try row.choice(),
                environment: try row.choice(),
                health: try Self.health(&row)
            )
        }
    }
}

extension Store {
    /// Takes the due probe of an application's circuit and claims one part for it; nil if none is due or no part is
    /// ready.
    ///
    /// The circuit is then `probing`, and the next probe is due later, in case the prober dies. Send one message, then
    /// call `closeCircuit` or `openCircuit`.
    ///
    /// Deliveries take turns, in the order of their ids, so that a faulty delivery does not keep the circuit open
    /// forever. Of the delivery's first due parts, the one claimed least often goes first, because some may have only
    /// bad tokens.
    package func claimProbe(application: Int32, account: Int32, child: Int64) async throws -> ClaimedPart? {
        let result = try await query(
            Self.claimProbeSQL,
            [.int32(application), .int32(account), .int64(child)]
        )
        return result.rowCount == 0 ? nil : try Self.claimedPart(result, 0, isProbe: true)
    }

    /// The number of parts that take turns. A list of bad tokens may fill several parts, and a large delivery has too
    /// many to read them all.
    private static let probeCandidates = 100

    /// Whether a delivery has a part that the prober may claim. It is a scalar subquery, so that each delivery is
    /// checked by the index of its own unfinished parts, whatever the planner estimates.
    private static let hasDuePart = """
        (SELECT true FROM pushmta_engine.delivery_part p WHERE p.delivery_id = d.id AND p.state <> 'done' AND p.state = 'ready'
            AND p.application_id = $1 AND p.external_account_id = $2 AND p.not_before <= now() LIMIT 1)
        """

    static let claimProbeSQL = """
        WITH won AS MATERIALIZED (
            SELECT h.application_id, h.probed_delivery FROM pushmta_engine.application_health h
            WHERE h.application_id = $1 AND h.state <> 'closed' AND h.next_probe_at <= now()
                AND EXISTS (SELECT FROM pushmta_engine.external_account e WHERE e.id = $2 AND e.active)
            FOR NO KEY UPDATE SKIP LOCKED
        ), turn AS MATERIALIZED (
            SELECT d.id FROM won w CROSS JOIN pushmta_engine.delivery d
            WHERE d.state IN ('in_progress', 'preparing') AND \(hasDuePart)
            ORDER BY d.id <= w.probed_delivery, d.id
            LIMIT 1
        ), first AS MATERIALIZED (
            SELECT p.id, p.fencing_token, p.priority, p.not_before FROM pushmta_engine.delivery_part p
            WHERE p.state = 'ready' AND p.application_id = $1 AND p.external_account_id = $2 AND p.not_before <= now()
                AND p.delivery_id = (SELECT t.id FROM turn t)
            ORDER BY p.priority DESC, p.not_before, p.id
            LIMIT \(probeCandidates)
        ), picked AS MATERIALIZED (
            SELECT p.id FROM pushmta_engine.delivery_part p
            WHERE p.state = 'ready'
                AND p.id = (SELECT f.id FROM first f ORDER BY f.fencing_token, f.priority DESC, f.not_before, f.id LIMIT 1)
            FOR NO KEY UPDATE OF p SKIP LOCKED
        ), claimed AS (
            UPDATE pushmta_engine.delivery_part p
            SET state = 'claimed', owner = $3, fencing_token = p.fencing_token + 1, renewal = 0, claimed_at = now(),
                journal_length = 0
            FROM pushmta_engine.delivery d
            WHERE p.id = ANY(ARRAY(SELECT id FROM picked)) AND d.id = p.delivery_id
            RETURNING \(claimedColumns)
        ), probing AS (
            UPDATE pushmta_engine.application_health h SET state = 'probing', probes = h.probes + 1, changed_at = now(),
                probed_delivery = (SELECT c.delivery_id FROM claimed c),
                next_probe_at = now() + \(CircuitSQL.probingInterval(probes: "h.probes + 1"))
            FROM won w WHERE h.application_id = w.application_id AND EXISTS (SELECT FROM claimed)
        )
        SELECT * FROM claimed
        """
}
