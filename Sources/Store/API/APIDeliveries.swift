import PostgresClient
import PushCore

extension Store {
    /// Creates a delivery as a whole, or fails.
    ///
    /// - Parameters:
    ///   - filter: selects the subscribers that it goes to, nil for all.
    ///   - exclude: the names of exclusion lists, nil for none.
    ///   - audience: the saved audience whose filter it gets, nil for none.
    package func createDelivery(
        _ new: NewDelivery,
        isContinuous: Bool,
        filter: String?,
        exclude: [String]?,
        audience: String? = nil
    ) async throws -> Int64 {
        try NameCheck.label(new.label, of: "delivery")
        try NameCheck.validity(new.validitySeconds)
        let result = try await change(
            """
            pushmta_engine.api_create_delivery(label => $1, applications => $2, content => $3, continuous => $4,
                priority => $5::integer, validity_seconds => $6, explicit_targets => $7, one_per_user => $8, ambiguity_policy => $9,
                max_retries => $10, retry_period_seconds => $11::integer, filter => $12::text, exclude => $13::text[],
                retry_schedule => $14, messages_per_second => $15, one_time_code => $16, category => $17::text,
                audience => $18::text)
            """,
            [
                .text(new.label), .textArray(new.applications), .text(new.content), .bool(isContinuous),
                .int32(Int32(new.priority)), .int64(new.validitySeconds), .bool(new.explicitTargets),
                .bool(new.onePerUser), .text(new.ambiguityPolicy.rawValue), .int32(new.maxRetries),
                new.retryPeriodSeconds.map(PostgresValue.int32) ?? .null, .textOrNull(filter),
                exclude.map { .textArray($0) } ?? .null, .text(new.retrySchedule.rawValue),
                new.messagesPerSecond.map(PostgresValue.double) ?? .null, .bool(new.isOneTimeCode),
                .textOrNull(new.category), .textOrNull(audience),
            ]
        )
        return try result.one { try $0.int64() }
    }

    /// Adds targets to a delivery with explicit targets, all or none; returns how many were added.
    package func addDeliveryTargets(_ targets: [ExplicitTarget], to id: Int64) async throws -> Int64 {
        try await change(
            "pushmta.add_targets($1, $2, $3, $4, $5)",
            [
                .int64(id), .textArray(targets.map(\.addressee.userKey)),
                .int64ArrayWithNulls(targets.map(\.addressee.subscriptionID)),
                .textArray(targets.map(\.addressee.pushToken)), .textArray(targets.map(\.variables)),
            ]
        ).one { try $0.int64() }
    }

    /// Starts a delivery at a time, given as RFC 3339.
    package func startDelivery(_ id: Int64, at moment: String) async throws {
        try await change("pushmta.start_delivery($1, $2::text::timestamptz)", [.int64(id), .text(moment)])
    }

    /// Deliveries with ids in a range, newest first; with applications given, only deliveries that go to no others.
    ///
    /// - Parameter withArchived: whether archived ones are among them.
    package func apiDeliveries(
        ids: ClosedRange<Int64>,
        applications: [Int32]?,
        limit: Int32,
        withArchived: Bool = true
    ) async throws -> [APIDeliveryRow] {
        try await apiDeliveries(
            from: "pushmta_engine.api_deliveries($1, $2, $3::integer[], $4::integer, $5) d",
            [
                .int64(ids.lowerBound), .int64(ids.upperBound), applications.map(PostgresValue.int32Array) ?? .null,
                .int32(limit), .bool(withArchived),
            ]
        )
    }

    /// Newest first.
    ///
    /// - Parameter source: returns rows `d` of `api_deliveries`.
    func apiDeliveries(from source: String, _ parameters: [PostgresValue]) async throws -> [APIDeliveryRow] {
        let result = try await query(
            """
            SELECT d.id, d.label, d.kind, d.state, d.state_reason, d.priority, d.target, d.excluded, d.pending, d.sent, d.failed,
                d.ignored, d.not_applicable, d.canceled, d.unknown, d.seeds, d.prepared, d.created_at, d.start_at, d.started_at,
                d.finished_at, d.valid_until, d.snapshot_at, d.applications, d.parent_id, d.one_time_code, d.category, d.archived_at,
                g.signal, g.good, g.target, g.floor, g.ceiling, g.value, g.age_seconds, coalesce(g.rate, g.floor), g.state, g.reason
            FROM \(source) LEFT JOIN pushmta.delivery_signal g ON g.delivery_id = d.id
            ORDER BY d.id DESC
            """,
            parameters
        )
        return try all(result, Self.apiDelivery)
    }

    private static func apiDelivery(_ row: inout RowReader) throws -> APIDeliveryRow {
        APIDeliveryRow(
            id: try row.int64(),
            label: try row.text(),
            kind: try row.text(),
            state: try row.choice(),
            stateReason: try row.text(),
            priority: try row.int32(),
            counts: APIDeliveryRow.Counts(
                target: try row.int64(),
                excluded: try row.int64(),
                pending: try row.int64(),
                sent: try row.int64(),
                failed: try row.int64(),
                ignored: try row.int64(),
                notApplicable: try row.int64(),
                canceled: try row.int64(),
                unknown: try row.int64(),
                seeds: try row.int64()
            ),
            isPrepared: try row.bool(),
            createdAt: try row.time(),
            startAt: try row.timeOrNil(),
            startedAt: try row.timeOrNil(),
            finishedAt: try row.timeOrNil(),
            validUntil: try row.timeOrNil(),
            asOf: try row.time(),
            applications: try row.textArray(),
            parentID: try row.int64OrNil(),
            isOneTimeCode: try row.bool(),
            category: try row.textOrNil(),
            archivedAt: try row.timeOrNil(),
            signal: try row.ifPresent(10, deliverySignal)
        )
    }
}

/// A message of a delivery with its outcome, for the API.
package struct APIOutcome: Sendable {
    package let row: OutcomeRow
    /// Whether it went to a seed address.
    package let isSeed: Bool
}

extension Store {
    /// The range of numbers of a page with at most this many messages after a number. Numbers can have gaps.
    ///
    /// - Returns: the highest number of a message of the delivery, and the last number of the page; that is `after` if no
    ///   message follows.
    package func outcomeRange(delivery id: Int64, after: Int32, limit: Int32) async throws -> (
        highest: Int32, through: Int32
    ) {
        try await query(
            "SELECT r.highest, r.through FROM pushmta_engine.api_outcome_range($1, $2, $3) r",
            [.int64(id), .int32(after), .int32(limit)]
        ).one { row in (highest: try row.int32(), through: try row.int32()) }
    }

    /// The messages of a delivery with numbers in a range, in order, including those without an outcome.
    package func outcomes(delivery id: Int64, sequences: ClosedRange<Int32>) async throws -> [APIOutcome] {
        let result = try await query(
            """
            SELECT o.sequence, o.subscription_id, o.status, o.http_status, o.reason, o.failure_type, o.failure_reason,
                o.gateway_message_id, o.attempt, o.logged_at, o.received, o.clicked, o.seed
            FROM pushmta_engine.api_outcomes($1, $2, $3) o
            """,
            [.int64(id), .int32(sequences.lowerBound), .int32(sequences.upperBound)]
        )
        return try all(result) { row in
            APIOutcome(row: try Self.outcomeRow(&row), isSeed: try row.bool())
        }
    }
}
