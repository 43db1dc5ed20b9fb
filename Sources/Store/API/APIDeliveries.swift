import PostgresClient
import PushCore

/// A delivery as the API shows it, with its counts in one snapshot.
public struct APIDeliveryRow: Sendable {
    /// How many messages are in each state; they add up to `target`.
    public struct Counts: Sendable, Hashable {
        /// Messages made so far.
        public var target: Int64
        /// People left out at preparation.
        public var excluded: Int64
        /// Messages without an outcome.
        public var pending: Int64
        /// Messages that the gateway accepted.
        public var sent: Int64
        /// Messages refused for good.
        public var failed: Int64
        /// Messages not sent because they would have come too late or nobody wanted them.
        public var ignored: Int64
        /// Messages whose device was gone or disabled at sending.
        public var notApplicable: Int64
        /// Messages of a stopped delivery.
        public var canceled: Int64
        /// Messages of which nobody knows whether they arrived.
        public var unknown: Int64
        /// How many of the target are messages to seed addresses.
        public var seeds: Int64
    }

    public let id: Int64
    public let label: String
    /// `batch` or `continuous`.
    public let kind: String
    public let state: DeliveryState
    /// Why it failed or what it waits for, "" if nothing.
    public let stateReason: String
    /// Greater goes first.
    public let priority: Int32
    public let counts: Counts
    /// Whether all messages are made.
    public let isPrepared: Bool
    public let createdAt: DatabaseTime
    /// When it is to start, nil before it was started.
    public let startAt: DatabaseTime?
    /// When it began, nil before.
    public let startedAt: DatabaseTime?
    /// When it ended, nil before.
    public let finishedAt: DatabaseTime?
    /// Until when its messages are sent, nil before it was started.
    public let validUntil: DatabaseTime?
    /// The moment of the counts.
    public let asOf: DatabaseTime
    /// The names of its applications.
    public let applications: [String]
    /// The delivery that it is a day or a proof of.
    public let parentID: Int64?
    /// Whether it goes to those who opted out, too.
    public let isOneTimeCode: Bool
}

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
        let result = try await change(
            """
            pushmta_engine.api_create_delivery(label => $1, applications => $2, content => $3, continuous => $4,
                priority => $5::integer, validity_seconds => $6, explicit_targets => $7, one_per_user => $8, ambiguity_policy => $9,
                max_retries => $10, retry_period_seconds => $11::integer, filter => $12::text, exclude => $13::text[],
                retry_schedule => $14, messages_per_second => $15, one_time_code => $16)
            """,
            [
                .text(new.label), .textArray(new.applications), .text(new.content), .bool(isContinuous),
                .int32(Int32(new.priority)), .int64(new.validitySeconds), .bool(new.explicitTargets),
                .bool(new.onePerUser), .text(new.ambiguityPolicy.rawValue), .int32(new.maxRetries),
                new.retryPeriodSeconds.map(PostgresValue.int32) ?? .null, .textOrNull(filter),
                exclude.map { .textArray($0) } ?? .null, .text(new.retrySchedule.rawValue),
                new.messagesPerSecond.map(PostgresValue.double) ?? .null, .bool(new.isOneTimeCode),
            ]
        )
        return try result.one { try $0.int64() }
    }

    /// Adds to whom a delivery with explicit targets goes, all or none; gives how many were added.
    public func addDeliveryTargets(_ targets: [ExplicitTarget], to id: Int64) async throws -> Int64 {
        try await query(
            "SELECT pushmta.add_targets($1, $2, $3, $4, $5)",
            [
                .int64(id), .textArray(targets.map(\.userKey)), .int64ArrayWithNulls(targets.map(\.subscriptionID)),
                .textArray(targets.map(\.pushToken)), .textArray(targets.map(\.variables)),
            ]
        ).one { try $0.int64() }
    }

    /// Starts a delivery at a time, an RFC 3339 text.
    public func startDelivery(_ id: Int64, at moment: String) async throws {
        try await change("pushmta.start_delivery($1, $2::text::timestamptz)", [.int64(id), .text(moment)])
    }

    /// Deliveries with ids in a range, newest first; with applications given only those that go to no other one.
    public func apiDeliveries(ids: ClosedRange<Int64>, applications: [Int32]?, limit: Int32) async throws
        -> [APIDeliveryRow]
    {
        try await apiDeliveries(
            from: "pushmta_engine.api_deliveries($1, $2, $3::integer[], $4::integer) d",
            [
                .int64(ids.lowerBound), .int64(ids.upperBound), applications.map(PostgresValue.int32Array) ?? .null,
                .int32(limit),
            ]
        )
    }

    /// - Parameter source: what gives rows `d` of `api_deliveries`.
    func apiDeliveries(from source: String, _ parameters: [PostgresValue]) async throws -> [APIDeliveryRow] {
        let result = try await query(
            """
            SELECT d.id, d.label, d.kind, d.state, d.state_reason, d.priority, d.target, d.excluded, d.pending, d.sent, d.failed,
                d.ignored, d.not_applicable, d.canceled, d.unknown, d.seeds, d.prepared, d.created_at, d.start_at, d.started_at,
                d.finished_at, d.valid_until, d.snapshot_at, d.applications, d.parent_id, d.one_time_code
            FROM \(source)
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
            isOneTimeCode: try row.bool()
        )
    }
}

/// What became of one message of a delivery so far.
public struct OutcomeRow: Sendable {
    /// Its number in the delivery, from 1; it never changes.
    public let sequence: Int32
    public let subscriptionID: Int64
    /// `pending`, or how it ended.
    public let status: String
    /// The gateway's HTTP status, 0 if there was none.
    public let httpStatus: Int32
    /// The gateway's reason or ours, "" for none.
    public let reason: String
    /// `ignored`, `soft` or `hard`; nil for what is no failure.
    public let failureType: String?
    /// The kind of failure in words; nil for what is no failure.
    public let failureReason: String?
    /// The gateway's own id of it.
    public let gatewayMessageID: String?
    /// How often it was tried.
    public let attempt: Int32
    /// When its outcome was stored; nil for a pending one.
    public let loggedAt: DatabaseTime?
    /// Whether the device said that it has it.
    public let isReceived: Bool
    /// Whether its user opened it.
    public let isClicked: Bool
    /// Whether it went to a seed address.
    public let isSeed: Bool
}

extension Store {
    /// The highest number of a message of a delivery, 0 if it has none.
    public func highestMessageNumber(delivery id: Int64) async throws -> Int32 {
        try await query("SELECT pushmta_engine.api_highest_number($1)", [.int64(id)]).one { try $0.int32() }
    }

    /// The messages of a delivery with numbers in a range, in their order, those without an outcome included.
    public func outcomes(delivery id: Int64, sequences: ClosedRange<Int32>) async throws -> [OutcomeRow] {
        let result = try await query(
            """
            SELECT o.sequence, o.subscription_id, o.status, o.http_status, o.reason, o.failure_type, o.failure_reason,
                o.gateway_message_id, o.attempt, o.logged_at, o.received, o.clicked, o.seed
            FROM pushmta_engine.api_outcomes($1, $2, $3) o
            """,
            [.int64(id), .int32(sequences.lowerBound), .int32(sequences.upperBound)]
        )
        return try all(result) { row in
            OutcomeRow(
                sequence: try row.int32(),
                subscriptionID: try row.int64(),
                status: try row.text(),
                httpStatus: try row.int32(),
                reason: try row.text(),
                failureType: try row.textOrNil(),
                failureReason: try row.textOrNil(),
                gatewayMessageID: try row.textOrNil(),
                attempt: try row.int32(),
                loggedAt: try row.timeOrNil(),
                isReceived: try row.bool(),
                isClicked: try row.bool(),
                isSeed: try row.bool()
            )
        }
    }
}
