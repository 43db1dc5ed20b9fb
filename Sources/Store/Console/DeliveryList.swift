import PostgresClient
import PushCore

/// A row of a list of deliveries.
package struct ListedDelivery: Sendable {
    package let progress: DeliveryProgress
    /// The names of its applications.
    package let applications: [String]
    /// Its start, or its creation if it has none, on the clock of its services: 2026-11-24T16:20.
    package let localTime: String
    /// The time zone of that clock; UTC if its services have several.
    package let zone: String
    /// Messages that a gateway accepted, and how many of them were opened, as the list sorts them.
    package let sent: Int64
    package let clicked: Int64
}

/// A page of a list of deliveries.
package struct DeliveryPage: Sendable {
    package let rows: [ListedDelivery]
    /// Where to continue; nil if nothing is left.
    package let next: DeliveryFilter.Place?
    /// Whether the search took its time before the page was full; sorted by a number, whether only the newest deliveries
    /// were sorted.
    package let isCut: Bool
}

extension Store {
    /// A page of the list of deliveries, without the days of continuous ones.
    ///
    /// The search for a text takes up to 150 milliseconds; then the page is cut. A list by a number has the newest 1,000
    /// deliveries of the filter.
    package func deliveryPage(_ filter: DeliveryFilter, maxRows: Int) async throws -> DeliveryPage {
        let zone = try await listZone(service: filter.service, application: filter.application)
        let (afterAt, afterValue, afterID) = Self.arguments(filter.after)
        let result = try await query(
            """
            SELECT l.delivery, l.listed_at, l.sent, l.clicked, l.value, l.is_cut
            FROM pushmta.list_deliveries(state => $1, service => $2, application => $3, category => $4, author => $5, label => $6,
                since => nullif($7::text, '')::date::timestamp AT TIME ZONE $9::text,
                until => (nullif($8::text, '')::date + 1)::timestamp AT TIME ZONE $9::text, exclusion_list => $10, seed => $11,
                archived => $12, sort => $13, most => $14, after_at => $15::timestamptz, after_value => $16::double precision,
                after_id => $17::bigint) l
            """,
            [
                .text(filter.approval?.rawValue ?? filter.state?.rawValue ?? ""), .text(filter.service),
                .text(filter.application), .text(filter.category), .text(filter.author), .text(filter.text),
                .text(filter.since),
                .text(filter.until), .text(zone), .text(filter.exclusionList), .text(filter.seed),
                // One more than requested shows whether there are more.
                .bool(filter.isArchived), .text(filter.sort.rawValue), .int32(Int32(clamping: maxRows + 1)), afterAt,
                afterValue, afterID,
            ]
        )
        var found = try all(result, ListPlace.init)
        let cut = found.last.flatMap { $0.isCut ? $0 : nil }
        found.removeAll { $0.isCut }
        let isFull = found.count > maxRows
        let shown = Array(found.prefix(maxRows))
        let next = isFull ? shown.last : cut
        return DeliveryPage(
            rows: try await listedRows(shown),
            next: next.flatMap { $0.place(filter.sort) },
            isCut: cut != nil && (!isFull || filter.sort != .date)
        )
    }

    private static func arguments(_ place: DeliveryFilter.Place?) -> (PostgresValue, PostgresValue, PostgresValue) {
        switch place {
        case .date(let moment, let delivery)?:
            (.timestamp(microsecondsSince2000: moment.microsecondsSince2000), .null, .int64(delivery))
        case .value(let value, let delivery)?: (.null, .double(value), .int64(delivery))
        case nil: (.null, .null, .null)
        }
    }

    /// The time zone of the days of a filter: that of the service, or of all services if it is the same; otherwise UTC.
    package func listZone(service: String, application: String) async throws -> String {
        try await query(
            """
            SELECT coalesce(CASE WHEN count(DISTINCT v.time_zone) = 1 THEN min(z.name) END, 'UTC')
            FROM pushmta_engine.service v LEFT JOIN pushmta_engine.time_zone z ON z.name = v.time_zone
            WHERE $1::text IN ('', v.name) AND ($2::text = '' OR EXISTS (SELECT FROM pushmta_engine.application a
                WHERE a.service_id = v.id AND a.name = $2))
            """,
            [.text(service), .text(application)]
        ).one { try $0.text() }
    }

    /// The clock of all services; nil for UTC, also if they have several.
    package func commonClock() async throws -> ZoneClock? {
        let zone = try await listZone(service: "", application: "")
        return zone == "UTC" ? nil : try await clock(ofZone: zone)
    }

    private func listedRows(_ places: [ListPlace]) async throws -> [ListedDelivery] {
        let ids = places.compactMap(\.delivery)
        let (rows, applications) = try await pageRows(ids)
        let times = try await query(
            """
            SELECT d.id, to_char(d.listed_at AT TIME ZONE z.name, 'YYYY-MM-DD"T"HH24:MI'), z.name
            FROM pushmta_engine.delivery d CROSS JOIN LATERAL (
                SELECT coalesce(CASE WHEN count(DISTINCT v.time_zone) = 1 THEN min(t.name) END, 'UTC') AS name
                FROM pushmta_engine.delivery_application x JOIN pushmta_engine.application a ON a.id = x.application_id
                JOIN pushmta_engine.service v ON v.id = a.service_id LEFT JOIN pushmta_engine.time_zone t ON t.name = v.time_zone
                WHERE x.delivery_id = d.id) z
            WHERE d.id = ANY($1)
            """,
            [.int64Array(ids)]
        )
        let clocks = Dictionary(
            try all(times) { row in (try row.int64(), (text: try row.text(), zone: try row.text())) },
            uniquingKeysWith: { $1 }
        )
        let progress = Dictionary(rows.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        return places.compactMap { place in
            guard let id = place.delivery, let row = progress[id], let clock = clocks[id] else { return nil }
            return ListedDelivery(
                progress: row,
                applications: applications[id] ?? [],
                localTime: clock.text,
                zone: clock.zone,
                sent: place.sent,
                clicked: place.clicked
            )
        }
    }

    /// Hides a delivery that has ended from lists, or shows it there again; false if it is so already.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `conflict` if it has not ended.
    @discardableResult
    package func archiveDelivery(_ id: Int64, _ isArchived: Bool = true) async throws -> Bool {
        try await change("pushmta.archive_delivery($1, $2)", [.int64(id), .bool(isArchived)]).one { try $0.bool() }
    }

    /// The same for deliveries of a list, for a signed-in user: those that have not ended stay as they are. Returns how
    /// many were changed; the same transaction writes each to the audit log.
    package func archive(deliveries ids: [Int64], _ isArchived: Bool, by actor: ConsoleActor) async throws -> Int {
        let result = try await query(
            "SELECT pushmta_engine.console_archive(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.int64Array(ids), .bool(isArchived)]
        )
        return Int(try result.one { try $0.int32() })
    }
}

/// A row of `list_deliveries`, in its order.
private struct ListPlace {
    let delivery: Int64?
    let listedAt: DatabaseTime?
    let sent: Int64
    let clicked: Int64
    let value: Double?
    /// Whether it is the place where the search stopped.
    let isCut: Bool

    init(_ row: inout RowReader) throws {
        delivery = try row.int64OrNil()
        listedAt = try row.timeOrNil()
        sent = try row.int64OrNil() ?? 0
        clicked = try row.int64OrNil() ?? 0
        value = try row.doubleOrNil()
        isCut = try row.bool()
    }

    func place(_ sort: DeliveryFilter.Sort) -> DeliveryFilter.Place? {
        guard let delivery else { return nil }
        switch sort {
        case .date: return listedAt.map { .date($0, delivery: delivery) }
        case .sent, .clickRate: return value.map { .value($0, delivery: delivery) }
        }
    }
}
