import PushCore
import Store

/// The body of updateDelivery.
struct DeliveryChangeBody: Sendable {
    let changes: DeliveryChanges

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        var changes = DeliveryChanges()
        changes.label = reader.changedLabel()
        changes.content = reader.object("content")?.compactText
        changes.filter = reader.filter()
        changes.audience = reader.text("audience", as: .name, mayBeEmpty: false)
        reader.checkAudience(changes.audience, filter: changes.filter)
        changes.excludedLists = reader.nameList("exclude")
        changes.priority = reader.integer(.priority)
        changes.validitySeconds = reader.integer(.validity)
        changes.endsAt = reader.moment("endsAt")
        changes.onePerUser = reader.flag(.onePerUser)
        changes.ambiguityPolicy = reader.choice(.ambiguityPolicy)
        changes.maxRetries = reader.integer(.maxRetries)
        changes.retryPeriodSeconds = reader.integer(.retryPeriod)
        changes.retrySchedule = reader.choice(.retrySchedule)
        changes.category = reader.category()
        if changes.validitySeconds != nil, changes.endsAt != nil {
            reader.note("", "at most one of validitySeconds and endsAt is expected")
        }
        var faults = reader.finish()
        if faults.isEmpty, changes.isEmpty { faults = [APIProblem.Fault(path: "", problem: "it names no change")] }
        if faults.isEmpty, let content = changes.content { faults = APIProblem.faults(inContent: content) }
        if !faults.isEmpty { throw .invalid(faults) }
        self.changes = changes
    }
}
