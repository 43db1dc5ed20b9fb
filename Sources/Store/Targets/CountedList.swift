import PushCore

/// An exclusion list for pages. People are counted only up to a limit.
package struct CountedList: Sendable, Hashable {
    package let id: Int32
    /// Unique.
    package let name: String
    /// The display name.
    package let label: String
    /// The number of users, subscriptions and push tokens on it.
    package let people: [Int64]
    /// Whether a delivery uses it.
    package let isUsed: Bool
    /// The time of the last change.
    package let changedAt: DatabaseTime
}
