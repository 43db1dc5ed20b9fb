import PostgresClient

@testable import Store

extension Store {
    /// Marks a delivery as failed; one that has already ended stays as it is.
    func failDelivery(_ id: Int64, reason: String) async throws {
        _ = try await change("pushmta_engine.fail_delivery($1, $2)", [.int64(id), .text(reason)])
    }
}
