import PostgresClient
import PushCore

/// What a clock in a time zone shows, as the database knows it, for two years before and after it was read.
package struct ZoneClock: Sendable, Hashable {
    /// From a moment on, the clock is this far ahead of UTC.
    fileprivate struct Step: Sendable, Hashable {
        let from: DatabaseTime
        let aheadMilliseconds: Int64
    }

    package let zone: String
    fileprivate let steps: [Step]
    fileprivate let end: DatabaseTime

    /// The clock's time at a moment, such as `2026-12-01T09:00:30.000000`; nil for a moment that it does not cover.
    package func text(at moment: DatabaseTime) -> String? {
        guard moment < end, let step = steps.last(where: { $0.from <= moment }) else { return nil }
        return String(moment.advanced(byMilliseconds: step.aheadMilliseconds).internetText.dropLast())
    }
}

extension Store {
    /// The clock of the services of a delivery; nil for UTC.
    package func clock(ofDelivery id: Int64) async throws -> ZoneClock? {
        let zone = try await zone(ofDelivery: id)
        return zone == "UTC" ? nil : try await clock(ofZone: zone)
    }

    /// The clock of a time zone; nil if the database does not know the zone.
    ///
    /// Clocks change at whole or half hours in UTC.
    package func clock(ofZone zone: String) async throws -> ZoneClock? {
        let result = try await query(
            """
            WITH known AS (
                SELECT z.name, date_trunc('day', now()) - interval '730 days' AS begins,
                    date_trunc('day', now()) + interval '730 days' AS ends
                FROM pushmta_engine.time_zone z WHERE z.name = $1
            ), day AS (
                SELECT k.name, d.day, d.day + interval '1 day' AS next_day, d.day = k.begins AS is_first, k.ends
                FROM known k CROSS JOIN generate_series(k.begins, k.ends, interval '1 day') d(day)
            ), moment AS (
                SELECT y.name, m.moment, m.moment AT TIME ZONE y.name - m.moment AT TIME ZONE 'UTC' AS ahead, y.ends,
                    y.is_first AND m.moment = y.day AS is_first
                FROM day y CROSS JOIN generate_series(y.day, y.next_day, interval '30 minutes') m(moment)
                WHERE y.is_first OR y.day AT TIME ZONE y.name - y.day AT TIME ZONE 'UTC'
                    <> y.next_day AT TIME ZONE y.name - y.next_day AT TIME ZONE 'UTC'
            ), step AS (
                SELECT m.*, lag(m.ahead) OVER (ORDER BY m.moment, m.is_first DESC) AS before FROM moment m
            )
            SELECT s.moment, (extract(epoch FROM s.ahead) * 1000)::bigint, s.ends FROM step s
            WHERE s.is_first OR s.before <> s.ahead ORDER BY s.moment, s.is_first DESC
            """,
            [.text(zone)]
        )
        let rows = try all(result) { row in (try row.time(), try row.int64(), try row.time()) }
        guard let end = rows.first?.2 else { return nil }
        return ZoneClock(
            zone: zone,
            steps: rows.map { ZoneClock.Step(from: $0.0, aheadMilliseconds: $0.1) },
            end: end
        )
    }
}
