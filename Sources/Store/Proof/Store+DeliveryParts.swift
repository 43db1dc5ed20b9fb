import PostgresClient

extension Store {
    /// The ids of all parts of a delivery, its retry parts among them.
    public func parts(ofDelivery id: Int64) async throws -> Set<Int64> {
        try Self.idSet(
            try await query("SELECT id FROM pushmta_engine.delivery_part WHERE delivery_id = $1", [.int64(id)])
        )
    }
}
