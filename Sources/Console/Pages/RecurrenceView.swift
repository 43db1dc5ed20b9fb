import PushCore
import Store

/// When a delivery recurs, its next moments and its last runs, on the delivery's page.
struct RecurrenceView {
    /// Nil if it does not recur.
    let row: RecurrenceRow?
    let next: [DatabaseTime]
    let runs: [RecurrenceRunRow]
    /// What the clock in its zone shows at these moments.
    let local: [DatabaseTime: String]
    /// Whether the user may change it.
    let isAllowed: Bool
    let catalogue: Catalogue

    /// The runs that are shown.
    static let maxRuns: Int32 = 10
    static let weekdays: [Phrase] = [.monday, .tuesday, .wednesday, .thursday, .friday, .saturday, .sunday]

    var values: PageValues {
        let mayChange = isAllowed && row != nil
        let mayStart = mayChange && (row?.state == .editing || row?.state == .paused)
        var values: PageValues = [
            "recurs": .flag(row != nil), "recurrenceFacts": .list(facts), "hasNextRuns": .flag(!next.isEmpty),
            "nextTitle": .text(catalogue[row?.state == .active ? .recurrenceNext : .recurrenceNextIf]),
            "nextRuns": .list(next.map { ["moment": .text(shown($0))] }), "hasRuns": .flag(!runs.isEmpty),
            "runs": .list(runs.map(runValues)), "maySetRecurrence": .flag(isAllowed),
            "mayStartRuns": .flag(mayStart), "mayPauseRuns": .flag(mayChange && row?.state == .active),
            "mayMakeRun": .flag(mayChange), "mayRemoveRecurrence": .flag(mayChange),
        ]
        let reason = row?.reason ?? ""
        values["hasPauseReason"] = .flag(!reason.isEmpty)
        values["pauseReason"] = .text(reason)
        let (words, look) = state
        values["recurrenceState"] = .text(words)
        values["recurrenceClass"] = .text(look)
        if let run = row?.waitsFor {
            values["runWaits"] = .group(["words": .text(catalogue.text(.recurrenceWaits, "\(run)"))])
        }
        return values
    }

    /// A moment in the zone of the recurrence.
    private func shown(_ moment: DatabaseTime) -> String {
        guard let text = local[moment], let zone = row?.rule.timeZone else { return Figures.minute(moment) }
        return Figures.local(text, zone)
    }

    /// The state, and the class of its chip.
    private var state: (words: String, look: String) {
        switch row?.state {
        case nil: (catalogue[.recurrenceNone], "")
        case .editing: (catalogue[.recurrenceEditing], "")
        case .active: (catalogue[.recurrenceActive], "health-alive")
        case .paused: (catalogue[.recurrencePaused], "fair")
        case .finished: (catalogue[.recurrenceFinished], "")
        }
    }

    static func words(_ unit: RecurrenceRule.Unit, _ catalogue: Catalogue) -> String {
        switch unit {
        case .hours: catalogue[.unitHour]
        case .days: catalogue[.unitDay]
        case .weeks: catalogue[.unitWeek]
        case .months: catalogue[.unitMonth]
        }
    }

    static func words(_ missed: RecurrenceRule.Missed, _ catalogue: Catalogue) -> String {
        switch missed {
        case .skip: catalogue[.missedSkip]
        case .once: catalogue[.missedOnce]
        }
    }

    private var facts: [PageValues] {
        guard let rule = row?.rule else { return [] }
        let days = (rule.weekdays ?? []).filter { (1...7).contains($0) }.map { catalogue[Self.weekdays[Int($0) - 1]] }
        let pairs: [(Phrase, String)] = [
            (.recurrenceEvery, "\(rule.every) × \(Self.words(rule.unit, catalogue))"),
            (.recurrenceTimes, (rule.times ?? []).joined(separator: ", ")), (.recurrenceZone, rule.timeZone),
            (.recurrenceWeekdays, days.joined(separator: ", ")),
            (.recurrenceMonthDays, (rule.monthDays ?? []).map { "\($0)" }.joined(separator: ", ")),
            (.recurrenceStartsOn, rule.startsOn.map(Figures.day) ?? ""),
            (.recurrenceEndsOn, rule.endsOn.map(Figures.day) ?? ""),
            (.recurrenceExcept, rule.exceptDates.map(Figures.day).joined(separator: ", ")),
            (.recurrenceMissed, Self.words(rule.missed, catalogue)),
        ]
        return pairs.filter { !$0.1.isEmpty }.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
    }

    private func runValues(_ run: RecurrenceRunRow) -> PageValues {
        let outcome: Phrase =
            switch run.outcome {
            case .started: .runStarted
            case .skippedMissed: .runMissed
            case .skippedOverlap: .runOverlap
            case .failed: .runFailed
            }
        var values: PageValues = [
            "planned": .text(shown(run.plannedAt)), "outcome": .text(catalogue[outcome]),
            "why": .text(run.reason), "runState": .text(run.runState.map { catalogue.state($0) } ?? ""),
            "runTarget": .text(run.target.map { Figures.count($0) } ?? ""),
        ]
        if let id = run.runID { values["run"] = .group(["runID": .text("\(id)")]) }
        return values
    }
}
