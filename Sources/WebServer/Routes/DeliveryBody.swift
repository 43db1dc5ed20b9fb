import PushCore
import Store

/// The body of createDelivery.
struct DeliveryBody: Sendable {
    enum Kind: String, CaseIterable {
        case batch, continuous
    }

    let delivery: NewDelivery
    let isContinuous: Bool
    /// Nil for none, as for the lists.
    let filter: String?
    let exclude: [String]?
    /// The saved audience whose filter it gets; nil for none.
    let audience: String?

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        let label = reader.text("label", required: true, as: .label, mayBeEmpty: false) ?? ""
        if let problem = NameRule.problem(label: label) { reader.note("label", "it \(problem)") }
        let applications =
            reader.textList(
                "applications",
                required: true,
                1...JSONReader.maxNames,
                as: .name
            ) ?? []
        let content = reader.object("content", required: true)?.compactText ?? "{}"
        var delivery = NewDelivery(label: label, applications: applications, content: content)
        let kind = reader.choice("kind", of: Kind.self) ?? .batch
        isContinuous = kind == .continuous
        delivery.explicitTargets = reader.flag(.explicitTargets) ?? false
        delivery.isOneTimeCode = reader.flag("oneTimeCode") ?? false
        delivery.onePerUser = reader.flag(.onePerUser) ?? false
        delivery.priority = reader.integer(.priority) ?? delivery.priority
        delivery.validitySeconds = reader.integer(.validity) ?? delivery.validitySeconds
        delivery.maxRetries = reader.integer(.maxRetries) ?? delivery.maxRetries
        delivery.retryPeriodSeconds = reader.integer(.retryPeriod)
        delivery.messagesPerSecond = reader.number(.rate)
        delivery.retrySchedule = reader.choice(.retrySchedule) ?? .byKind
        delivery.ambiguityPolicy = reader.choice(.ambiguityPolicy) ?? delivery.ambiguityPolicy
        delivery.category = reader.category()
        let (text, lists) = (reader.filter() ?? "", reader.nameList("exclude") ?? [])
        filter = text.isEmpty ? nil : text
        exclude = lists.isEmpty ? nil : lists
        audience = reader.text("audience", as: .name, mayBeEmpty: false)
        reader.checkAudience(audience, filter: filter)
        reader.checkTarget(
            isContinuous: isContinuous,
            isExplicit: delivery.explicitTargets,
            filter: filter ?? audience,
            exclude: exclude
        )
        self.delivery = delivery
        var faults = reader.finish()
        if faults.isEmpty { faults = APIProblem.faults(inContent: content) }
        if !faults.isEmpty { throw .invalid(faults) }
    }
}
