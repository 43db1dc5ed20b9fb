import PostgresClient
import PushCore

/// What was said about a token.
public enum TokenEventKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// The token is dead.
    case invalid
    /// The gateway wants another one instead.
    case canonical
    /// The person wants no messages.
    case optOut = "opt_out"
    /// A message to it failed for a reason that may pass.
    case softError = "soft_error"
    /// A message got through to it after soft errors.
    case success
}

/// How often the same was said about tokens in a delivery with one reason, by what became of it.
public struct TokenEventCount: Sendable, Hashable {
    /// The delivery, nil for what came without one.
    public let deliveryID: Int64?
    public let application: String
    public let kind: TokenEventKind
    /// The gateway's words.
    public let reason: String
    /// Not decided yet.
    public let pending: Int64
    /// Put aside while the circuit is open.
    public let held: Int64
    /// In doubt, as far more came at once than a fleet loses.
    public let doubted: Int64
    /// Applied to the subscription.
    public let applied: Int64
    public let undone: Int64
    /// The subscription was registered anew, disabled before, or is gone; or the same was said too soon before to count again.
    public let outdated: Int64

    /// A count of token events.
    public init(
        deliveryID: Int64?,
        application: String,
        kind: TokenEventKind = .invalid,
        reason: String,
        pending: Int64,
        held: Int64,
        doubted: Int64 = 0,
        applied: Int64,
        undone: Int64,
        outdated: Int64
    ) {
        self.deliveryID = deliveryID
        self.application = application
        self.kind = kind
        self.reason = reason
        self.pending = pending
        self.held = held
        self.doubted = doubted
        self.applied = applied
        self.undone = undone
        self.outdated = outdated
    }
}

extension Store {
    /// Does to subscriptions what gateways said about their tokens, unless they were registered anew since or the application's
    /// token effects are held: dead ones are disabled, replaced ones replaced, soft errors counted and forgotten. Any number of
    /// hosts may call it at once; it waits for nobody.
    ///
    /// - Parameters:
    ///   - limit: events at most; call again at once when as many were decided.
    ///   - rules: when soft errors count and when they are forgotten.
    /// - Returns: the number of events decided and of subscriptions healed by time.
    @discardableResult
    public func applyTokenEvents(
        limit: Int = 1000,
        rules: QuarantineSettings = QuarantineSettings()
    ) async throws -> Int {
        let healing = PostgresValue.int32(Int32(clamping: rules.healingDays))
        let open = try await query(Self.openTokenEventSQL, [healing, .int32(Int32(clamping: rules.doubtDays))])
            .one(Self.openTokenEvents)
        let most = PostgresValue.int32(Int32(clamping: limit))
        var decided = 0
        if open.applies {
            let result = try await query(
                Self.applySQL,
                [
                    most, .int32(Int32(clamping: rules.maxSoftErrors)),
                    .int32(Int32(clamping: rules.significantErrorDelaySec)), healing,
                ]
            )
            decided += try result.one { Int(try $0.int32()) }
        }
        if open.heals {
            decided += try await query(Self.healSQL, [most, healing]).one { Int(try $0.int32()) }
        }
        if open.resolves {
            let doubt: [PostgresValue] = [
                .bool(rules.believesDoubted), .int32(Int32(clamping: rules.doubtDays)), most,
            ]
            decided += try await query(Self.doubtSQL, doubt).one { Int(try $0.int32()) }
        }
        return decided
    }

    /// Whether there is anything to apply, and anybody to heal; read from indexes of what is open.
    static let openTokenEventSQL = """
        SELECT EXISTS (SELECT FROM pushmta_engine.token_event WHERE state = 'pending' AND kind = 'invalid')
            OR EXISTS (SELECT FROM pushmta_engine.token_event
                WHERE state = 'pending' AND kind IN ('canonical', 'soft_error', 'success'))
            OR EXISTS (SELECT FROM pushmta_engine.token_event e WHERE e.state = 'held' AND NOT EXISTS (
                SELECT FROM pushmta_engine.application_health h WHERE h.application_id = e.application_id AND h.token_effects_held)),
            EXISTS (SELECT FROM pushmta_engine.subscription s
                WHERE s.quarantine_status = 1 AND s.soft_errors > 0 AND s.last_error_at < now() - $1 * interval '1 day'
                    AND NOT (SELECT coalesce(bool_or(e.state = 'doubted'), false) FROM pushmta_engine.token_event e
                        WHERE e.subscription_id = s.id)),
            EXISTS (SELECT FROM pushmta_engine.token_event WHERE state = 'doubted' AND created_at <= now() - $2 * interval '1 day')
        """

    static func openTokenEvents(_ row: inout RowReader) throws -> (applies: Bool, heals: Bool, resolves: Bool) {
        (try row.bool(), try row.bool(), try row.bool())
    }

    private static let doubtSQL =
        "SELECT pushmta_engine.resolve_doubted_tokens(NULL, $1, $2 * interval '1 day', $3)"

    /// Decides about all refusals of an application's tokens that are in doubt, because so many came at once.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `unavailable` if some are left.
    ///
    /// - Parameter confirmed: the tokens are dead; else the gateway was wrong.
    /// - Returns: the number of refusals.
    @discardableResult
    public func resolveDoubtedTokens(application name: String, confirmed: Bool) async throws -> Int {
        try await inSteps(
            "SELECT pushmta.resolve_doubted_tokens($1, $2, $3)",
            [.text(name), .bool(confirmed)],
            left: """
                SELECT count(*) FROM pushmta_engine.token_event e
                WHERE e.application_id = (SELECT a.id FROM pushmta_engine.application a WHERE a.name = $1)
                    AND e.state = 'doubted' AND e.created_at <= $2
                """
        )
    }

    /// Repeats a statement that returns how much it has done until that is less than a step, each a transaction of its own: a whole fleet in one would outlast every time
    /// limit, and hold its rows from registrations.
    ///
    /// - Parameters:
    ///   - parameters: the statement gets one more, how much to do at most.
    ///   - left: counts what is left, because others hold it, of what was there at a moment; $1 is the first parameter, $2 the moment.
    private func inSteps(_ sql: String, _ parameters: [PostgresValue], left leftSQL: String) async throws -> Int {
        // What comes later is another's to judge.
        let begin = try await query("SELECT now()").one { try $0.time() }
        var done = 0
        var left: Int64 = 0
        for _ in 0..<Self.triesOfTokens {
            while true {
                let step = try await query(sql, parameters + [.int32(Self.stepOfTokens)]).one { Int(try $0.int64()) }
                done += step
                guard step >= Int(Self.stepOfTokens) else { break }
            }
            let moment = PostgresValue.timestamp(microsecondsSince1970: begin.microsecondsSince1970)
            left = try await query(leftSQL, [parameters[0], moment]).one { try $0.int64() }
            guard left > 0 else { return done }
            try await Task.sleep(for: Self.pauseOfTokens)
        }
        throw StoreError(
            .unavailable,
            "\(done) answers about tokens are decided; \(left) are left, as another transaction holds their subscriptions.",
            hint: "try again when it has ended; pushmta status names those that hold others up"
        )
    }

    /// A registration holds its row for some milliseconds.
    private static let triesOfTokens = 10
    private static let pauseOfTokens = Duration.milliseconds(200)

    /// A fraction of a second of the database's work.
    private static let stepOfTokens: Int32 = 5_000

    private static let applySQL = """
        SELECT pushmta_engine.apply_token_effects($1, $2, $3 * interval '1 second', $4 * interval '1 day')
        """

    private static let healSQL = "SELECT pushmta_engine.heal_soft_errors($1, $2 * interval '1 day')"

    /// Takes back what the answers to a delivery's messages did to tokens; returns the number of events.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    @discardableResult
    public func undoTokenEvents(delivery id: Int64) async throws -> Int {
        try await inSteps(
            "SELECT pushmta.undo_token_effects($1, $2)",
            [.int64(id)],
            left: """
                SELECT count(*) FROM pushmta_engine.token_event e
                WHERE e.delivery_id = $1 AND e.kind IN ('invalid', 'canonical', 'soft_error')
                    AND e.state IN ('pending', 'held', 'doubted', 'applied') AND e.created_at <= $2
                """
        )
    }

    /// What was said about tokens by delivery, kind and reason, of the newest deliveries first.
    ///
    /// - Parameter delivery: nil for all deliveries.
    public func tokenEventCounts(delivery: Int64? = nil, limit: Int = 50) async throws -> [TokenEventCount] {
        let states = ["pending", "held", "doubted", "applied", "undone", "outdated"]
        let counts = states.map { "count(*) FILTER (WHERE e.state = '\($0)')" }.joined(separator: ", ")
        let result = try await query(
            """
            SELECT e.delivery_id, a.name, e.kind, e.reason, \(counts)
            FROM pushmta_engine.token_event e JOIN pushmta_engine.application a ON a.id = e.application_id
            WHERE $1::bigint IS NULL OR e.delivery_id = $1
            GROUP BY e.delivery_id, a.name, e.kind, e.reason
            ORDER BY e.delivery_id DESC NULLS LAST, a.name, count(*) DESC, e.kind, e.reason LIMIT $2
            """,
            [.int64OrNull(delivery), .int64(Int64(limit))]
        )
        return try all(result) { row in
            TokenEventCount(
                deliveryID: try row.int64OrNil(),
                application: try row.text(),
                kind: try row.choice(),
                reason: try row.text(),
                pending: try row.int64(),
                held: try row.int64(),
                doubted: try row.int64(),
                applied: try row.int64(),
                undone: try row.int64(),
                outdated: try row.int64()
            )
        }
    }
}
