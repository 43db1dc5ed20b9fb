import PostgresClient
import PushCore

/// What a date and a time of day are in a time zone.
package enum ZonedMoment: Sendable, Hashable {
    case once(DatabaseTime)
    /// The clock goes forward over it, so that day does not have it.
    case skipped
    /// The clock goes back over it, so that day has it twice.
    case twice(DatabaseTime, DatabaseTime)
}

extension Store {
    /// The moments of local times such as `2026-12-01T09:00` in a time zone. None for a zone that the database does not
    /// know.
    ///
    /// A time has the offset of the day before or of the day after. It exists with those of them with which the clock
    /// shows it.
    package func moments(of times: [String], in zone: String) async throws -> [String: ZonedMoment] {
        guard !times.isEmpty else { return [:] }
        let result = try await query(
            """
            SELECT t.text, min(c.moment) FILTER (WHERE c.shown = t.local), max(c.moment) FILTER (WHERE c.shown = t.local)
            FROM pushmta_engine.time_zone z
            CROSS JOIN LATERAL (SELECT u.text, u.text::timestamp AS local FROM unnest($1::text[]) u(text)) t
            CROSS JOIN LATERAL (SELECT t.local + interval '1 day' AS other UNION ALL SELECT t.local - interval '1 day') d
            CROSS JOIN LATERAL (SELECT ((d.other AT TIME ZONE z.name) AT TIME ZONE 'UTC' - d.other + t.local) AT TIME ZONE 'UTC'
                AS moment) m
            CROSS JOIN LATERAL (SELECT m.moment, m.moment AT TIME ZONE z.name AS shown) c
            WHERE z.name = $2 GROUP BY t.text
            """,
            [.textArray(times), .text(zone)]
        )
        let rows = try all(result) { row in
            (text: try row.text(), first: try row.timeOrNil(), last: try row.timeOrNil())
        }
        var moments: [String: ZonedMoment] = [:]
        for row in rows {
            guard let first = row.first, let last = row.last else {
                moments[row.text] = .skipped
                continue
            }
            moments[row.text] = first == last ? .once(first) : .twice(first, last)
        }
        return moments
    }

    /// What a clock in a time zone shows at some moments, such as `2026-12-01T09:00`. None for a zone that the database
    /// does not know.
    package func localTimes(of moments: [DatabaseTime], in zone: String) async throws -> [DatabaseTime: String] {
        guard !moments.isEmpty else { return [:] }
        let result = try await query(
            """
            SELECT u.moment, to_char(u.moment AT TIME ZONE z.name, 'YYYY-MM-DD"T"HH24:MI')
            FROM pushmta_engine.time_zone z CROSS JOIN unnest($1::text[]::timestamptz[]) u(moment) WHERE z.name = $2
            """,
            [.textArray(moments.map(\.internetText)), .text(zone)]
        )
        return Dictionary(try all(result) { row in (try row.time(), try row.text()) }, uniquingKeysWith: { $1 })
    }

    /// The time zones of services, by their names.
    package func zonesOfServices() async throws -> [String: String] {
        let result = try await query("SELECT v.name, v.time_zone FROM pushmta.service v")
        return Dictionary(
            try all(result) { row in (try row.text(), try row.text()) },
            uniquingKeysWith: { $1 }
        )
    }

    /// The time zone of a delivery's services; UTC if they have several.
    package func zone(ofDelivery id: Int64) async throws -> String {
        try await query(
            """
            SELECT CASE WHEN count(DISTINCT v.time_zone) = 1 THEN min(v.time_zone) ELSE 'UTC' END
            FROM pushmta_engine.delivery_application x
            JOIN pushmta_engine.application a ON a.id = x.application_id
            JOIN pushmta.service v ON v.id = a.service_id
            WHERE x.delivery_id = $1
            """,
            [.int64(id)]
        ).one { try $0.text() }
    }
}
