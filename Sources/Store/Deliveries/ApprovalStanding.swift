import PostgresClient
import PushCore

/// How it is about the approval of a delivery that has not begun and needs one.
package enum ApprovalStanding: String, Sendable, Hashable, CaseIterable {
    /// Somebody has to approve it.
    case awaited
    /// It has the approval that it needs.
    case approved
}

extension Store {
    /// Those of some deliveries that need an approval and have not begun.
    package func approvalStandings(ofDeliveries ids: [Int64]) async throws -> [Int64: ApprovalStanding] {
        guard !ids.isEmpty else { return [:] }
        let result = try await query(
            "SELECT s.delivery_id, s.standing FROM pushmta_engine.approval_standings($1) s",
            [.int64Array(ids)]
        )
        let rows = try all(result) { row -> (Int64, ApprovalStanding) in (try row.int64(), try row.choice()) }
        return Dictionary(rows) { first, _ in first }
    }
}
