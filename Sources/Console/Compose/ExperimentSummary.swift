import Store

/// An experiment in a line, for the summary of a draft and for those who confirm a start: how many variants there are,
/// what decides and when, and which share of the people gets what.
struct ExperimentSummary {
    private let shares: [(label: String, percent: Double)]
    private let metric: ExperimentRule.Metric
    private let rest: Double
    private let holdOut: Double
    /// From the start, in seconds; nil if there is no rest to decide about.
    private let decision: Int64?

    /// Smaller shares come from adding numbers with fractions.
    private static let leastShare = 1e-6

    init(_ rule: ExperimentRule) {
        shares = rule.variants.map { ($0.label ?? "", $0.percent) }
        metric = rule.metric
        rest = 100 - rule.holdOutPercent - rule.variants.reduce(0) { $0 + $1.percent }
        holdOut = rule.holdOutPercent
        decision = rule.decideAfterSeconds
    }

    init(_ row: ExperimentRow, _ variants: [ExperimentVariantRow]) {
        shares = variants.filter { !$0.isRest }.map { ($0.label, $0.percent) }
        metric = row.metric
        rest = variants.filter(\.isRest).reduce(0) { $0 + $1.percent }
        holdOut = row.holdOutPercent
        decision = row.decideAfterSeconds
    }

    func words(_ catalogue: Catalogue) -> String {
        var parts = shares.map { "\($0.label) \(Self.percent($0.percent))" }
        let hasRest = rest > Self.leastShare
        if hasRest { parts.append("\(catalogue[.experimentRest]) \(Self.percent(rest))") }
        if holdOut > 0 { parts.append(catalogue.text(.experimentSummaryHoldOut, Self.percent(holdOut))) }
        if hasRest, let decision {
            parts.append(catalogue.text(.experimentSummaryTime, Figures.duration(Double(decision))))
        }
        return catalogue.text(
            .experimentSummary,
            Figures.count(Int64(shares.count)),
            catalogue[ExperimentForm.name(metric)],
            parts.joined(separator: ", ")
        )
    }

    private static func percent(_ share: Double) -> String { "\(RateNumber.shown((share * 1e4).rounded() / 1e4)) %" }
}
