import PushCore
import Store

/// The plan of a delivery on its page: its waves, and the messages that wait for their time.
struct PlanView {
    let plan: DeliveryPlanRow
    let catalogue: Catalogue

    var values: PageValues {
        var facts: [(Phrase, String)] = []
        if let localTime = plan.localTime, let past = plan.onPast {
            facts.append((.localTimeMoment, localTime.replacing("T", with: " ")))
            facts.append((.localTimePast, catalogue[Self.words(past)]))
        }
        if let hours = plan.hours { facts.append((.hoursRuleLabel, catalogue[Self.words(hours)])) }
        if plan.plannedMessages > 0 {
            facts.append((.planWaiting, Figures.count(plan.plannedMessages)))
            if let next = plan.nextAt { facts.append((.planNext, Figures.minute(next))) }
        }
        if plan.unknownZones > 0 { facts.append((.planUnknownZones, Figures.count(plan.unknownZones))) }
        guard !facts.isEmpty || !plan.waves.isEmpty else { return [:] }
        return [
            "hasPlan": .flag(true), "hasWaves": .flag(!plan.waves.isEmpty),
            "planFacts": .list(
                facts.map { fact -> PageValues in ["name": .text(catalogue[fact.0]), "value": .text(fact.1)] }
            ),
            "waves": .list(plan.waves.map(wave)),
        ]
    }

    private func wave(_ wave: DeliveryWaveRow) -> PageValues {
        let (state, style) = Self.state(wave.state)
        let begins = wave.openedAt ?? wave.startsAt
        return [
            "waveNumber": .text("\(wave.number)"), "waveState": .text(catalogue[state]), "waveClass": .text(style),
            "waveBegins": .text(begins.map(Figures.minute) ?? "–"), "waveMessages": .text(Figures.count(wave.messages)),
            "waveSent": .text(Figures.count(wave.sent)), "waveFailed": .text(Figures.count(wave.failed)),
        ]
    }

    private static func state(_ state: DeliveryWaveRow.State) -> (Phrase, style: String) {
        switch state {
        case .waiting: (.waveWaiting, "state-pending")
        case .open: (.waveOpen, "state-in_progress")
        case .passed: (.wavePassed, "state-finished")
        case .held: (.waveHeld, "fair")
        }
    }

    private static func words(_ rule: DeliveryPlan.PastRule) -> Phrase {
        switch rule {
        case .now: .pastNow
        case .nextDay: .pastNextDay
        case .skip: .pastSkip
        }
    }

    private static func words(_ rule: DeliveryPlan.HoursRule) -> Phrase {
        switch rule {
        case .postpone: .hoursPostpone
        case .drop: .hoursDrop
        case .ignore: .hoursIgnore
        }
    }
}
