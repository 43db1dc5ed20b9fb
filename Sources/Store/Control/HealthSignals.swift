import PostgresClient
import PushCore

/// The followers of a signal, and its value.
package struct SignalFollowers: Sendable {
    package var followers: [SignalFollower]
    /// The last value and its time, by the database's clock; nil if there is none or it is stale.
    package let sample: (value: Double, at: Duration)?
}

/// Health signals: figures of other systems that rates of deliveries follow.
extension Store {
    /// Defines a signal, or changes it.
    package func setHealthSignal(_ signal: HealthSignal) async throws {
        try NameCheck.name(signal.name, of: "signal")
        try await change(
            "pushmta.set_health_signal($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            [
                .text(signal.name), .text(signal.kind.rawValue), .text(signal.source), .text(signal.selector),
                .text(signal.good.rawValue), .int32(signal.intervalSeconds), .int32(signal.timeoutMilliseconds),
                .int32(signal.reactionSeconds), .int32(signal.staleAfterSeconds),
            ]
        )
    }

    /// Removes a signal that no open delivery follows.
    package func dropHealthSignal(_ name: String) async throws {
        try await change("pushmta.drop_health_signal($1)", [.text(name)])
    }

    /// Lets the rate of a delivery follow a signal. All limits must be given.
    package func followSignal(_ id: Int64, _ signal: String, target: Double?, floor: Double?, ceiling: Double?)
        async throws
    {
        try await change(
            "pushmta.follow_signal($1, $2, $3, $4, $5)",
            [
                .int64(id), .text(signal), target.map(PostgresValue.double) ?? .null,
                floor.map(PostgresValue.double) ?? .null, ceiling.map(PostgresValue.double) ?? .null,
            ]
        )
    }

    /// Ends that a delivery follows a signal; its present rate stays as its limit.
    package func leaveSignal(_ id: Int64) async throws {
        try await change("pushmta.follow_signal($1, NULL)", [.int64(id)])
    }

    /// The signals by name.
    package func healthSignals() async throws -> [HealthSignalRow] {
        let result = try await query(
            """
            SELECT name, kind, source, selector, good, interval_seconds, timeout_ms, reaction_seconds, stale_after_seconds,
                value, age_seconds, stale, error, deliveries
            FROM pushmta.health_signal ORDER BY name
            """
        )
        return try all(result) { row in
            HealthSignalRow(
                signal: try Self.healthSignal(&row),
                value: try row.doubleOrNil(),
                ageSeconds: try row.doubleOrNil(),
                isStale: try row.bool(),
                error: try row.text(),
                deliveries: try row.int64()
            )
        }
    }

    /// The signals by name, without what marketing systems may not see: where they come from.
    package func signalChoices() async throws -> [SignalChoice] {
        let result = try await query(
            "SELECT name, kind, good, value, age_seconds, stale, deliveries FROM pushmta.health_signal ORDER BY name"
        )
        return try all(result) { row in
            SignalChoice(
                name: try row.text(),
                kind: try row.choice(),
                good: try row.choice(),
                value: try row.doubleOrNil(),
                ageSeconds: try row.doubleOrNil(),
                isStale: try row.bool(),
                deliveries: try row.int64()
            )
        }
    }

    /// The signal that a delivery follows, with its rate; nil if it follows none. A day follows with its delivery.
    package func signal(ofDelivery id: Int64) async throws -> DeliverySignalRow? {
        let result = try await query(
            """
            SELECT signal, good, target, floor, ceiling, value, age_seconds, coalesce(rate, floor), state, reason
            FROM pushmta.delivery_signal WHERE delivery_id = $1
            """,
            [.int64(id)]
        )
        return try result.oneOrNil(Self.deliverySignal)
    }

    /// Reads the columns of `pushmta.delivery_signal` from `signal` on.
    static func deliverySignal(_ row: inout RowReader) throws -> DeliverySignalRow {
        DeliverySignalRow(
            signal: try row.text(),
            good: try row.choice(),
            target: try row.double(),
            floor: try row.double(),
            ceiling: try row.double(),
            value: try row.doubleOrNil(),
            ageSeconds: try row.doubleOrNil(),
            rate: try row.double(),
            state: try row.text(),
            reason: try row.text()
        )
    }

    private static func healthSignal(_ row: inout RowReader) throws -> HealthSignal {
        var signal = HealthSignal(
            name: try row.text(),
            kind: try row.choice(),
            source: try row.text(),
            selector: try row.text(),
            good: try row.choice()
        )
        signal.intervalSeconds = try row.int32()
        signal.timeoutMilliseconds = try row.int32()
        signal.reactionSeconds = try row.int32()
        signal.staleAfterSeconds = try row.int32()
        return signal
    }
}

/// How supervisors read signals and set rates.
extension Store {
    /// The reads that are due; they are then due again after the signal's interval, on any host.
    package func claimSignals() async throws -> [DueSignal] {
        let result = try await query(
            """
            SELECT id, look, name, kind, source, selector, good, interval_seconds, timeout_ms, reaction_seconds, stale_after_seconds
            FROM pushmta_engine.claim_signals()
            """
        )
        return try all(result) { row in
            DueSignal(id: try row.int32(), look: try row.int64(), signal: try Self.healthSignal(&row))
        }
    }

    /// The time until the next read is due; nil if no delivery under way follows a signal.
    package func timeToSignal() async throws -> Duration? {
        try await query("SELECT pushmta_engine.seconds_to_signal()").one { try $0.doubleOrNil() }
            .map { max(.zero, .seconds($0)) }
    }

    /// The number that the function of a signal returns, called as `pushmta_signal` in a session of its own; nil for
    /// null.
    package func readSignalFunction(_ source: String, timeout: Duration) async throws -> Double? {
        try await views.readSignal(source, timeout: timeout).flatMap { Double($0) }
    }

    /// Stores what a read gave.
    ///
    /// - Returns: whether it is still the last read.
    package func note(_ reading: SignalReading, of due: DueSignal) async throws -> Bool {
        let values: [PostgresValue] =
            switch reading {
            case .value(let value): [.double(value), .text("")]
            case .failure(let reason): [.null, .text(reason)]
            }
        return try await query(
            "SELECT pushmta_engine.note_signal($1, $2, $3, $4)",
            [.int32(due.id), .int64(due.look)] + values
        ).one { try $0.bool() }
    }

    /// The deliveries under way that follow a signal.
    package func followers(of due: DueSignal) async throws -> SignalFollowers {
        let result = try await query(Self.followersSQL, [.int32(due.id)])
        var sample: (value: Double, at: Duration)?
        let followers = try all(result) { row in
            let (value, at) = (try row.doubleOrNil(), try row.doubleOrNil())
            if let value, let at { sample = (value, .seconds(at)) }
            return try Self.follower(&row, due.signal)
        }
        return SignalFollowers(followers: followers, sample: sample)
    }

    private static func follower(_ row: inout RowReader, _ signal: HealthSignal) throws -> SignalFollower {
        let (id, followedAt) = (try row.int64(), try row.text())
        let aim = SignalController.Aim(
            target: try row.double(),
            good: signal.good,
            floor: try row.double(),
            ceiling: try row.double(),
            reaction: .seconds(signal.reactionSeconds)
        )
        let state: SignalController.State = try row.choice()
        var memory = SignalController.Memory(rate: try row.double())
        memory.load = try row.doubleOrNil()
        memory.trend = try row.doubleOrNil()
        memory.knee = try row.doubleOrNil()
        memory.patience = .seconds(try row.double())
        memory.cutAt = try row.doubleOrNil().map { .seconds($0) }
        memory.sampledAt = try row.doubleOrNil().map { .seconds($0) }
        return SignalFollower(
            deliveryID: id,
            followedAt: followedAt,
            controller: SignalController(aim, memory, state: state),
            granted: try row.int64(),
            grantedBefore: try row.int64()
        )
    }

    /// The rate is the present one: if nobody has read the signal for a while, it has fallen to its floor.
    private static let followersSQL = """
        SELECT CASE WHEN x.is_fresh THEN s.value END, CASE WHEN x.is_fresh THEN extract(epoch FROM s.sampled_at)::double precision END,
            f.delivery_id, f.followed_at::text, f.target, f.floor, f.ceiling, f.state,
            least(f.rate, pushmta_engine.rate_at(r, clock_timestamp())), f.load, f.trend, f.knee, f.patience_seconds,
            extract(epoch FROM f.cut_at)::double precision, extract(epoch FROM f.sampled_at)::double precision, r.granted, f.granted
        FROM pushmta_engine.delivery_signal f
        JOIN pushmta_engine.health_signal s ON s.id = f.signal_id
        JOIN pushmta_engine.delivery d ON d.id = f.delivery_id
        JOIN pushmta_engine.rate_limit r ON r.delivery_id = f.delivery_id
        CROSS JOIN LATERAL (SELECT s.sampled_at > clock_timestamp() - make_interval(secs => s.stale_after_seconds) AS is_fresh) x
        WHERE f.signal_id = $1 AND NOT f.ended AND d.state IN ('preparing', 'in_progress')
        ORDER BY f.delivery_id
        """

    /// Sets the rates of followers, unless another read of the signal has begun since.
    ///
    /// - Returns: how many were set.
    @discardableResult
    package func setRates(of due: DueSignal, _ followers: [SignalFollower]) async throws -> Int {
        let text = try JSONBody.text(followers.map(FollowerRate.init))
        let set = try await query(
            "SELECT pushmta_engine.set_signal_rates($1, $2, $3::text::jsonb)",
            [.int32(due.id), .int64(due.look), .text(text)]
        ).one { try $0.int32() }
        return Int(set)
    }
}

/// A follower as `pushmta_engine.set_signal_rates` reads it; times in seconds.
private struct FollowerRate: Encodable {
    private enum CodingKeys: String, CodingKey {
        case delivery, state, rate, load, trend, knee, patience, granted
        case followedAt = "followed_at"
        case cutAt = "cut_at"
        case sampledAt = "sampled_at"
    }

    let delivery: Int64
    let followedAt: String
    let state: String
    let rate: Double
    let load: Double?
    let trend: Double?
    let knee: Double?
    let patience: Double
    let cutAt: Double?
    let sampledAt: Double?
    let granted: Int64

    init(_ follower: SignalFollower) {
        let memory = follower.controller.memory
        delivery = follower.deliveryID
        followedAt = follower.followedAt
        state = follower.controller.state.rawValue
        rate = memory.rate
        load = memory.load
        trend = memory.trend
        knee = memory.knee
        patience = memory.patience / .seconds(1)
        cutAt = memory.cutAt.map { $0 / .seconds(1) }
        sampledAt = memory.sampledAt.map { $0 / .seconds(1) }
        granted = follower.granted
    }
}
