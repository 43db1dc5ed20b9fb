import PushCore
import Store

/// The plan of a delivery on its page: its waves with their guards, the messages that wait for their time, and the
/// progress by time zone.
struct PlanView {
    let plan: DeliveryPlanRow
    /// Empty if it does not go by the recipient's clock.
    let zones: [DeliveryZone]
    /// Whether nothing more of it leaves.
    let isOver: Bool
    /// The moment at which the plan was read; nil before the start.
    var now: DatabaseTime?
    let catalogue: Catalogue

    var values: PageValues {
        var facts: [(Phrase, String)] = []
        if let localTime = plan.localTime, let past = plan.onPast {
            facts.append((.localTimeMoment, localTime.replacing("T", with: " ")))
            facts.append((.localTimePast, catalogue[Self.words(past)]))
        }
        if let hours = plan.hours { facts.append((.hoursRuleLabel, catalogue[Self.words(hours)])) }
        if plan.plannedMessages > 0, !isOver {
            facts.append((.planWaiting, Figures.count(plan.plannedMessages)))
            if let next = plan.nextAt { facts.append((.planNext, Figures.minute(next))) }
        }
        if plan.unknownZones > 0 { facts.append((.planUnknownZones, Figures.count(plan.unknownZones))) }
        guard !facts.isEmpty || !plan.waves.isEmpty || !zones.isEmpty else { return [:] }
        return [
            "hasPlan": .flag(true), "hasWaves": .flag(!plan.waves.isEmpty),
            "planFacts": .list(
                facts.map { fact -> PageValues in ["name": .text(catalogue[fact.0]), "value": .text(fact.1)] }
            ),
            "waves": .list(plan.waves.map(wave)), "hasZones": .flag(!zones.isEmpty), "zones": .list(zones.map(zone)),
        ]
    }

    private func zone(_ zone: DeliveryZone) -> PageValues {
        [
            "zoneName": .text(zone.name), "zoneMessages": .text(Figures.count(zone.messages)),
            "zoneSent": .text(Figures.count(zone.sent)), "zoneFailed": .text(Figures.count(zone.failed)),
            "zoneOthers": .text(Figures.count(zone.others)), "zonePending": .text(Figures.count(zone.pending)),
            "zoneNext": .text(isOver ? "–" : zone.nextAt.map(Figures.minute) ?? "–"),
        ]
    }

    private func wave(_ wave: DeliveryWaveRow) -> PageValues {
        let (state, style) = self.state(wave)
        return [
            "waveNumber": .text("\(wave.number)"), "waveState": .text(catalogue[state]), "waveClass": .text(style),
            "waveBegins": .text(begins(wave)), "waveMessages": .text(Figures.count(wave.messages)),
            "waveSent": .text(Figures.count(wave.sent)), "waveFailed": .text(Figures.count(wave.failed)),
            "waveGuards": .text(guards(wave)),
        ]
    }

    private func state(_ wave: DeliveryWaveRow) -> (Phrase, style: String) {
        switch wave.state {
        case .waiting: isOver ? (.waveNever, "") : (.waveWaiting, "state-pending")
        case .open: isOver ? (.waveEnded, "state-finished") : (.waveOpen, "state-in_progress")
        case .passed: wave.heldAt == nil ? (.wavePassed, "state-finished") : (.waveResumed, "fair")
        case .held: (.waveHeld, "fair")
        }
    }

    /// When a wave began, or begins, or what it waits for.
    private func begins(_ wave: DeliveryWaveRow) -> String {
        if let opened = wave.openedAt { return Figures.minute(opened) }
        if isOver { return "–" }
        var words: [String] = []
        if let start = wave.startsAt { words.append(Figures.minute(start)) }
        let before = plan.waves.last { $0.number < wave.number }
        if let before {
            let number = "\(before.number)"
            switch (before.state, wave.afterSeconds) {
            case (.held, _): words.append(catalogue.text(.waveBehindHeld, number))
            case (_, let seconds?):
                let due = before.openedAt?.advanced(byMilliseconds: Int64(seconds * 1_000))
                if let due, let now, due <= now {
                    words.append(catalogue.text(.waveDue, Figures.minute(due), number))
                } else {
                    words.append(catalogue.text(.waveAfter, Figures.duration(seconds), number))
                }
            case (.waiting, nil), (.open, nil): words.append(catalogue.text(.waveBehind, number))
            case (.passed, nil): break
            }
            if before.planned > 0, let last = before.lastAt {
                let count = Figures.count(before.planned)
                words.append(catalogue.text(.waveWaitsFor, count, number, Figures.minute(last)))
            }
        }
        return words.isEmpty ? "–" : words.joined(separator: " · ")
    }

    /// The limits that a wave keeps to before the next one begins, each with what was counted of it so far.
    private func guards(_ wave: DeliveryWaveRow) -> String {
        let tried = wave.sent + wave.failed + wave.unknown
        func share(_ count: Int64) -> String? { tried > 0 ? Figures.percent(min(count, tried), of: tried) : nil }
        let limits: [(Phrase, Double?, String?)] = [
            (.guardFailed, wave.maxFailed, share(wave.failed)),
            (.guardTokens, wave.maxTokenErrors, share(wave.tokenErrors)), (.guardOptOuts, wave.maxOptOuts, nil),
        ]
        let shown = limits.compactMap { name, limit, now -> String? in
            guard let limit, limit < 1 else { return nil }
            let most = catalogue.text(.atMost, "\(RateNumber.shown((limit * 1e6).rounded() / 1e4)) %")
            return "\(catalogue[name]) \(now.map { "\($0) (\(most))" } ?? most)"
        }
        return shown.isEmpty ? "–" : shown.joined(separator: " · ")
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

extension PlanView {
    /// Whether messages wait for anything but their turn.
    static func waits(_ plan: DeliveryPlanRow) -> Bool {
        plan.localTime != nil || !plan.waves.isEmpty || plan.plannedMessages > 0
    }

    /// What the plan says, for the confirmation of the start, in the words of ``PlanForm``.
    var startFacts: [(name: String, value: String)] {
        var facts: [(name: String, value: String)] = []
        if let localTime = plan.localTime {
            let moment = localTime.prefix(16).replacing("T", with: " ")
            let past = plan.onPast.map { catalogue[Self.words($0)] } ?? ""
            let clock = catalogue[.localTimeClock]
            facts.append((catalogue[.localTimeTitle], "\(moment) \(clock) · \(catalogue[.localTimePast]): \(past)"))
        }
        if !plan.waves.isEmpty {
            facts.append((catalogue[.wavesTitle], plan.waves.map(size).joined(separator: " · ")))
        }
        let lines: [(Phrase, (DeliveryWaveRow) -> String)] = [(.waveBegins, begins), (.waveGuards, guards)]
        for (name, words) in lines {
            let shown = plan.waves.map { (wave: $0, words: words($0).replacing(" · ", with: ", ")) }
                .filter { $0.words != "–" }
            guard !shown.isEmpty else { continue }
            let value = shown.map { "\(catalogue[.waveNumber]) \($0.wave.number): \($0.words)" }
            facts.append((catalogue[name], value.joined(separator: " · ")))
        }
        if let hours = plan.hours { facts.append((catalogue[.hoursRuleLabel], catalogue[Self.words(hours)])) }
        return facts
    }

    private func size(_ wave: DeliveryWaveRow) -> String {
        if let percent = wave.percent { return "\(RateNumber.shown(percent)) %" }
        return wave.count.map { catalogue.text(.waveCount, count: $0, Figures.count($0)) } ?? catalogue[.waveRest]
    }
}
