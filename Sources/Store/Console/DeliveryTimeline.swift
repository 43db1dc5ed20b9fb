import PostgresClient
import PushCore

/// What became of a delivery's messages over time. Moments are also given on the clock of its service.
package struct DeliveryTimeline: Sendable, Hashable {
    /// The counts of a minute or an hour.
    package struct Step: Sendable, Hashable {
        /// When it begins.
        package let begins: DatabaseTime
        /// The same in the time zone, as in `2026-12-01 09:00`.
        package let local: String
        /// The day in the time zone, in days since 2000-01-01.
        package let day: Int32
        /// Messages that the gateway accepted.
        package let sent: Int64
        /// Messages refused permanently.
        package let failed: Int64
        /// All others that have ended.
        package let other: Int64
        /// Messages that a device has received.
        package let received: Int64
        /// Messages that a user clicked on.
        package let clicked: Int64

        package init(
            begins: DatabaseTime,
            local: String,
            day: Int32,
            sent: Int64 = 0,
            failed: Int64 = 0,
            other: Int64 = 0,
            received: Int64 = 0,
            clicked: Int64 = 0
        ) {
            self.begins = begins
            self.local = local
            self.day = day
            self.sent = sent
            self.failed = failed
            self.other = other
            self.received = received
            self.clicked = clicked
        }
    }

    /// The time zone of its service; UTC if it goes to several services in different zones.
    package let zone: String
    /// Hours with outcomes or reactions, the first one first.
    package let hours: [Step]
    /// Minutes in which parts of it ended, without reactions; nil if they are not known, or too many.
    package let minutes: [Step]?

    package init(zone: String, hours: [Step], minutes: [Step]?) {
        self.zone = zone
        self.hours = hours
        self.minutes = minutes
    }
}

extension Store {
    /// More hours than a delivery has reactions in.
    private static let maxHours: Int64 = 5_000
    /// The maximum number of parts that minutes are counted from: about 40 milliseconds.
    private static let maxPartsOfMinutes: Int64 = 20_000

    /// What became of the messages of some deliveries over time: one, or a continuous one with its days.
    ///
    /// - Parameter byMinute: whether to count minutes, too. Hours come from statistics, which are kept; minutes from
    ///   parts, until these are folded.
    package func timeline(ofDeliveries ids: [Int64], byMinute: Bool) async throws -> DeliveryTimeline {
        let result = try await query(
            """
            WITH zone AS MATERIALIZED (
                SELECT CASE WHEN count(*) = 1 THEN coalesce(min(z.name), 'UTC') ELSE 'UTC' END AS name
                FROM (SELECT DISTINCT v.time_zone FROM pushmta_engine.delivery_application x
                    JOIN pushmta_engine.application a ON a.id = x.application_id
                    JOIN pushmta_engine.service v ON v.id = a.service_id WHERE x.delivery_id = ANY($1)) s
                LEFT JOIN pushmta_engine.time_zone z ON z.name = s.time_zone
            )
            SELECT o.name, h.hour, to_char(h.hour AT TIME ZONE o.name, 'YYYY-MM-DD HH24:MI'),
                (h.hour AT TIME ZONE o.name)::date - DATE '2000-01-01', h.sent, h.failed, h.other, h.received, h.clicked
            FROM zone o LEFT JOIN (
                SELECT s.hour, sum(s.sent)::bigint AS sent, sum(s.failed)::bigint AS failed,
                    sum(s.ignored + s.not_applicable + s.canceled + s.unknown)::bigint AS other,
                    sum(s.received_unique)::bigint AS received, sum(s.clicked_unique)::bigint AS clicked
                FROM pushmta.delivery_statistics_by_hour s WHERE s.delivery_id = ANY($1)
                GROUP BY s.hour ORDER BY s.hour LIMIT $2
            ) h ON true
            ORDER BY h.hour
            """,
            [.int64Array(ids), .int64(Self.maxHours)]
        )
        let rows = try all(result) { row in
            (
                zone: try row.text(),
                step: try row.ifPresent(8) { row in
                    DeliveryTimeline.Step(
                        begins: try row.time(),
                        local: try row.text(),
                        day: try row.int32(),
                        sent: try row.int64(),
                        failed: try row.int64(),
                        other: try row.int64(),
                        received: try row.int64(),
                        clicked: try row.int64()
                    )
                }
            )
        }
        let zone = rows.first?.zone ?? "UTC"
        return DeliveryTimeline(
            zone: zone,
            hours: rows.compactMap { $0.step },
            minutes: byMinute ? try await minutes(ofDeliveries: ids, zone: zone) : nil
        )
    }

    /// Minutes in which parts ended; nil if some are folded, or there are too many.
    private func minutes(ofDeliveries ids: [Int64], zone: String) async throws -> [DeliveryTimeline.Step]? {
        let result = try await query(
            """
            SELECT count(*), bool_or(c.folded), c.minute, to_char(c.minute AT TIME ZONE $2::text, 'YYYY-MM-DD HH24:MI'),
                (c.minute AT TIME ZONE $2::text)::date - DATE '2000-01-01', sum(c.sent)::bigint,
                sum(c.failed + CASE WHEN c.rest_status = 2 THEN c.rest ELSE 0 END)::bigint,
                sum(c.other + CASE WHEN c.rest_status IN (0, 7, 8, 9) THEN c.rest ELSE 0 END)::bigint
            FROM (
                SELECT date_trunc('minute', p.finished_at, 'UTC') AS minute, p.folded, p.rest_status, p.sent, p.failed,
                    p.ignored + p.not_applicable + p.canceled + p.unknown AS other,
                    p.size - p.handed_over - p.sent - p.failed - p.ignored - p.not_applicable - p.canceled - p.unknown AS rest
                FROM pushmta_engine.delivery_part p
                WHERE p.delivery_id = ANY($1) AND p.state = 'done' AND p.finished_at IS NOT NULL LIMIT $3
            ) c
            GROUP BY c.minute ORDER BY c.minute
            """,
            [.int64Array(ids), .text(zone), .int64(Self.maxPartsOfMinutes)]
        )
        var parts: Int64 = 0
        var hasFolded = false
        let minutes = try all(result) { row in
            parts += try row.int64()
            if try row.bool() { hasFolded = true }
            return DeliveryTimeline.Step(
                begins: try row.time(),
                local: try row.text(),
                day: try row.int32(),
                sent: try row.int64(),
                failed: try row.int64(),
                other: try row.int64()
            )
        }
        return hasFolded || parts >= Self.maxPartsOfMinutes ? nil : minutes
    }
}
