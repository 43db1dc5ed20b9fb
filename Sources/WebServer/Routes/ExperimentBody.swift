import PushCore
import Store

/// The body of setExperiment.
struct ExperimentBody: Sendable {
    let rule: ExperimentRule

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        let elements = reader.list("variants", required: true, ExperimentRule.variantCounts) ?? []
        var variants: [ExperimentRule.Variant] = []
        for (place, element) in elements.enumerated() {
            variants.append(Self.variant(element, at: "/variants/\(place)", &reader))
        }
        var rule = ExperimentRule(variants: variants)
        if let metric = reader.choice("metric", of: ExperimentRule.Metric.self) { rule.metric = metric }
        rule.decideAfterSeconds = reader.integer("decideAfterSeconds", ExperimentRule.decisionSeconds)
        if let isEarly = reader.flag("early") { rule.isEarly = isEarly }
        if let percent = reader.number("certaintyPercent", ExperimentRule.certainties) {
            rule.certaintyPercent = percent
        }
        if let sample = reader.integer("leastSample", ExperimentRule.samples) { rule.leastSample = sample }
        if let percent = reader.number("holdOutPercent", ExperimentRule.holdOuts) { rule.holdOutPercent = percent }
        if let what = reader.choice("ifUndecided", of: ExperimentRule.Undecided.self) { rule.ifUndecided = what }
        try reader.close()
        self.rule = rule
    }

    private static func variant(_ element: JSONValue, at path: String, _ outer: inout JSONReader)
        -> ExperimentRule.Variant
    {
        var reader = JSONReader(element, at: path)
        let label = reader.text("label", as: .label, mayBeEmpty: false)
        let percent = reader.number("percent", ExperimentRule.percents)
        let content = reader.object("content")?.compactText
        var faults = reader.finish()
        if percent == nil, !faults.contains(where: { $0.path == path + "/percent" }) {
            faults.append(APIProblem.Fault(path: path + "/percent", problem: "it is missing"))
        }
        if let content {
            faults += APIProblem.faults(inContent: content).map {
                APIProblem.Fault(path: path + $0.path, problem: $0.problem)
            }
        }
        outer.add(faults)
        return ExperimentRule.Variant(label: label, percent: percent ?? 1, content: content)
    }
}
