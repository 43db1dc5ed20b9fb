import PostgresClient
import Store

extension Store {
    /// Makes a delivery continuous as marketing systems do.
    package func makeContinuous(_ id: Int64) async throws {
        try await query("SELECT pushmta.make_continuous($1)", [.int64(id)])
    }

    /// The messages of a claimed part, with fresh tokens and the named fields for personalisation.
    package func loadPart(_ part: ClaimedPart, fieldNames: [String]) async throws -> LoadedPart {
        try await loadPart(part, MessageFields(names: fieldNames))
    }
}
