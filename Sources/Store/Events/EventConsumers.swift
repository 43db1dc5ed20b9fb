import PostgresClient

/// A consumer of events as operators see it.
package struct ConsumerRow: Sendable, Hashable {
    package let name: String
    package let kinds: [String]
    /// The service whose events it gets; nil for all.
    package let service: String?
    package let maxAgeSeconds: Int64
    package let maxBytes: Int64
    /// Who alone reads it: a role of the database, or `key:` and the name of an API key; nil for all who may read events.
    package let reader: String?
    /// When it last read; nil if it never did.
    package let readAt: DatabaseTime?
    /// Events that it was given.
    package let given: Int64
    /// Whether events are stored that it has not read.
    package let isBehind: Bool
    /// How long ago it had read everything; 0 if it has.
    package let lagSeconds: Double
    /// Events that it lost, because it was away for too long.
    package let lost: Int64
}

/// Events that a consumer lost.
package struct EventGapRow: Sendable, Hashable {
    package let consumer: String
    /// `age`, `size` or `restored`.
    package let why: String
    package let from: DatabaseTime
    package let through: DatabaseTime
    /// How many; 0 if unknown.
    package let lost: Int64
}

/// Events: what happened, for consumers that read them one after another.
extension Store {
    /// Creates a consumer, which gets what happens from now on.
    ///
    /// Throws ``StoreError`` of code `notFound` for an unknown service or reader, `conflict` if there is one of that name, or
    /// `invalid`.
    package func createConsumer(_ consumer: NewConsumer) async throws {
        try await change(
            "pushmta.create_consumer($1, $2::text[], $3::text, $4 * interval '1 second', $5, $6::text)",
            [
                .text(consumer.name), consumer.kinds.map { PostgresValue.textArray($0) } ?? .null,
                .textOrNull(consumer.service), .int64(consumer.maxAgeSeconds), .int64(consumer.maxBytes),
                .textOrNull(consumer.reader),
            ]
        )
    }

    /// Removes a consumer. Throws ``StoreError`` of code `notFound` if there is none of that name.
    package func dropConsumer(_ name: String) async throws {
        try await change("pushmta.drop_consumer($1)", [.text(name)])
    }

    /// All consumers, by name.
    package func consumers() async throws -> [ConsumerRow] {
        let result = try await query(
            """
            SELECT c.name, c.kinds, c.service, extract(epoch FROM c.max_age)::bigint, c.max_bytes, c.reader, c.read_at, c.given,
                c.is_behind, c.lag_seconds, c.lost
            FROM pushmta.event_consumer c ORDER BY c.name
            """
        )
        return try all(result) { row in
            ConsumerRow(
                name: try row.text(),
                kinds: try row.textArray(),
                service: try row.textOrNil(),
                maxAgeSeconds: try row.int64(),
                maxBytes: try row.int64(),
                reader: try row.textOrNil(),
                readAt: try row.timeOrNil(),
                given: try row.int64(),
                isBehind: try row.bool(),
                lagSeconds: try row.double(),
                lost: try row.int64()
            )
        }
    }

    /// The kinds of events, with their meaning.
    package func eventKinds() async throws -> [(name: String, meaning: String)] {
        try all(try await query("SELECT k.name, k.means FROM pushmta.event_kind k ORDER BY k.name")) { row in
            (name: try row.text(), meaning: try row.text())
        }
    }

    /// What consumers lost in the last 180 days, the latest first.
    package func eventGaps() async throws -> [EventGapRow] {
        let result = try await query(
            """
            SELECT g.consumer, g.why, g.from_at, g.through_at, g.lost FROM pushmta.event_gap g ORDER BY g.noted_at DESC, g.consumer
            """
        )
        return try all(result) { row in
            EventGapRow(
                consumer: try row.text(),
                why: try row.text(),
                from: try row.time(),
                through: try row.time(),
                lost: try row.int64()
            )
        }
    }

    /// Gives a consumer's next events, in order, to a closure. They count as read if it returns; if it throws, or the
    /// process dies in it, they are given again.
    ///
    /// - Returns: how many; 0 if there are none.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `conflict` if another process is reading the same consumer.
    @discardableResult
    package func readEvents(
        of consumer: String,
        limit: Int,
        _ body: @Sendable ([EventRow]) async throws -> Void
    ) async throws -> Int {
        try await transaction { transaction in
            let events = try await transaction.execute(Self.nextEvents(of: consumer, limit: limit)).all(EventRow.read)
            try await body(events)
            return events.count
        }
    }

    /// A consumer's next events, in order, which then count as read.
    package func nextEvents(of consumer: String, limit: Int) async throws -> [EventRow] {
        try await with { try await $0.execute(Self.nextEvents(of: consumer, limit: limit)) }.all(EventRow.read)
    }

    /// A page of a consumer's events, for the API: the same one until its id is passed as processed.
    ///
    /// - Returns: its id, nil if there are no events.
    ///
    /// Throws ``StoreError`` with `sqlState` `PM167` if another reader alone may read it.
    package func eventPage(of consumer: String, limit: Int32, processed: String?) async throws -> (
        id: String?, events: [EventRow]
    ) {
        // The function reads the key, so it takes its argument from the row that sets it.
        let result = try await query(
            """
            SELECT page::text, \(EventRow.columns)
            FROM (SELECT set_config('pushmta.api_key', $4, true), $1::text AS consumer OFFSET 0) named
            CROSS JOIN LATERAL pushmta_engine.api_events(named.consumer, $2, $3::text::uuid)
            """,
            [.text(consumer), .int32(limit), .textOrNull(processed), .text(AuditCaller.key ?? "")]
        )
        let rows = try result.all { row in (page: try row.text(), event: try EventRow.read(&row)) }
        return (rows.first?.page, rows.map(\.event))
    }

    private static func nextEvents(of consumer: String, limit: Int) -> PostgresStatement {
        PostgresStatement(
            "SELECT \(EventRow.columns) FROM pushmta.next_events($1, $2)",
            [.text(consumer), .int32(Int32(clamping: limit))]
        )
    }

    /// Keeps consumers within their bounds and drops days of events that none needs, as the active worker.
    ///
    /// - Returns: how many consumers lost events and days were dropped; nil if another worker is active.
    package func keepEvents(worker: String) async throws -> Int64? {
        try await fenced("pushmta_engine.keep_events()", worker, [])
    }
}
