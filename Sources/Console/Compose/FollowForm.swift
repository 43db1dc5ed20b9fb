import PushCore
import Store

/// The fields that let a delivery's rate follow a health signal, in a draft and on a delivery's page.
struct FollowForm: Sendable {
    /// What the names of the fields begin with.
    let prefix: String
    let catalogue: Catalogue

    var signal: String { prefix + "signal" }
    var target: String { prefix + "target" }
    var floor: String { prefix + "floor" }
    var ceiling: String { prefix + "ceiling" }

    var names: [String] { [signal, target, floor, ceiling] }

    /// - Parameter values: what they hold, by name.
    func fields(_ signals: [SignalChoice], _ values: [String: String]) -> [FormField] {
        let choices = [FormOption("", catalogue[.followNone])] + signals.map { FormOption($0.name, $0.name) }
        func line(_ name: String, _ label: Phrase, _ hint: Phrase) -> FormField {
            FormField(
                name: name,
                label: catalogue[label],
                kind: .text,
                hint: catalogue[hint],
                value: values[name] ?? "",
                maxLength: 20
            )
        }
        return [
            FormField(
                name: signal,
                label: catalogue[.columnSignal],
                kind: .choice(choices),
                value: values[signal] ?? ""
            ),
            line(target, .followTarget, .followTargetHint),
            line(floor, .followFloor, .followFloorHint),
            line(ceiling, .followCeiling, .followCeilingHint),
        ]
    }

    /// The values of the fields for limits.
    func values(_ limits: SignalLimits) -> [String: String] {
        [
            signal: limits.signal, target: RateNumber.text(limits.target), floor: RateNumber.text(limits.floor),
            ceiling: RateNumber.text(limits.ceiling),
        ]
    }

    /// What was typed; nil to follow none. Throws what is wrong, by field.
    func limits(_ typed: (String) -> String) throws(FormRefusal) -> SignalLimits? {
        let name = typed(signal)
        guard !name.isEmpty else { return nil }
        var problems: [String: String] = [:]
        func rate(_ field: String) -> Double {
            guard let rate = RateNumber.parse(typed(field)) else {
                problems[field] = RateField.problem(typed(field), catalogue)
                return 0
            }
            return rate
        }
        let goal = typed(target)
        let number = RateNumber.isGrouped(goal) ? 0 : Double(goal.replacing(",", with: ".")) ?? 0
        if number <= 0 || !number.isFinite { problems[target] = catalogue[.followTargetWrong] }
        let (least, most) = (rate(floor), rate(ceiling))
        if problems[floor] == nil, problems[ceiling] == nil, least > most {
            problems[ceiling] = catalogue.text(.followCeilingLow, RateNumber.text(least))
        }
        let limits = SignalLimits(signal: name, target: number, floor: least, ceiling: most)
        guard problems.isEmpty else { throw FormRefusal(problems) }
        return limits
    }
}
