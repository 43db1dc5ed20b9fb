import PostgresClient
import PushCore

extension Store {
    /// The messages that the part before handed over in doubt: a send of theirs may have arrived, and the part that is claimed here
    /// sends them again.
    ///
    /// They stand under the parent's last token, with which it was closed, as long as the parent is kept. Among them may be messages
    /// of other retry parts and such as have an outcome. To be read of every part with an attempt above 1.
    public func inheritedDoubt(_ part: ClaimedPart) async throws -> Set<Int32> {
        let result = try await query(Self.inheritedDoubtSQL, [.int64(part.id)])
        return result.rowCount > 0 ? Set(try result.int32Array(0, 0)) : []
    }

    static let inheritedDoubtSQL = """
        SELECT r.ambiguous
        FROM pushmta_engine.delivery_part p
        JOIN pushmta_engine.delivery_part q ON q.id = p.parent_part_id
        JOIN pushmta_engine.delivery_part_recovery r ON r.part_id = q.id AND r.fencing_token = q.fencing_token
        WHERE p.id = $1
        """
}
