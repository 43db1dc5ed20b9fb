/// Counters in words: only those that are not zero.
package enum CounterWords {
    /// For example `failed 3, unknown 1`; "" if all are zero.
    package static func text(_ counters: [(name: String, count: Int64)]) -> String {
        counters.filter { $0.count != 0 }.map { "\($0.name) \($0.count)" }.joined(separator: ", ")
    }

    /// A number for a table; "" for zero.
    package static func cell<Number: BinaryInteger>(_ count: Number) -> String { count == 0 ? "" : String(count) }
}
