import PostgresClient
import PushCore

/// What a delivery says, whom it goes to, and who made it.
package struct DeliverySubject: Sendable, Hashable {
    /// The content, JSON.
    package let content: String
    package let targeting: DeliveryTargeting
    /// Whether a person gets it on one device only.
    package let isOnePerUser: Bool
    /// The login that created it; that of the console or the web process if it came from there.
    package let createdBy: String
    /// The user of the console who started it or had it analysed; "" for none.
    package let startedBy: String
    package let priority: Int16
    /// How long its messages may be sent after its start, in seconds.
    package let validitySeconds: Double
    /// When its messages expire; nil if that depends on its start.
    package let validUntil: DatabaseTime?
    /// Whether it is a proof, which goes to seed addresses only.
    package let isProof: Bool

    init(_ row: inout RowReader) throws {
        content = try row.text()
        targeting = DeliveryTargeting(
            isExplicit: try row.bool(),
            filter: try row.textOrNil(),
            hasRawSQL: try row.bool(),
            excludedLists: try row.textArray(),
            seeds: try row.textArrayOrNil()
        )
        isOnePerUser = try row.bool()
        createdBy = try row.text()
        startedBy = try row.text()
        priority = try row.int16()
        validitySeconds = try row.double()
        validUntil = try row.timeOrNil()
        isProof = try row.bool()
    }
}

extension Store {
    /// What a delivery says, whom it goes to, and who made it.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func subject(ofDelivery id: Int64) async throws -> DeliverySubject {
        let result = try await query(
            """
            SELECT d.content::text, t.target_kind = 'explicit', t.target_filter, t.has_target_sql, t.exclusion_lists, t.seeds,
                t.one_per_user, d.created_by, d.started_by, d.priority, extract(epoch FROM d.validity)::double precision,
                CASE WHEN d.starts_approved THEN d.ends_at ELSE coalesce(d.valid_until, d.ends_at) END, d.proof
            FROM pushmta_engine.delivery d JOIN pushmta.delivery_targeting t ON t.delivery_id = d.id WHERE d.id = $1
            """,
            [.int64(id)]
        )
        return try first(result, orThrow: "There is no delivery \(id).", DeliverySubject.init)
    }
}
