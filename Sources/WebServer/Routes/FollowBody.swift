import PushCore

/// The body of followDelivery: a signal with target, floor and ceiling, or none.
struct FollowBody: Sendable {
    /// The targets that the API takes.
    static let targets = 1e-9...1e12

    /// Nil to follow none.
    let signal: String?
    let target: Double?
    let floor: Double?
    let ceiling: Double?

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        signal = reader.text("signal", as: .name, mayBeEmpty: false)
        target = reader.number("target", Self.targets)
        floor = reader.number("floor", DeliverySetting.rates)
        ceiling = reader.number("ceiling", DeliverySetting.rates)
        for (name, number) in [("target", target), ("floor", floor), ("ceiling", ceiling)]
        where signal != nil && number == nil && !reader.faults.contains(where: { $0.path == "/" + name }) {
            reader.note(name, "it is missing")
        }
        try reader.close()
    }
}
