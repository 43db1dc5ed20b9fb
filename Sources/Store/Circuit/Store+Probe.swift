import PostgresClient
import PushCore

extension Store {
    /// Wins the due probe of an application's circuit and claims one part for it; nil if none is due or nothing is ready.
    ///
    /// The circuit is `probing` then, and the next probe is due later, should the prober end without a word. Send one message;
    /// then `closeCircuit` or `openCircuit`.
    ///
    /// Deliveries take turns, in the order of their ids, so that the fault of one does not keep the circuit open for ever; of the
    /// delivery's first parts that are due the one that was claimed least often goes first, as one may have bad tokens only.
    public func claimProbe(application: Int32, account: Int32, child: Int64) async throws -> ClaimedPart? {
        let result = try await query(
            Self.claimProbeSQL,
            [.int32(application), .int32(account), .int64(child)]
        )
        return result.rowCount == 0 ? nil : try Self.claimedPart(result, 0, isProbe: true)
    }

    /// So many parts take turns: a list of bad tokens may have some, and all of a large delivery are too many to be looked at.
    private static let probeCandidates = 100

    /// Whether a delivery has a part that the prober may claim: a scalar subquery, so that each is asked by the index of its own
    /// unfinished parts, whatever the planner believes of the others.
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
            SET state = 'claimed', owner = $3, fencing_token = p.fencing_token + 1, renewal = 0, claimed_at = now()
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
