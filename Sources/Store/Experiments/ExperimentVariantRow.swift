import PostgresClient
import PushCore

/// A variant of an experiment with its results.
package struct ExperimentVariantRow: Sendable, Hashable {
    /// 1 to 8; 9 is the rest, which gets the winner.
    package let variant: Int16
    package let label: String
    /// Its share of the people.
    package let percent: Double
    package let messages: Int64
    package let sent: Int64
    /// Messages that devices have received, that were clicked on, and that were followed by a conversion, each counted
    /// once.
    package let received: Int64
    package let clicked: Int64
    package let converted: Int64
    /// The conclusion in comparison with the first variant, in words; nil for the first and the rest.
    package let againstFirst: String?
    /// Its content, JSON; nil for the delivery's own.
    package let content: String?

    package var isRest: Bool { variant == 9 }

    /// How many of its messages succeeded by a metric.
    package func successes(_ metric: ExperimentRule.Metric) -> Int64 {
        switch metric {
        case .clicks: clicked
        case .receipts: received
        case .conversions: converted
        }
    }

    init(_ row: inout RowReader) throws {
        variant = try row.int16()
        label = try row.text()
        percent = try row.double()
        messages = try row.int64()
        sent = try row.int64()
        received = try row.int64()
        clicked = try row.int64()
        converted = try row.int64()
        againstFirst = try row.textOrNil()
        content = try row.textOrNil()
    }
}
