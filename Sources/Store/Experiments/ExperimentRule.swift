import PostgresClient
import PushCore

/// What makes a delivery an experiment: its variants, and how the winner for the rest is found.
package struct ExperimentRule: Sendable, Hashable {
    /// What the winner has most of.
    package enum Metric: String, Sendable, CaseIterable {
        /// Messages that were clicked on.
        case clicks
        /// Messages that devices have received.
        case receipts
        /// Messages that were followed by a conversion.
        case conversions
    }

    /// What the rest gets if no variant is surely better when it is decided.
    package enum Undecided: String, Sendable, CaseIterable {
        /// The first variant.
        case first
        /// Nothing until a person chooses.
        case wait
    }

    /// A variant.
    package struct Variant: Sendable, Hashable {
        /// Nil for A, B, C and so on.
        package var label: String?
        /// Its share of the people.
        package var percent: Double
        /// Its content, JSON; nil for the delivery's own.
        package var content: String?

        package init(label: String? = nil, percent: Double, content: String? = nil) {
            self.label = label
            self.percent = percent
            self.content = content
        }
    }

    package var variants: [Variant]
    package var metric: Metric = .clicks
    /// Seconds from the start to the decision; nil if there is no rest.
    package var decideAfterSeconds: Int64?
    /// Whether it is decided earlier if one is surely better.
    package var isEarly = true
    /// How sure a winner is.
    package var certaintyPercent: Double = 95
    /// The least number of messages sent to each variant.
    package var leastSample: Int64 = 1_000
    /// The share of people who get nothing.
    package var holdOutPercent: Double = 0
    package var ifUndecided: Undecided = .first

    package init(variants: [Variant]) {
        self.variants = variants
    }

    /// The numbers that the values may have.
    package static let variantCounts = 2...8
    package static let percents = 0.001...100.0
    package static let certainties = 50.0...99.99
    package static let holdOuts = 0.0...99.0
    /// Up to a year.
    package static let decisionSeconds: ClosedRange<Int64> = 1...31_622_400
    package static let samples: ClosedRange<Int64> = 1...134_217_727

    /// The arguments of `set_experiment` after the delivery, with parameters from this number on.
    static func arguments(from first: Int) -> String {
        let types = [
            "variants => $%::text::jsonb", "metric => $%", "decide_after => $%::bigint * interval '1 second'",
            "early => $%", "certainty_percent => $%", "least_sample => $%", "hold_out_percent => $%",
            "if_undecided => $%",
        ]
        return types.enumerated()
            .map { $0.element.replacing("%", with: "\(first + $0.offset)") }
            .joined(separator: ", ")
    }

    /// The values of these arguments.
    var values: [PostgresValue] {
        [
            .text(variantsJSON.compactText), .text(metric.rawValue), decideAfterSeconds.map { .int64($0) } ?? .null,
            .bool(isEarly),
            .double(certaintyPercent), .int64(leastSample), .double(holdOutPercent), .text(ifUndecided.rawValue),
        ]
    }

    /// As the console's functions take it.
    var json: JSONValue {
        .object([
            JSONEntry(name: "variants", value: variantsJSON),
            JSONEntry(name: "metric", value: .string(metric.rawValue)),
            JSONEntry(name: "decide_after_seconds", value: decideAfterSeconds.map { .number(String($0)) } ?? .null),
            JSONEntry(name: "early", value: .boolean(isEarly)),
            JSONEntry(name: "certainty_percent", value: .number(String(certaintyPercent))),
            JSONEntry(name: "least_sample", value: .number(String(leastSample))),
            JSONEntry(name: "hold_out_percent", value: .number(String(holdOutPercent))),
            JSONEntry(name: "if_undecided", value: .string(ifUndecided.rawValue)),
        ])
    }

    private var variantsJSON: JSONValue {
        let objects = variants.map { variant -> JSONValue in
            var entries = [JSONEntry(name: "percent", value: .number(String(variant.percent)))]
            if let label = variant.label { entries.append(JSONEntry(name: "label", value: .string(label))) }
            if let content = variant.content { entries.append(JSONEntry(name: "content", value: Self.parsed(content))) }
            return .object(entries)
        }
        return .array(objects)
    }

    /// The database refuses what is no object.
    private static func parsed(_ content: String) -> JSONValue {
        (try? JSONValue(parsing: Array(content.utf8))) ?? .null
    }
}
