import PushCore

/// Counts of outcomes by final status, in the order of a part's counters.
struct StatusCounts: Sendable, Hashable {
    private(set) var values: [Int32] = [0, 0, 0, 0, 0, 0]

    /// The counters of a part, in the order of the columns in every statement here.
    static let columns: [(status: MessageStatus, name: String)] = [
        (.sent, "sent"), (.failed, "failed"), (.ignored, "ignored"), (.notApplicable, "not_applicable"),
        (.canceled, "canceled"), (.unknown, "unknown"),
    ]

    /// The sum of a part's counters, as SQL.
    static let sumSQL = columns.map { "p.\($0.name)" }.joined(separator: " + ")

    mutating func add(_ number: Int32, _ status: MessageStatus) {
        guard let place = Self.columns.firstIndex(where: { $0.status == status }) else { return }
        values[place] += number
    }

    var total: Int32 { values.reduce(0, +) }
}
