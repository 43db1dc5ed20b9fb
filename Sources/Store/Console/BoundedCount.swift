/// A count with its name; counting may have stopped at a limit.
package struct BoundedCount: Sendable, Hashable {
    /// What was counted.
    package let name: String
    /// How many, at least.
    package let count: Int64
}
