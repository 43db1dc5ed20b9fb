import PostgresClient

extension PostgresValue {
    /// `bigint`, or NULL for nil.
    static func int64OrNull(_ value: Int64?) -> PostgresValue {
        value.map(PostgresValue.int64) ?? .null
    }
}
