import PostgresClient
import PushCore

/// A share of two deliveries' messages, and its difference.
package struct DeliveryComparison: Sendable, Hashable {
    /// What is counted.
    package enum Measure: String, Sendable, CaseIterable {
        /// Of the target.
        case sent, failed
        /// Of the sent messages.
        case received, clicked
    }

    /// A number of messages among others.
    package struct Share: Sendable, Hashable {
        package let count: Int64
        package let whole: Int64
        /// Nil if there are no others.
        package let rate: Double?

        init(_ row: inout RowReader) throws {
            count = try row.int64()
            whole = try row.int64()
            rate = try row.doubleOrNil()
        }
    }

    package let measure: Measure
    package let first: Share
    package let second: Share
    /// How much greater the second share is; nil if one of them has no messages.
    package let difference: Double?
    /// The ends of its 95 percent interval.
    package let low: Double?
    package let high: Double?
    /// Whether the interval leaves out 0.
    package let isClear: Bool

    init(_ row: inout RowReader) throws {
        measure = try row.choice()
        first = try Share(&row)
        second = try Share(&row)
        difference = try row.doubleOrNil()
        low = try row.doubleOrNil()
        high = try row.doubleOrNil()
        isClear = try row.bool()
    }
}

extension Store {
    /// Two deliveries side by side.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func compareDeliveries(_ first: Int64, _ second: Int64) async throws -> [DeliveryComparison] {
        let result = try await query(
            """
            SELECT c.measure, c.a_count, c.a_of, c.a_rate, c.b_count, c.b_of, c.b_rate, c.difference, c.low, c.high, c.is_clear
            FROM pushmta.compare_deliveries($1, $2) c
            """,
            [.int64(first), .int64(second)]
        )
        return try all(result, DeliveryComparison.init)
    }

    /// The content of a delivery, JSON.
    package func content(ofDelivery id: Int64) async throws -> String {
        let result = try await query(
            "SELECT d.content::text FROM pushmta_engine.delivery d WHERE d.id = $1",
            [.int64(id)]
        )
        return try first(result, orThrow: "There is no delivery \(id).") { try $0.text() }
    }
}
