import OperatingSystem

/// A page of samples in Prometheus' text format (version 0.0.4), in the order of the declarations.
package struct MetricsPage: Sendable {
    /// The media type of ``text``.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Lines of samples, by metric.
    private var samples: [Metric: [String]] = [:]

    package init() {}

    /// Adds a sample.
    ///
    /// - Parameter labels: the values of the metric's labels, in the order of its declaration.
    package mutating func add(_ metric: Metric, _ value: Double, _ labels: String...) {
        let definition = metric.definition
        samples[metric, default: []].append(Self.line(definition.name, definition.labels, labels, value))
    }

    /// Adds a sample that is a whole number.
    package mutating func add(_ metric: Metric, _ value: some BinaryInteger, _ labels: String...) {
        let definition = metric.definition
        samples[metric, default: []].append(Self.line(definition.name, definition.labels, labels, Double(value)))
    }

    /// Adds a sample that is 1 or 0.
    package mutating func add(_ metric: Metric, _ value: Bool, _ labels: String...) {
        let definition = metric.definition
        samples[metric, default: []].append(Self.line(definition.name, definition.labels, labels, value ? 1 : 0))
    }

    /// Adds a histogram.
    ///
    /// - Parameters:
    ///   - bounds: upper bounds of its buckets in seconds, ascending.
    ///   - counts: the number of values in each single bucket; the last one is for values above all bounds.
    ///   - sum: the sum of all values in seconds.
    package mutating func add(
        _ metric: Metric,
        bounds: [Double],
        counts: [Int64],
        sum: Double,
        _ labels: String...
    ) {
        let definition = metric.definition
        var lines: [String] = []
        var total: Int64 = 0
        for (place, count) in counts.prefix(bounds.count + 1).enumerated() {
            total &+= count
            let bound = place < bounds.count ? Self.text(bounds[place]) : "+Inf"
            lines.append(
                Self.line(definition.name + "_bucket", definition.labels + ["le"], labels + [bound], Double(total))
            )
        }
        lines.append(Self.line(definition.name + "_sum", definition.labels, labels, sum))
        lines.append(Self.line(definition.name + "_count", definition.labels, labels, Double(total)))
        samples[metric, default: []] += lines
    }

    /// The text of the page; metrics without samples are omitted.
    package var text: String {
        var text = ""
        for definition in MetricDefinition.all {
            guard let lines = samples[definition.metric] else { continue }
            text +=
                "# HELP \(definition.name) \(definition.help)\n# TYPE \(definition.name) \(definition.kind.rawValue)\n"
            for line in lines { text += line }
        }
        return text
    }

    private static func line(_ name: String, _ labels: [String], _ values: [String], _ value: Double) -> String {
        guard !labels.isEmpty else { return "\(name) \(text(value))\n" }
        let pairs = zip(labels, values).map { "\($0)=\"\(escaped($1))\"" }
        return "\(name){\(pairs.joined(separator: ","))} \(text(value))\n"
    }

    private static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        // Whole numbers without a decimal point, as far as they are exact.
        if value == value.rounded(), abs(value) < 9e15 { return String(Int64(value)) }
        return String(value)
    }

    /// The value of a label may be a name chosen by a user.
    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") || $0 < 0x20 }) else {
            return text
        }
        var output = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": output += "\\\\"
            case "\"": output += "\\\""
            case "\n": output += "\\n"
            default: output.unicodeScalars.append(character.value < 0x20 ? " " : character)
            }
        }
        return output
    }
}

extension MetricsPage {
    /// Adds the metrics that every process has.
    ///
    /// - Parameters:
    ///   - process: `supervisor`, `feedback`, `web` or `console`.
    ///   - version: the program's version.
    ///   - isDatabaseUp: whether the process can use the database; nil for one that uses it only at a user's request.
    package mutating func addProcess(_ process: String, version: String, isDatabaseUp: Bool?) {
        let figures = ProcessFigures.current()
        add(.buildInfo, true, process, version)
        if let isDatabaseUp { add(.databaseUp, isDatabaseUp) }
        add(.processCPU, figures.cpuSeconds)
        add(.processMemory, figures.residentBytes)
        if figures.openDescriptors > 0 { add(.processDescriptors, figures.openDescriptors) }
        add(.processMostDescriptors, figures.maxDescriptors)
        if figures.startSeconds > 0 { add(.processStart, figures.startSeconds) }
    }
}
