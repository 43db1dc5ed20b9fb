import PostgresClient
import PushCore

/// The plain inserts into the broad log; they run behind the fence in the same transaction, so the part's row is locked and
/// a part that is not held gives no rows. A row that exists already is a unique violation.
enum BroadLogInsert {
    static func run(_ run: OutcomeBatch.Run) -> PostgresStatement {
        let parameters: [PostgresValue] = [
            .int64(run.key.holding.part), .int64(run.key.holding.token), .int16(run.key.status.rawValue),
            .int16(run.key.httpStatus), .int16(run.key.attempt), .int64Array(run.subscriptionIDs),
            .int32Array(run.sequences),
            .heldState,
        ]
        guard run.key.reason.isEmpty else {
            return PostgresStatement(runWithReasonSQL, parameters + [.text(run.key.reason)])
        }
        return run.gatewayMessageIDs.isEmpty
            ? PostgresStatement(runSQL, parameters)
            : PostgresStatement(runWithGatewayIDsSQL, parameters + [.textArray(run.gatewayMessageIDs)])
    }

    static func rows(_ rows: [OutcomeBatch.Row]) -> PostgresStatement {
        PostgresStatement(rowsSQL, columns(rows) + [.int64Array(rows.map(\.holding.token)), .heldState])
    }

    /// Parameters $1 to $9 of statements that take rows one by one.
    static func columns(_ rows: [OutcomeBatch.Row]) -> [PostgresValue] {
        [
            .int64Array(rows.map(\.holding.part)), .int32Array(rows.map(\.sequence)),
            .int64Array(rows.map(\.subscriptionID)),
            .int16Array(rows.map(\.status.rawValue)), .int16Array(rows.map(\.httpStatus)),
            .int16Array(rows.map(\.attempt)),
            .textArray(rows.map(\.reason)), .textArray(rows.map(\.gatewayMessageID)),
            .int16ArrayWithNulls(rows.map { $0.failure?.code }),
        ]
    }

    static let runSQL = """
        INSERT INTO pushmta_engine.broad_log
            (delivery_id, subscription_id, part_id, sequence, log_day, status, http_status, attempt)
        SELECT p.delivery_id, o.subscription_id, p.id, o.sequence, p.log_day, $3, $4, $5
        FROM pushmta_engine.delivery_part p CROSS JOIN unnest($6::bigint[], $7::integer[]) o(subscription_id, sequence)
        WHERE p.id = $1 AND p.fencing_token = $2 AND p.state = $8
        """

    static let runWithGatewayIDsSQL = """
        INSERT INTO pushmta_engine.broad_log
            (delivery_id, subscription_id, part_id, sequence, log_day, status, http_status, attempt, gateway_message_id)
        SELECT p.delivery_id, o.subscription_id, p.id, o.sequence, p.log_day, $3, $4, $5, o.gateway_message_id
        FROM pushmta_engine.delivery_part p
        CROSS JOIN unnest($6::bigint[], $7::integer[], $9::text[]) o(subscription_id, sequence, gateway_message_id)
        WHERE p.id = $1 AND p.fencing_token = $2 AND p.state = $8
        """

    static let runWithReasonSQL = """
        INSERT INTO pushmta_engine.broad_log
            (delivery_id, subscription_id, part_id, sequence, log_day, status, http_status, attempt, reason)
        SELECT p.delivery_id, o.subscription_id, p.id, o.sequence, p.log_day, $3, $4, $5, $9
        FROM pushmta_engine.delivery_part p CROSS JOIN unnest($6::bigint[], $7::integer[]) o(subscription_id, sequence)
        WHERE p.id = $1 AND p.fencing_token = $2 AND p.state = $8
        """

    static let rowsSQL = """
        INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status, http_status,
            attempt, reason, gateway_message_id, failure)
        SELECT p.delivery_id, o.subscription_id, p.id, o.sequence, p.log_day, o.status, o.http_status, o.attempt, o.reason,
            o.gateway_message_id, o.failure
        FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::smallint[], $5::smallint[], $6::smallint[], $7::text[],
            $8::text[], $9::smallint[], $10::bigint[])
            o(part_id, sequence, subscription_id, status, http_status, attempt, reason, gateway_message_id, failure, token)
        JOIN pushmta_engine.delivery_part p
            ON p.id = o.part_id AND p.id = ANY($1) AND p.fencing_token = o.token AND p.state = $11
        """
}
