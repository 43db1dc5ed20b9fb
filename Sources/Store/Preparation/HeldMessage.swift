/// A message of a delivery that is prepared before its start.
package struct HeldMessage: Sendable, Hashable {
    package let subscriptionID: Int64
    /// The values of its row of an explicit target, JSON; nil for none.
    package let variables: String?
    /// Whether it was chosen for the length of its values.
    package let isLongest: Bool

    init(_ row: inout RowReader) throws {
        subscriptionID = try row.int64()
        variables = try row.textOrNil()
        isLongest = try row.bool()
    }
}
