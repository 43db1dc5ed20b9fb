import PostgresClient
import PushCore

/// Whether a delivery needs an approval, and the one that it has.
package struct DeliveryApproval: Sendable, Hashable {
    /// An approval that has not ended.
    package struct Given: Sendable, Hashable {
        /// Who gave it: a login, an API key or a user of the console.
        package let by: String
        package let at: DatabaseTime
        /// The counted size that was approved.
        package let messages: Int64
        /// The start for which it holds; nil for the first one that the delivery gets.
        package let startAt: DatabaseTime?
        package let comment: String
    }

    /// Who requested the approval and said when the delivery starts.
    package struct Request: Sendable, Hashable {
        /// A login, an API key or a user of the console.
        package let by: String
        package let at: DatabaseTime
    }

    /// When and why an approval ended.
    package struct Ended: Sendable, Hashable {
        package let at: DatabaseTime
        /// Who withdrew it with which comment, or what has changed.
        package let because: String
    }

    /// A delivery of more messages needs one; nil if its service asks for none.
    package let above: Int64?
    /// Its counted size; nil if it was never counted.
    package let messages: Int64?
    /// Whether the messages that were counted are still held, and leave at the start.
    package let isCounted: Bool
    /// Why it may not begin; "" if it may.
    package let objection: String
    /// Who created and changed it.
    package let makers: [String]
    package let given: Given?
    /// Nil if nobody did: then somebody has to start it after its approval.
    package let requested: Request?
    /// Whether it starts as soon as it is approved.
    package let startsApproved: Bool
    /// Its start; nil if it has none yet, or starts as soon as it is approved.
    package let startsAt: DatabaseTime?
    /// Until when its messages may be sent, as far as that is known.
    package let validUntil: DatabaseTime?
    /// What an approval expects: it changes with everything that is approved.
    package let version: String
    /// When and why its last approval ended; nil if it has one, or never had one.
    package let ended: Ended?

    /// Whether somebody has to approve it before it can begin.
    package var isAwaited: Bool { messages != nil && !objection.isEmpty }

    /// Nil if it needs none.
    package var standing: ApprovalStanding? {
        guard let above, let messages, messages > above else { return nil }
        return isAwaited ? .awaited : .approved
    }

    init(_ row: inout RowReader) throws {
        above = try row.int64OrNil()
        messages = try row.int64OrNil()
        isCounted = try row.ifPresent(1) { try $0.bool() } ?? false
        objection = try row.text()
        makers = try row.textArray()
        given = try row.ifPresent(5) { row in
            Given(
                by: try row.text(),
                at: try row.time(),
                messages: try row.int64(),
                startAt: try row.timeOrNil(),
                comment: try row.text()
            )
        }
        requested = try row.ifPresent(2) { row in Request(by: try row.text(), at: try row.time()) }
        startsApproved = try row.bool()
        startsAt = try row.timeOrNil()
        validUntil = try row.timeOrNil()
        version = try row.text()
        ended = try row.ifPresent(2) { row in Ended(at: try row.time(), because: try row.text()) }
    }
}

extension Store {
    /// Whether a delivery needs an approval, and the one that it has.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func approval(ofDelivery id: Int64) async throws -> DeliveryApproval {
        let result = try await query(
            """
            SELECT a.above, a.messages, a.is_counted, a.objection, a.made_by, a.approved_by, a.approved_at,
                a.approved_messages, a.approved_start, a.comment, a.requested_by, a.requested_at, a.starts_approved, a.starts_at,
                a.valid_until, a.version, a.ended_at, a.ended_because
            FROM pushmta_engine.approval_of($1) a
            """,
            [.int64(id)]
        )
        return try first(result, orThrow: "There is no delivery \(id).", DeliveryApproval.init)
    }

    /// Deliveries that wait for an approval: first those that somebody is asked to approve, by their start.
    package func deliveriesAwaitingApproval(limit: Int) async throws -> [AwaitedApproval] {
        let result = try await query(
            """
            SELECT w.delivery_id, w.label, w.state, w.service, w.above, w.messages, w.start_at, w.problem, w.made_by,
                to_char(w.local_time, 'YYYY-MM-DD"T"HH24:MI'), w.starts_approved, w.requested_by, w.version,
                w.was_approved, w.too_late, w.recurs
            FROM pushmta.delivery_awaiting_approval w
            ORDER BY w.state = 'ready' AND NOT w.recurs, w.start_at NULLS LAST, w.delivery_id LIMIT $1
            """,
            [.int32(Int32(clamping: limit))]
        )
        return try all(result, AwaitedApproval.init)
    }

    /// Requests the approval of a delivery that has no start yet, and says when it starts then. It is analysed if it was
    /// not.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` if it needs no approval or has begun, or `invalid` for a start
    /// that it cannot have.
    ///
    /// - Parameter moment: its start, a time as in RFC 3339; nil for as soon as it is approved.
    package func requestApproval(ofDelivery id: Int64, startAt moment: String? = nil) async throws {
        try await change("pushmta.request_approval($1, $2::text::timestamptz)", [.int64(id), .textOrNull(moment)])
    }

    /// Approves an analysed or scheduled delivery as it is.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `conflict` if it needs no approval, has begun, was made by the same
    /// person, or is no longer the expected version.
    ///
    /// - Parameters:
    ///   - moment: the start for which it holds, a time as in RFC 3339; nil for the one that the delivery has, or else
    ///     gets first.
    ///   - expected: the version that was looked at; nil for whatever it is now.
    package func approveDelivery(
        _ id: Int64,
        comment: String,
        startAt moment: String? = nil,
        expected: String? = nil
    ) async throws {
        try await change(
            "pushmta.approve_delivery($1, $2, $3::text::timestamptz, $4::text)",
            [.int64(id), .text(comment), .textOrNull(moment), .textOrNull(expected)]
        )
    }

    /// Returns an analysed or scheduled delivery to its author, with a reason.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` if it has begun, or `invalid` without a reason.
    package func rejectDelivery(_ id: Int64, reason: String) async throws {
        try await change("pushmta.reject_delivery($1, $2)", [.int64(id), .text(reason)])
    }

    /// Ends the approval of a delivery that has not begun.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `conflict` if it has begun or has no approval.
    package func withdrawApproval(ofDelivery id: Int64, reason: String) async throws {
        try await change("pushmta.withdraw_approval($1, $2)", [.int64(id), .text(reason)])
    }

    /// Decides about a delivery for a signed-in user, and logs it in the same transaction.
    ///
    /// Throws ``StoreError`` with `sqlState` `PM090` if the session has ended, `PM091` if its role may not do this,
    /// otherwise as the decision does.
    ///
    /// - Parameter expected: the version that the user has seen; only this one is approved.
    package func decide(
        _ decision: ApprovalDecision,
        delivery id: Int64,
        words: String,
        expected: String,
        by actor: ConsoleActor
    ) async throws {
        try await query(
            "SELECT pushmta_engine.console_judge(\(ConsoleActor.caller), $5, $6, $7, $8)",
            actor.values + [.text(decision.rawValue), .int64(id), .text(words), .text(expected)]
        )
    }
}
