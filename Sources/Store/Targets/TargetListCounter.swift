import PostgresClient
import PushCore

/// Counts the messages of a delivery that goes to a list of targets, for one application.
struct TargetListCounter: Sendable {
    let store: Store
    let delivery: Int64
    let application: Int32
    let target: ChunkTarget
    /// Whether a subscription may be named twice, and gets two messages.
    let allowsDuplicates: Bool
    /// The hold-out of its experiment; nil for none.
    let holdOut: TargetSampler.HoldOut?

    func count(named name: String, within limit: Duration) async throws -> TargetCount {
        // The parameters before the filter's; those between are unused.
        let own: [PostgresValue] = [
            .int64(delivery), .int64(0), .int64(0), .int32(application), .int64(0), .int64(0),
        ]
        let results = try await store.group([
            Store.limit(max(limit, .milliseconds(1))),
            PostgresStatement(sql, own + (target.filter?.parameters ?? []), prepare: false),
        ])
        return try results[1].one { row in
            TargetCount(application: name, messages: try row.int64(), excluded: try row.int64())
        }
    }

    /// Parameters: $1 delivery, $4 application, and those of the filter.
    private var sql: String {
        """
        WITH app AS MATERIALIZED (
            SELECT x.application_id FROM pushmta_engine.delivery_application x WHERE x.delivery_id = $1
        ), slice AS MATERIALIZED (
            \(listed)
        ), pool AS MATERIALIZED (
            SELECT * FROM slice
        ), \(target.filterTablesSQL)judged AS (
            SELECT s.application_id, s.id, s.user_key, s.registered_at,
                CASE \(PreparationChunk.exclusionCases(target).joined(separator: " ")) ELSE 0 END AS exclusion
            FROM pool s \(target.filterJoinsSQL)
        ), chosen AS (
            SELECT s.application_id, s.exclusion, \(place) AS place, \(heldOut) AS is_held_out FROM judged s WHERE s.exclusion >= 0
        )
        SELECT count(*) FILTER (WHERE c.exclusion = 0 AND c.place = 1 AND NOT c.is_held_out),
            count(*) FILTER (WHERE c.exclusion > 0 OR c.place > 1 OR c.is_held_out)
        FROM chosen c WHERE c.application_id = $4
        """
    }

    /// The subscriptions that the list names.
    private var listed: String {
        let columns = target.columns(and: ["application_id", "registered_at", "user_key"])
        return """
            SELECT \(columns) FROM (SELECT \(allowsDuplicates ? "" : "DISTINCT ")s.id FROM (
                SELECT s.id FROM pushmta.delivery_target t JOIN pushmta_engine.subscription s ON s.id = t.subscription_id
                WHERE t.delivery_id = $1
                UNION ALL
                SELECT s.id FROM pushmta.delivery_target t
                JOIN pushmta_engine.subscription s ON s.user_key = t.user_key AND s.user_key <> '' WHERE t.delivery_id = $1
                UNION ALL
                SELECT s.id FROM pushmta.delivery_target t CROSS JOIN app x
                JOIN pushmta_engine.subscription s ON s.application_id = x.application_id AND s.push_token = t.push_token AND s.enabled
                WHERE t.delivery_id = $1) s) n
            JOIN pushmta_engine.subscription s ON s.id = n.id WHERE s.application_id IN (SELECT x.application_id FROM app x)
            """
    }

    /// The place of a subscription among those of its person that would get the message.
    private var place: String {
        guard target.onePerUser else { return "1" }
        return """
            CASE WHEN s.user_key = '' OR s.exclusion <> 0 THEN 1 ELSE row_number() OVER (
                PARTITION BY s.user_key, s.exclusion = 0 ORDER BY s.registered_at DESC, s.id DESC) END
            """
    }

    private var heldOut: String { holdOut?.condition(of: "s") ?? "false" }
}
