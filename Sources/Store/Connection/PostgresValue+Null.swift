import PostgresClient
import PushCore

extension PostgresValue {
    /// The state of a part that somebody holds. Passed as a parameter where the plan must not take the index of claimed parts:
    /// that one holds an entry of each part ever claimed until vacuum comes, which long transactions keep away.
    static let heldState = PostgresValue.text(PartState.claimed.rawValue)

    /// `bigint`, or NULL for nil.
    static func int64OrNull(_ value: Int64?) -> PostgresValue {
        value.map(PostgresValue.int64) ?? .null
    }
}
