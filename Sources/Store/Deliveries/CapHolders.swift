import PostgresClient

/// The deliveries that have not left and hold a frequency cap for people whom an analysed delivery leaves out: their
/// prepared messages count.
package struct CapHolders: Sendable, Hashable {
    /// One of them.
    package struct Holder: Sendable, Hashable {
        package let delivery: Int64
        package let label: String
        /// The names of the caps.
        package let caps: [String]
        /// Its own messages.
        package let messages: Int64
    }

    /// The largest ones.
    package let largest: [Holder]
    /// How many there are.
    package let count: Int64

    package static let empty = CapHolders(largest: [], count: 0)
}

extension Store {
    /// The deliveries that hold a frequency cap for people whom an analysed delivery leaves out, and have not left.
    package func capHolders(ofDelivery id: Int64, limit: Int32) async throws -> CapHolders {
        let result = try await query(
            """
            SELECT h.delivery_id, h.label, h.caps, h.messages, h.deliveries
            FROM pushmta_engine.cap_holders($1, $2::integer) h
            """,
            [.int64(id), .int32(limit)]
        )
        let rows = try all(result) { row in
            let holder = CapHolders.Holder(
                delivery: try row.int64(),
                label: try row.text(),
                caps: try row.textArray(),
                messages: try row.int64()
            )
            return (holder: holder, count: try row.int64())
        }
        return CapHolders(largest: rows.map { $0.holder }, count: rows.first?.count ?? 0)
    }
}
