import PostgresClient
import PushCore

/// What became of the messages of a recalled delivery: `target` is the sum of the numbers after it.
package struct RecallReport: Sendable, Hashable {
    package let mode: RecallMode
    package let reason: String
    /// Who recalled it: a login, an API key or a user of the console.
    package let recalledBy: String
    package let recalledAt: DatabaseTime
    /// The delivery that replaces or removes what was sent; nil if nothing does.
    package let child: Int64?
    /// The state of that delivery.
    package let childState: DeliveryState?
    package let target: Int64
    /// Messages without an outcome yet.
    package let pending: Int64
    /// Messages that nobody can have seen.
    package let unsent: Int64
    /// Messages in whose place the gateway took another one.
    package let replaced: Int64
    /// Messages that a device has removed, as it says.
    package let removed: Int64
    /// Messages whose second message has not left: not yet, or never if the second delivery was stopped.
    package let unreached: Int64
    /// All others that may have been seen.
    package let tooLate: Int64
    /// Who stopped the second delivery: a login, an API key or a user of the console; "" if nobody did.
    package let givenUpBy: String

    init(_ row: inout RowReader) throws {
        mode = try row.choice()
        reason = try row.text()
        recalledBy = try row.text()
        recalledAt = try row.time()
        child = try row.int64OrNil()
        childState = try row.ifPresent(1) { try $0.choice() as DeliveryState }
        target = try row.int64()
        pending = try row.int64()
        unsent = try row.int64()
        replaced = try row.int64()
        removed = try row.int64()
        unreached = try row.int64()
        tooLate = try row.int64()
        givenUpBy = try row.text()
    }
}

extension Store {
    /// Recalls a delivery: nothing new is sent, and what was sent may be replaced or removed by a second delivery,
    /// whose id it returns.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` if it was not started or another recall of it is under way,
    /// or `invalid` without a reason or for a content that cannot be sent.
    ///
    /// - Parameter content: what takes the place of the messages, JSON; only with ``RecallMode/replace``.
    @discardableResult
    package func recallDelivery(_ id: Int64, reason: String, mode: RecallMode = .stop, content: String? = nil)
        async throws -> Int64?
    {
        try await change(
            "pushmta.recall_delivery($1, $2, $3, $4::text)",
            [.int64(id), .text(reason), .text(mode.rawValue), .textOrNull(content)]
        ).one { try $0.int64OrNil() }
    }

    /// Does the same for a signed-in user, and logs it in the same transaction.
    @discardableResult
    package func recallDelivery(
        _ id: Int64,
        reason: String,
        mode: RecallMode,
        content: String?,
        by actor: ConsoleActor
    ) async throws -> Int64? {
        try await query(
            "SELECT pushmta_engine.console_recall(\(ConsoleActor.caller), $5, $6, $7, $8::text)",
            actor.values + [.int64(id), .text(reason), .text(mode.rawValue), .textOrNull(content)]
        ).one { try $0.int64OrNil() }
    }

    /// What became of the messages of a recalled delivery; nil if it was not recalled.
    package func recallReport(ofDelivery id: Int64) async throws -> RecallReport? {
        try await query(
            """
            SELECT r.mode, r.reason, r.recalled_by, r.recalled_at, r.recall_delivery_id, r.recall_state, r.target, r.pending,
                r.unsent, r.replaced, r.removed, r.unreached, r.too_late, r.given_up_by
            FROM pushmta_engine.recall_of($1) r
            """,
            [.int64(id)]
        ).oneOrNil(RecallReport.init)
    }

    /// The delivery whose messages another one replaces or removes; nil if that is no recall.
    package func delivery(recalledBy child: Int64) async throws -> Int64? {
        try await query("SELECT pushmta_engine.recalled_by($1)", [.int64(child)]).one { try $0.int64OrNil() }
    }

    /// The delivery that replaces or removes the messages of another one; nil once it has ended: then that one can be
    /// recalled again.
    package func runningRecall(ofDelivery id: Int64) async throws -> Int64? {
        try await query("SELECT pushmta_engine.running_recall($1)", [.int64(id)]).one { try $0.int64OrNil() }
    }

    /// The platforms on which a recall can replace the messages of a delivery.
    package func replaceablePlatforms(ofDelivery id: Int64) async throws -> [Platform] {
        try await query("SELECT pushmta_engine.replaceable_platforms($1)", [.int64(id)]).one { try $0.textArray() }
            .compactMap(Platform.init(rawValue:))
    }

    /// A content for the messages that replace those of a delivery, as its recall completes it.
    package func replacingContent(_ content: String, ofDelivery id: Int64) async throws -> String {
        try await query("SELECT pushmta_engine.replacing_text($1, $2::text)", [.int64(id), .text(content)])
            .one { try $0.text() }
    }

    /// Lists messages of recalled deliveries for the deliveries that replace or remove them, up to this many parts.
    /// Returns whether there may be more.
    package func listRecalled(parts: Int = 20) async throws -> Bool {
        try await change("pushmta_engine.list_recalled($1)", [.int32(Int32(clamping: parts))])
            .one { try $0.int32() > 0 }
    }
}
