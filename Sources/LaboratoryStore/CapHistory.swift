import PostgresClient
import Store

extension Store {
    /// Writes a history of frequency caps, as if a delivery like this one had gone to a quarter of all persons on each
    /// of the last days, and sums it up as the feedback worker does.
    package func makeCapHistory(like delivery: Int64, days: Int) async throws {
        for statement in [Self.capHistorySQL, Self.recentCapHistorySQL] {
            try await query(statement, [.int64(delivery), .int32(Int32(clamping: days))])
        }
        try await query(
            """
            INSERT INTO pushmta_engine.cap_lock (service_id, persons) SELECT DISTINCT h.service_id, h.block >> 2
            FROM pushmta_engine.cap_history h ON CONFLICT DO NOTHING
            """
        )
        let sum = "SELECT pushmta_engine.sum_caps(1000)"
        while try await query(sum).one({ try $0.int64() }) > 0 {}
        _ = try await with {
            try await $0.execute(PostgresStatement("VACUUM (ANALYZE) pushmta_engine.cap_history", prepare: false))
        }
    }

    /// The rows of the history that a delivery has.
    package func capHistoryRows(delivery: Int64) async throws -> Int64 {
        try await query(
            "SELECT count(*) FROM pushmta_engine.cap_history WHERE delivery_id = $1",
            [.int64(delivery)]
        ).one { try $0.int64() }
    }

    /// Bitmaps in which a quarter of the bits are set, and what the rows of the history have in common.
    private static let capMaps = """
        WITH map AS MATERIALIZED (
            SELECT g AS n, ('x' || string_agg(md5(g || 'a' || h), ''))::bit(4096) & ('x' || string_agg(md5(g || 'b' || h), ''))::bit(4096)
                AS persons
            FROM generate_series(0, 996) g CROSS JOIN generate_series(1, 32) h GROUP BY g
        ), place AS MATERIALIZED (
            SELECT a.service_id, coalesce(d.category_id, 0) AS category_id, (now() AT TIME ZONE v.time_zone)::date AS today,
                ((SELECT max(s.id) FROM pushmta_engine.subscription s) >> 12)::integer AS last_block
            FROM pushmta_engine.delivery d
            JOIN pushmta_engine.delivery_application x ON x.delivery_id = d.id
            JOIN pushmta_engine.application a ON a.id = x.application_id
            JOIN pushmta_engine.service v ON v.id = a.service_id
            WHERE d.id = $1 LIMIT 1
        )
        """

    private static let capHistorySQL = """
        \(capMaps)
        INSERT INTO pushmta_engine.cap_history (service_id, block, day, category_id, delivery_id, digit, persons)
        SELECT p.service_id, b.n, p.today - d.n, p.category_id, 0, 0, m.persons
        FROM place p CROSS JOIN generate_series(5, $2::integer) d(n) CROSS JOIN LATERAL generate_series(0, p.last_block) b(n)
        JOIN map m ON m.n = (b.n * 7 + d.n * 13) % 997
        ORDER BY d.n DESC, b.n
        """

    /// The last days are not folded.
    private static let recentCapHistorySQL = """
        \(capMaps)
        INSERT INTO pushmta_engine.cap_history (service_id, block, day, category_id, delivery_id, digit, counts_at, persons)
        SELECT p.service_id, b.n, p.today - d.n, p.category_id, d.n, 0, now() - d.n * interval '1 day', m.persons
        FROM place p CROSS JOIN generate_series(1, least(4, $2::integer)) d(n) CROSS JOIN LATERAL generate_series(0, p.last_block) b(n)
        JOIN map m ON m.n = (b.n * 7 + d.n * 13) % 997
        ORDER BY d.n DESC, b.n
        """
}
