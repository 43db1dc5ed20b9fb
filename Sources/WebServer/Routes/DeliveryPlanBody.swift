import PushCore

/// The body of replacePlan.
struct DeliveryPlanBody: Sendable {
    let plan: DeliveryPlan

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        var plan = DeliveryPlan()
        if let time = reader.text("localTime", as: .localTime) {
            plan.localTime = time
            if !DeliveryPlan.isLocalTime(time) {
                reader.note("localTime", "a date and a time without a zone is expected, such as 2026-12-01T09:00")
            }
        }
        plan.onPast = reader.choice("onPast", of: DeliveryPlan.PastRule.self)
        plan.hours = reader.choice("hours", of: DeliveryPlan.HoursRule.self)
        if (plan.localTime == nil) != (plan.onPast == nil) { reader.note("", "localTime and onPast go together") }
        let waves = reader.list("waves", DeliveryPlan.waveCounts) ?? []
        for (place, value) in waves.enumerated() {
            var wave = JSONReader(value, at: "/waves/\(place)")
            plan.waves.append(Self.wave(&wave, isLast: place == waves.count - 1))
            reader.add(wave.finish())
        }
        try reader.close()
        self.plan = plan
    }

    private static func wave(_ reader: inout JSONReader, isLast: Bool) -> DeliveryPlan.Wave {
        let percent = reader.number("percent", DeliveryPlan.percents)
        let count = reader.integer("count", DeliveryPlan.counts)
        var wave = DeliveryPlan.Wave()
        if let percent {
            wave.size = .percent(percent)
        } else if let count {
            wave.size = .messages(count)
        }
        let sizes = (percent == nil ? 0 : 1) + (count == nil ? 0 : 1)
        if reader.faults.isEmpty, sizes != (isLast ? 0 : 1) {
            reader.note(
                "",
                isLast ? "the last wave is the rest and has no size" : "one of percent and count is expected"
            )
        }
        wave.startsAt = reader.moment("startAt")
        wave.afterSeconds = reader.integer("afterSeconds", DeliveryPlan.pauses)
        wave.maxFailed = reader.number("maxFailed", DeliveryPlan.shares)
        wave.maxTokenErrors = reader.number("maxTokenErrors", DeliveryPlan.shares)
        wave.maxOptOuts = reader.number("maxOptOuts", DeliveryPlan.shares)
        return wave
    }
}
