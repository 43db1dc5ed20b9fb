import PostgresClient
import PushCore

extension Store {
    /// Commits how far parts may have been sent; returns the parts that the owner still holds.
    ///
    /// Must be awaited before the window's first byte is sent. Safe to repeat.
    ///
    /// - Parameter journalLength: the length of the owner's journal, see ``journalLength(ofChild:)``.
    package func mark(_ marks: [PartMark], journalLength: Int64 = 0) async throws -> Set<Int64> {
        guard !marks.isEmpty else { return [] }
        let sorted = marks.sorted {
            ($0.claim.part, $0.claim.token, $0.through) < ($1.claim.part, $1.claim.token, $1.through)
        }
        let result = try await query(
            Self.markSQL,
            [
                .int64Array(sorted.map(\.claim.part)), .int64Array(sorted.map(\.claim.token)),
                .int32Array(sorted.map(\.through)), .heldState, .int64(journalLength),
            ]
        )
        return try Self.idSet(result)
    }

    /// A mark never goes back, and it proves life as a renewal does. `= ANY` and the state as a parameter leave the
    /// primary key as the only plan.
    ///
    /// The other arrays are read at the part's index in the first one, which `width_bucket` finds by binary search: the
    /// array is sorted, and of equal ids it finds the last, the newest claim of a part. A join would become a nested
    /// loop, because the planner does not know how long the arrays are: 350 ms for 256 parts.
    static let markSQL = """
        UPDATE pushmta_engine.delivery_part p
        SET dispatch_mark = greatest(p.dispatch_mark, ($3::integer[])[width_bucket(p.id, $1)]), renewal = p.renewal + 1,
            journal_length = greatest(p.journal_length, $5)
        WHERE p.id = ANY($1::bigint[]) AND p.fencing_token = ($2::bigint[])[width_bucket(p.id, $1)] AND p.state = $4
        RETURNING p.id
        """

    /// The length of a child's journal as last reported to the database: with its marks and outcomes, and by its report
    /// every second. A shorter journal is an old copy.
    package func journalLength(ofChild child: Int64) async throws -> Int64 {
        try await query(
            """
            SELECT greatest(coalesce((SELECT c.journal_length FROM pushmta_engine.mta_child c WHERE c.id = $1), 0),
                coalesce((SELECT max(p.journal_length) FROM pushmta_engine.delivery_part p
                    WHERE p.state = 'claimed' AND p.owner = $1), 0))
            """,
            [.int64(child)]
        ).one { try $0.int64() }
    }

    /// Renews the leases of a child; returns the parts that it still holds. The others have another owner now.
    package func renewLeases(child: Int64, _ parts: [PartToken]) async throws -> Set<Int64> {
        guard !parts.isEmpty else { return [] }
        let sorted = parts.sorted()
        let result = try await query(
            Self.renewSQL,
            [.int64Array(sorted.map(\.part)), .int64Array(sorted.map(\.token)), .int64(child), .heldState]
        )
        return try Self.idSet(result)
    }

    static let renewSQL = """
        UPDATE pushmta_engine.delivery_part p
        SET renewal = p.renewal + 1
        WHERE p.id = ANY($1::bigint[]) AND p.fencing_token = ($2::bigint[])[width_bucket(p.id, $1)] AND p.owner = $3 AND p.state = $4
        RETURNING p.id
        """

    /// All leases, for a sweep to compare with its previous look.
    package func leases() async throws -> [LeaseObservation] {
        let result = try await query(
            """
            SELECT p.id, coalesce(p.owner, 0), coalesce(c.host_id::text, ''), p.fencing_token, p.renewal
            FROM pushmta_engine.delivery_part p
            LEFT JOIN pushmta_engine.mta_child c ON c.id = p.owner
            WHERE p.state = 'claimed'
            """
        )
        return try all(result) { row in
            LeaseObservation(
                partID: try row.int64(),
                owner: try row.int64(),
                hostID: try row.text(),
                token: try row.int64(),
                renewal: try row.int64()
            )
        }
    }

    /// Parts that a child holds.
    package func partsHeld(byChild child: Int64) async throws -> [PartToken] {
        let result = try await query(
            """
            SELECT id, fencing_token FROM pushmta_engine.delivery_part
            WHERE state = 'claimed' AND owner = $1 ORDER BY id
            """,
            [.int64(child)]
        )
        return try all(result) { row in PartToken(part: try row.int64(), token: try row.int64()) }
    }

    package static func idSet(_ result: PostgresResult) throws -> Set<Int64> {
        var ids: [Int64] = []
        try result.appendColumn(0, to: &ids)
        return Set(ids)
    }
}

/// A lease as a sweep saw it. It is lost if token and renewal stay the same for a whole lease on the observer's clock.
package struct LeaseObservation: Sendable, Hashable {
    package let partID: Int64
    /// The child that holds it.
    package let owner: Int64
    /// The host of that child.
    package let hostID: String
    /// The owner's fencing token.
    package let token: Int64
    /// Increases with each renewal.
    package let renewal: Int64

    package init(partID: Int64, owner: Int64, hostID: String, token: Int64, renewal: Int64) {
        self.partID = partID
        self.owner = owner
        self.hostID = hostID
        self.token = token
        self.renewal = renewal
    }
}
