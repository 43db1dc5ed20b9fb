import PostgresClient
import PushCore

/// What was reported about a token.
package enum TokenEventKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// The token is dead.
    case invalid
    /// The gateway has replaced it with another one.
    case canonical
    /// The person wants no messages.
    case optOut = "opt_out"
    /// A message to it failed for a transient reason.
    case softError = "soft_error"
    /// A message got through to it after soft errors.
    case success
}

/// Counts of equal reports about tokens in a delivery with one reason, by state.
package struct TokenEventCount: Sendable, Hashable {
    /// The delivery, nil for reports without one.
    package let deliveryID: Int64?
    package let application: String
    package let kind: TokenEventKind
    /// The gateway's text.
    package let reason: String
    /// Not decided yet.
    package let pending: Int64
    /// Held back while the circuit is open.
    package let held: Int64
    /// Unconfirmed, because far more arrived at once than a fleet loses.
    package let doubted: Int64
    /// Applied to the subscription.
    package let applied: Int64
    package let undone: Int64
    /// The subscription has registered again, was already disabled, or is gone; or the same was reported too soon
    /// before to count again.
    package let outdated: Int64

    /// A count of token events.
    package init(
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
    /// Applies what gateways reported about tokens to subscriptions, unless they have registered again since or the
    /// application's token effects are held. Dead tokens are disabled, replaced ones replaced, soft errors counted and
    /// forgotten. Any number of hosts may call it at once; it never waits.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of events; call again at once if as many were decided.
    ///   - rules: when soft errors count and when they are forgotten.
    /// - Returns: the number of events decided, plus the subscriptions healed by time.
    @discardableResult
    package func applyTokenEvents(
        limit: Int = 1000,
        rules: QuarantineSettings = QuarantineSettings()
    ) async throws -> Int {
        let healing = PostgresValue.int32(Int32(clamping: rules.healingDays))
        let open = try await query(Self.openTokenEventSQL, [healing, .int32(Int32(clamping: rules.doubtDays))])
            .one(Self.openTokenEvents)
        let limitValue = PostgresValue.int32(Int32(clamping: limit))
        var decided = 0
        if open.applies {
            let result = try await query(
                Self.applySQL,
                [
                    limitValue, .int32(Int32(clamping: rules.maxSoftErrors)),
                    .int32(Int32(clamping: rules.significantErrorDelaySec)), healing,
                ]
            )
            decided += try result.one { Int(try $0.int32()) }
        }
        if open.heals {
            decided += try await query(Self.healSQL, [limitValue, healing]).one { Int(try $0.int32()) }
        }
        if open.resolves {
            let doubt: [PostgresValue] = [
                .bool(rules.believesDoubted), .int32(Int32(clamping: rules.doubtDays)), limitValue,
            ]
            decided += try await query(Self.doubtSQL, doubt).one { Int(try $0.int32()) }
        }
        return decided
    }

    /// Whether there are events to apply or subscriptions to heal; read from indexes of open items.
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

    /// Decides all unconfirmed refusals of an application's tokens, which arrived in a mass refusal.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `unavailable` if some are left.
    ///
    /// - Parameter confirmed: whether the tokens are dead; otherwise the gateway was wrong.
    /// - Returns: the number of refusals.
    @discardableResult
    package func resolveDoubtedTokens(application name: String, confirmed: Bool) async throws -> Int {
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

    /// Repeats a statement that returns how much it has done until that is less than a step, each in a transaction of
    /// its own. A whole fleet in one transaction would exceed every time limit, and block registrations of its rows.
    ///
    /// - Parameters:
    ///   - parameters: the statement gets one more, the maximum to do.
    ///   - left: counts what is left at a given time because others hold it; $1 is the first parameter, $2 the time.
    private func inSteps(_ sql: String, _ parameters: [PostgresValue], left leftSQL: String) async throws -> Int {
        // Later refusals are left to a later decision.
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
            "\(done) answers about tokens are decided; \(left) are left, because another transaction holds their subscriptions.",
            hint: "try again when it has ended; pushmta status names blocking transactions"
        )
    }

    /// A registration holds its row for a few milliseconds.
    private static let triesOfTokens = 10
    private static let pauseOfTokens = Duration.milliseconds(200)

    /// A fraction of a second of the database's work.
    private static let stepOfTokens: Int32 = 5_000

    private static let applySQL = """
        SELECT pushmta_engine.apply_token_effects($1, $2, $3 * interval '1 second', $4 * interval '1 day')
        """

    private static let healSQL = "SELECT pushmta_engine.heal_soft_errors($1, $2 * interval '1 day')"

    /// Undoes what the answers to a delivery's messages did to tokens; returns the number of events.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    @discardableResult
    package func undoTokenEvents(delivery id: Int64) async throws -> Int {
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

    /// Reports about tokens by delivery, kind and reason, newest deliveries first.
    ///
    /// - Parameter delivery: nil for all deliveries.
    package func tokenEventCounts(delivery: Int64? = nil, limit: Int = 50) async throws -> [TokenEventCount] {
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
