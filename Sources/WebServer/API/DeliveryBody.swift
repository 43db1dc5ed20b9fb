import PushCore
import Store

/// The body of a delivery's creation.
struct DeliveryBody: Sendable {
    /// The kinds of deliveries.
    enum Kind: String, CaseIterable {
        case batch, continuous
    }

    private enum Policy: String, CaseIterable {
        case resend, report
    }

    let delivery: NewDelivery
    let isContinuous: Bool
    let filter: String?
    let exclude: [String]?

    private static let longestName = 1_000
    /// A character has at most four bytes.
    private static let mostLabelBytes = 4 * NameRule.longestLabel
    private static let mostNames = 1_000
    /// The limit of the database's function.
    private static let longestFilter = 65_536

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        let label = reader.text("label", required: true, most: Self.mostLabelBytes, mayBeEmpty: false) ?? ""
        if let problem = NameRule.problem(label: label) { reader.note("label", "it \(problem)") }
        let applications =
            reader.textList("applications", required: true, 1...Self.mostNames, most: Self.longestName) ?? []
        let content = reader.object("content", required: true)?.compactText ?? "{}"
        var delivery = NewDelivery(label: label, applications: applications, content: content)
        let kind = reader.choice("kind", of: Kind.self) ?? .batch
        isContinuous = kind == .continuous
        delivery.explicitTargets = reader.flag("explicitTargets") ?? false
        delivery.onePerUser = reader.flag("onePerUser") ?? false
        delivery.priority = reader.integer("priority", -100...100) ?? delivery.priority
        delivery.validitySeconds =
            reader.integer("validitySeconds", 1...DeliveryLimits.longestValidity) ?? delivery.validitySeconds
        delivery.maxRetries = reader.integer("maxRetries", 0...1_000) ?? delivery.maxRetries
        delivery.retryPeriodSeconds =
            reader.integer("retryPeriodSeconds", 1...31_536_000) ?? delivery.retryPeriodSeconds
        switch reader.choice("ambiguityPolicy", of: Policy.self) {
        case .report: delivery.ambiguityPolicy = .report
        case .resend: delivery.ambiguityPolicy = .resend
        case nil: break
        }
        filter = reader.text("filter", most: Self.longestFilter)
        exclude = reader.textList("exclude", 0...Self.mostNames, most: Self.longestName)
        if let filter, !filter.isEmpty {
            do {
                _ = try TargetFilter(parsing: filter)
            } catch {
                let place = error.position.map { "character \($0): " } ?? ""
                reader.note("filter", "\(place)\(error.cause); \(error.remedy)")
            }
        }
        if isContinuous, delivery.explicitTargets || filter != nil || exclude != nil {
            reader.note("kind", "a continuous delivery has no target, so neither explicitTargets, filter nor exclude")
        }
        if delivery.explicitTargets, filter != nil {
            reader.note("filter", "explicit targets are not chosen by a filter")
        }
        self.delivery = delivery
        var faults = reader.finish()
        if faults.isEmpty {
            faults = PushContent.validate(json: content).prefix(20).map {
                APIProblem.Fault(
                    path: "/content"
                        + ($0.key.isEmpty ? "" : "/" + $0.key.split(separator: ".").joined(separator: "/")),
                    problem: "\($0.cause); \($0.remedy)"
                )
            }
        }
        if !faults.isEmpty { throw .invalid(faults) }
    }
}
