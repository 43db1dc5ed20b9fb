import PostgresClient
import PushCore

extension Store {
    /// Creates a delivery whole or not at all.
    ///
    /// - Parameters:
    ///   - filter: whom of the subscribers it goes to, nil for all.
    ///   - exclude: the names of exclusion lists, nil for none.
    public func createDelivery(_ new: NewDelivery, isContinuous: Bool, filter: String?, exclude: [String]?) async throws
        -> Int64
    {
        try NameCheck.label(new.label, of: "delivery")
        try NameCheck.validity(new.validitySeconds)
        let result = try await query(
            """
            SELECT pushmta_engine.api_create_delivery(label => $1, applications => $2, content => $3, continuous => $4,
                priority => $5::integer, validity_seconds => $6, explicit_targets => $7, one_per_user => $8, ambiguity_policy => $9,
                max_retries => $10, retry_period_seconds => $11, filter => $12::text, exclude => $13::text[])
            """,
            [
                .text(new.label), .textArray(new.applications), .text(new.content), .bool(isContinuous),
                .int32(Int32(new.priority)), .int64(new.validitySeconds), .bool(new.explicitTargets),
                .bool(new.onePerUser), .text(new.ambiguityPolicy.rawValue), .int32(new.maxRetries),
                .int32(new.retryPeriodSeconds), .textOrNull(filter),
                exclude.map { .textArray($0) } ?? .null,
            ]
        )
        return try result.int64(0, 0)
    }

    /// Adds to whom a delivery with explicit targets goes, all or none; gives how many were added.
    public func addDeliveryTargets(_ targets: [ExplicitTarget], to id: Int64) async throws -> Int64 {
        try await query(
            "SELECT pushmta.add_targets($1, $2, $3, $4, $5)",
            [
                .int64(id), .textArray(targets.map(\.userKey)), .int64ArrayWithNulls(targets.map(\.subscriptionID)),
                .textArray(targets.map(\.pushToken)), .textArray(targets.map(\.variables)),
            ]
        ).int64(0, 0)
    }

    /// Starts a delivery at a time, an RFC 3339 text.
    public func startDelivery(_ id: Int64, at moment: String) async throws {
        try await query("SELECT pushmta.start_delivery($1, $2::text::timestamptz)", [.int64(id), .text(moment)])
    }

    /// Deliveries with ids in a range, newest first; with applications given only those that go to no other one.
    public func apiDeliveries(ids: ClosedRange<Int64>, applications: [Int32]?, limit: Int32) async throws
        -> [APIDeliveryRow]
    {
        let result = try await query(
            """
            SELECT d.id, d.label, d.kind, d.state, d.state_reason, d.priority, d.target, d.excluded, d.pending, d.sent, d.failed,
                d.ignored, d.not_applicable, d.canceled, d.unknown, d.prepared, d.created_at, d.start_at, d.started_at,
                d.finished_at, d.valid_until, d.snapshot_at, d.applications, d.parent_id
            FROM pushmta_engine.api_deliveries($1, $2, $3::integer[], $4::integer) d
            """,
            [
                .int64(ids.lowerBound), .int64(ids.upperBound), applications.map(PostgresValue.int32Array) ?? .null,
                .int32(limit),
            ]
        )
        return try all(result, Self.apiDelivery)
    }

    private static func apiDelivery(_ rows: PostgresResult, _ row: Int) throws -> APIDeliveryRow {
        APIDeliveryRow(
            id: try rows.int64(row, 0),
            label: try rows.text(row, 1),
            kind: try rows.text(row, 2),
            state: try choice(rows, row, 3),
            stateReason: try rows.text(row, 4),
            priority: try rows.int32(row, 5),
            counts: APIDeliveryRow.Counts(
                target: try rows.int64(row, 6),
                excluded: try rows.int64(row, 7),
                pending: try rows.int64(row, 8),
                sent: try rows.int64(row, 9),
                failed: try rows.int64(row, 10),
                ignored: try rows.int64(row, 11),
                notApplicable: try rows.int64(row, 12),
                canceled: try rows.int64(row, 13),
                unknown: try rows.int64(row, 14)
            ),
            isPrepared: try rows.bool(row, 15),
            createdAt: try rows.time(row, 16),
            startAt: try rows.timeOrNil(row, 17),
            startedAt: try rows.timeOrNil(row, 18),
            finishedAt: try rows.timeOrNil(row, 19),
            validUntil: try rows.timeOrNil(row, 20),
            asOf: try rows.time(row, 21),
            applications: try rows.textArray(row, 22).compactMap(\.self),
            parentID: try rows.int64OrNil(row, 23)
        )
    }
}
