import PostgresClient
import PushCore

extension Store {
    /// Says when a delivery recurs, as a whole; returns its next moment. Nothing is sent before ``startRecurrence(_:)``.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` if the delivery was started, or `invalid` for a rule without
    /// a moment after now.
    @discardableResult
    package func setRecurrence(_ delivery: Int64, _ rule: RecurrenceRule) async throws -> DatabaseTime {
        try await change(
            "pushmta.set_recurrence($1, \(RecurrenceRule.arguments(from: 2)))",
            [.int64(delivery)] + rule.values
        ).one { try $0.time() }
    }

    /// Starts or continues the recurrence of a delivery; returns its next moment.
    @discardableResult
    package func startRecurrence(_ delivery: Int64) async throws -> DatabaseTime {
        try await change("pushmta.start_recurrence($1)", [.int64(delivery)]).one { try $0.time() }
    }

    /// Makes no further runs of a delivery until ``startRecurrence(_:)``.
    package func pauseRecurrence(_ delivery: Int64) async throws {
        try await change("pushmta.pause_recurrence($1)", [.int64(delivery)])
    }

    /// Makes a recurring delivery an ordinary one. Its runs stay.
    package func removeRecurrence(_ delivery: Int64) async throws {
        try await change("pushmta.remove_recurrence($1)", [.int64(delivery)])
    }

    /// Makes a run of a recurring delivery now; returns its id.
    ///
    /// Throws ``StoreError`` of code `conflict` if the run before has not ended.
    package func runRecurrence(_ delivery: Int64) async throws -> Int64 {
        try await change("pushmta.run_recurrence($1)", [.int64(delivery)]).one { try $0.int64() }
    }

    /// When a delivery recurs; nil if it does not.
    package func recurrence(ofDelivery id: Int64) async throws -> RecurrenceRow? {
        try await query(
            "SELECT \(RecurrenceRow.columns) FROM pushmta_engine.api_recurrence($1) r",
            [.int64(id)]
        ).oneOrNil(RecurrenceRow.init)
    }

    /// When deliveries recur, by their ids; nothing of those that do not.
    package func recurrences(ofDeliveries ids: [Int64]) async throws -> [Int64: RecurrenceRow] {
        guard !ids.isEmpty else { return [:] }
        let result = try await query(
            """
            SELECT \(RecurrenceRow.columns)
            FROM unnest($1::bigint[]) w(id) CROSS JOIN LATERAL pushmta_engine.api_recurrence(w.id) r
            """,
            [.int64Array(ids)]
        )
        return Dictionary(try all(result, RecurrenceRow.init).map { ($0.deliveryID, $0) }, uniquingKeysWith: { $1 })
    }

    /// The recurring delivery that a delivery is a run of; nil if it is none.
    package func recurringDelivery(ofRun id: Int64) async throws -> Int64? {
        try await query("SELECT d.recurrence_of FROM pushmta_engine.delivery d WHERE d.id = $1", [.int64(id)])
            .oneOrNil { try $0.int64OrNil() } ?? nil
    }

    /// The next moments of a recurring delivery.
    package func nextRuns(ofDelivery id: Int64, limit: Int32 = 5) async throws -> [DatabaseTime] {
        let result = try await query(
            "SELECT n.moment FROM pushmta.next_runs($1, $2) n(moment)",
            [.int64(id), .int32(limit)]
        )
        return try all(result) { row in try row.time() }
    }

    /// What was done about the moments of a recurring delivery, the latest first.
    package func recurrenceRuns(ofDelivery id: Int64, limit: Int32 = 20) async throws -> [RecurrenceRunRow] {
        let result = try await query(
            """
            SELECT x.planned_at, x.noted_at, x.outcome, x.reason, x.run_id, x.run_state, x.target
            FROM pushmta_engine.api_recurrence_runs($1, $2) x
            """,
            [.int64(id), .int32(limit)]
        )
        return try all(result, RecurrenceRunRow.init)
    }
}

/// What was done about a recurrence that was due.
package struct RecurrenceDecision: Sendable, Hashable {
    package let delivery: Int64
    /// The run that was started, a delivery.
    package let run: Int64?
    /// As in ``RecurrenceRunRow/Outcome``, or `waits`, `finished`; nil if its run had been made before.
    package let outcome: String?
}

extension Store {
    /// Decides about the recurrences that are due, at most as many as the limit. Any number of hosts may call it at
    /// once: a moment gets one run.
    ///
    /// - Parameter moment: the time, RFC 3339; nil for the database's clock. Tests move it.
    package func makeRuns(limit: Int32 = 20, at moment: String? = nil) async throws -> [RecurrenceDecision] {
        let result = try await query(
            """
            SELECT m.delivery, m.run, m.outcome
            FROM pushmta_engine.make_runs($1, coalesce($2::text::timestamptz, clock_timestamp())) m
            """,
            [.int32(limit), .textOrNull(moment)]
        )
        return try all(result) { row in
            RecurrenceDecision(
                delivery: try row.int64(),
                run: try row.int64OrNil(),
                outcome: try row.textOrNil()
            )
        }
    }

    /// The seconds until a recurrence is due, 0 if one is; nil if none is active.
    package func secondsToNextRun() async throws -> Double? {
        try await query(
            """
            SELECT greatest(extract(epoch FROM (SELECT r.look_at FROM pushmta_engine.recurrence r WHERE r.state = 'active'
                ORDER BY r.look_at LIMIT 1) - clock_timestamp()), 0)::double precision
            """
        ).one { try $0.doubleOrNil() }
    }
}
