import PostgresClient
import PushCore

/// How it is about the approval of a delivery that has not begun.
package enum ApprovalStanding: Sendable, Hashable {
    /// Somebody has to approve it.
    case awaited
    /// It has the approval that it needs.
    case approved
    /// Its author edits it again, because a login, an API key or a user of the console has rejected it.
    case rejected(by: String)
}

extension Store {
    /// Those of some deliveries that need an approval and have not begun, or were rejected.
    package func approvalStandings(of rows: [DeliveryProgress]) async throws -> [Int64: ApprovalStanding] {
        // Others have none.
        let open = rows.filter { row in
            [.editing, .ready, .pending].contains(row.state) || row.state == .paused && row.startedAt == nil
        }
        return try await approvalStandings(ofDeliveries: open.map(\.id))
    }

    /// The same by their ids.
    package func approvalStandings(ofDeliveries ids: [Int64]) async throws -> [Int64: ApprovalStanding] {
        guard !ids.isEmpty else { return [:] }
        let result = try await query(
            "SELECT s.delivery_id, s.is_awaited, s.rejected_by FROM pushmta_engine.approval_standings($1) s",
            [.int64Array(ids)]
        )
        let rows = try all(result) { row -> (Int64, ApprovalStanding) in
            let (id, isAwaited) = (try row.int64(), try row.bool())
            if let name = try row.textOrNil() { return (id, .rejected(by: name)) }
            return (id, isAwaited ? .awaited : .approved)
        }
        return Dictionary(rows) { first, _ in first }
    }
}
