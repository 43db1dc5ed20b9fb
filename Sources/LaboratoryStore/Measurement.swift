// LaboratoryStore: what only drills and benches ask a database.
//
// WHAT IT DOES
//   Extends Store with measurements (WAL, rates, restore points), with the end of other sessions, and with snapshots in which the counters
//   of a delivery stand beside its messages, counted one by one.
//
// HOW IT IS USED
//   Laboratory and tests import it. It uses what Store shows within the package: query(_:_:), one(_:), RowReader.
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
    /// Bytes of write-ahead log since the cluster began; the difference of two is what was written between.
    public func walPosition() async throws -> Int64 {
        try await query("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint")
            .one { try $0.int64() }
    }

    /// Writes what was changed to the files, so that what was loaded before a bench is no part of it; the log's files are used again then, as
    /// they are on a server that has run for a while. Needs a superuser.
    public func checkpoint() async throws {
        _ = try await query("CHECKPOINT")
    }

    /// Seconds from a delivery's start to the transaction that stored its last outcome; nil while a part is open or before any
    /// was closed. It is what a bench measures: the delivery itself is ended a moment later, by a supervisor.
    public func secondsToLastOutcome(delivery id: Int64) async throws -> Double? {
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

    /// Messages of a delivery that were sent a second, from the moment at which a tenth of them were stored to that of nine tenths; nil if
    /// that is one moment, or none was sent.
    ///
    /// It is what the engine sends while it sends: neither its start nor the wait for a gateway's slowest answers is in it.
    public func sustainedRate(delivery id: Int64) async throws -> Double? {
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
    /// Marks this moment in the WAL, so that a restore can end there, and has the segment that it is in archived.
    ///
    /// - Returns: The file name of that segment; when it is in the archive, the moment can be restored.
    public func markRestorePoint(_ name: String) async throws -> String {
        let result = try await query("SELECT pg_walfile_name(pg_create_restore_point($1))", [.text(name)])
        try await query("SELECT pg_switch_wal()::text")
        return try result.one { try $0.text() }
    }

    /// The fencing token of each part of a delivery: its claims so far.
    public func claimTokens(ofDelivery id: Int64) async throws -> [Int64: Int64] {
        let result = try await query(
            "SELECT id, fencing_token FROM pushmta_engine.delivery_part WHERE delivery_id = $1",
            [.int64(id)]
        )
        let pairs = try all(result) { row in (try row.int64(), try row.int64()) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}
