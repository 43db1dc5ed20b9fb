// LaboratoryStore: database queries that only drills and benches need.
//
// WHAT IT DOES
//   Extends Store with measurements (WAL, rates, restore points) and the termination of other sessions. Its snapshots
//   compare a delivery's counters with its messages, counted one by one.
//
// HOW IT IS USED
//   Laboratory and tests import it. It uses Store's package-level members: query(_:_:), one(_:), RowReader.
//
// STATE AND FILES
//   None.
//
// FAILURES
//   Those of Store.
//
// SEE ALSO
//   Sources/Store/Store.swift, DeliverySnapshot.swift, Backends.swift, DatabaseContents.swift

import PostgresClient
import Store

extension Store {
    /// The bytes of WAL written since the cluster was created. The difference of two values is what was written in
    /// between.
    package func walPosition() async throws -> Int64 {
        try await query("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint")
            .one { try $0.int64() }
    }

    /// Runs a checkpoint, so that data loaded before a bench does not affect it. Afterwards WAL segments are recycled,
    /// as on a server that has run for a while. It needs a superuser.
    package func checkpoint() async throws {
        _ = try await query("CHECKPOINT")
    }

    /// Seconds from a delivery's start to the transaction that stored its last outcome; nil while a part is open or
    /// before any is closed. Benches use it because a supervisor ends the delivery itself only a moment later.
    package func secondsToLastOutcome(delivery id: Int64) async throws -> Double? {
        let result = try await query(
            """
            SELECT extract(epoch FROM max(p.finished_at) - d.start_at)::double precision
            FROM pushmta_engine.delivery d JOIN pushmta_engine.delivery_part p ON p.delivery_id = d.id
            WHERE d.id = $1 AND d.prepared GROUP BY d.id HAVING bool_and(p.state = 'done')
            """,
            [.int64(id)]
        )
        return try result.oneOrNil { try $0.double() }
    }

    /// The rate at which a delivery's messages were sent, in messages a second, between the moments at which a tenth
    /// and nine tenths of them were stored. It is nil if both are the same moment, or if none was sent.
    ///
    /// It is the engine's sustained rate: it excludes the start and the wait for the gateway's slowest answers.
    package func sustainedRate(delivery id: Int64) async throws -> Double? {
        try await query(
            """
            WITH moment AS (
                SELECT b.logged_at, count(*) AS stored FROM pushmta_engine.delivery d
                JOIN pushmta_engine.broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id
                WHERE d.id = $1 AND b.status = 1 GROUP BY b.logged_at
            ), through AS (
                SELECT logged_at, sum(stored) OVER (ORDER BY logged_at) AS stored, sum(stored) OVER () AS total FROM moment
            ), bound AS (
                SELECT share, min(t.logged_at) AS reached, min(t.stored) AS stored
                FROM (VALUES (0.1), (0.9)) s(share) JOIN through t ON t.stored >= share * t.total GROUP BY share
            )
            SELECT ((max(stored) - min(stored)) / nullif(extract(epoch FROM max(reached) - min(reached)), 0))::double precision FROM bound
            """,
            [.int64(id)]
        ).one { try $0.doubleOrNil() }
    }
}

extension Store {
    /// Creates a restore point in the WAL, and has its segment archived.
    ///
    /// - Returns: The segment's file name. Once it is archived, a restore can end at this moment.
    package func markRestorePoint(_ name: String) async throws -> String {
        let result = try await query("SELECT pg_walfile_name(pg_create_restore_point($1))", [.text(name)])
        try await query("SELECT pg_switch_wal()::text")
        return try result.one { try $0.text() }
    }

    /// The fencing token of each part of a delivery, which is the number of its claims so far.
    package func claimTokens(ofDelivery id: Int64) async throws -> [Int64: Int64] {
        let result = try await query(
            "SELECT id, fencing_token FROM pushmta_engine.delivery_part WHERE delivery_id = $1",
            [.int64(id)]
        )
        let pairs = try all(result) { row in (try row.int64(), try row.int64()) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}
