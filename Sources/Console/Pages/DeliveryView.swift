import Foundation
import HTTPTypes
import PushCore
import Store

/// The live part of a delivery's page, which updates while the delivery is under way.
struct DeliveryView {
    let facts: DeliveryFacts
    /// Its present rate in messages a second; nil if it is not known yet, or nothing is sent.
    let rate: Double?
    /// Whether it shows days before the newest.
    let isLater: Bool
    let catalogue: Catalogue
    let meanings: @Sendable (String) -> String?

    var values: PageValues {
        var values = DeliveryWords(row: facts.progress, catalogue: catalogue, standing: facts.counts.standing).summary
        let plan = facts.reasons.plan.map { plan in
            PlanView(
                plan: plan,
                zones: facts.reasons.zones,
                isOver: facts.progress.state.isFinal,
                now: facts.progress.now,
                catalogue: catalogue
            ).values
        }
        let charts = DeliveryCharts(timeline: facts.reasons.timeline, catalogue: catalogue).values
        for part in [
            head, outcomes, charts, days, plan ?? [:], reasons, LimitTables.values(facts.reasons.limits, catalogue),
        ] {
            values.merge(part) { _, new in new }
        }
        if let view = ExperimentView(facts, catalogue) { values["experiment"] = .group(view.values) }
        if let words = ownWait {
            values["waiting"] = .text(words)
            values["isWaiting"] = .flag(true)
        }
        values["isWaitTold"] = .flag(ownWait != nil)
        if let recall = facts.reasons.recall {
            values["recall"] = .group(RecallView(facts: recall, catalogue: catalogue).values)
        }
        return values
    }

    /// What it waits for if nothing is wrong: a person, or the time of its messages; nil if it waits for neither.
    var ownWait: String? {
        guard facts.progress.waitingReason.isEmpty, facts.progress.state == .inProgress else { return nil }
        if let experiment = facts.reasons.experiment, experiment.row.state == .undecided,
            ExperimentView.rest(of: experiment.variants) > 0
        {
            return catalogue[.waitsForChoice]
        }
        let planned = facts.reasons.plan?.plannedMessages ?? 0
        guard facts.progress.standsStill, planned > 0 else { return nil }
        return catalogue.text(.factLeftUnknown, Figures.count(planned))
    }

    private var head: PageValues {
        let row = facts.progress
        var pairs: [(Phrase, String)] = [
            (.factNumber, "\(row.id)"), (.factApplications, facts.applications.joined(separator: ", ")),
            (.factKind, catalogue[row.kind == .continuous ? .kindContinuous : .kindBatch]),
        ]
        if row.seeds > 0 { pairs.append((.factSeeds, Figures.count(row.seeds))) }
        if let category = row.category { pairs.append((.settingCategory, category)) }
        if row.isOneTimeCode { pairs.append((.factCode, catalogue[.settingCodeYes])) }
        if row.startedAt == nil, !row.state.isFinal, let start = row.startAt {
            pairs.append((.factStarts, Figures.minute(start)))
        }
        if let started = row.startedAt { pairs.append((.factStarted, Figures.time(started))) }
        if let finished = row.finishedAt { pairs.append((.factFinished, Figures.time(finished))) }
        if let started = row.startedAt {
            let end = row.finishedAt ?? row.now
            let seconds = Double(end.microsecondsSince1970 - started.microsecondsSince1970) / 1e6
            pairs.append((.factDuration, Figures.duration(seconds)))
        }
        pairs += pace
        if let signal = facts.reasons.signal {
            let side = signal.good == .below ? "<" : ">"
            let value = signal.value.map(RateNumber.shown) ?? "–"
            pairs.append((.columnSignal, "\(signal.signal): \(value) (\(side) \(RateNumber.shown(signal.target)))"))
            let ends = "\(RateNumber.shown(signal.floor)) – \(RateNumber.shown(signal.ceiling))"
            pairs.append((.fieldRate, "\(Figures.oneDigit(signal.rate)) (\(ends))"))
        }
        return [
            "facts": .list(pairs.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }),
            "reason": .text(Figures.inZone(row.stateReason)), "hasReason": .flag(!row.stateReason.isEmpty),
            "readAt": .text(Figures.time(row.now)),
        ]
    }

    /// How fast it sends, what limits that, and when it ends at this rate; empty unless it sends.
    private var pace: [(Phrase, String)] {
        let row = facts.progress
        guard let rate, [.preparing, .inProgress].contains(row.state), facts.count(.pending) > 0 else { return [] }
        let shown = rate < 10 ? Figures.oneDigit(rate) : Figures.rate(rate)
        var pairs: [(Phrase, String)] = [(.factRate, "\(shown) \(catalogue[.figureRateUnit])")]
        let binding = facts.reasons.limits.filter(\.binds).map { LimitTables.line($0, catalogue) }
        if !binding.isEmpty { pairs.append((.factLimitedBy, binding.joined(separator: ", "))) }
        if let left = timeLeft(rate) { pairs.append((.factLeft, left)) }
        return pairs
    }

    /// When it ends at this rate. What waits for its time does not depend on the rate, and nobody knows when messages
    /// leave that are held back.
    func timeLeft(_ measured: Double) -> String? {
        let row = facts.progress
        let rate = LimitTables.rate(facts.reasons.limits) ?? measured
        if !row.waitingReason.isEmpty || facts.reasons.limits.contains(where: LimitTables.isBarrier) {
            return catalogue[.factLeftHeld]
        }
        let waiting = facts.reasons.plan?.plannedMessages ?? 0
        let left = Double(max(facts.count(.pending) - waiting, 0))
        guard row.prepared, rate > 0, left > 0 || waiting > 0 else { return nil }
        guard waiting > 0 else { return catalogue.text(.about, Figures.duration(left / rate)) }
        // Without an analysis, only the next moment is known.
        guard let end = facts.reasons.endsAt ?? facts.reasons.plan?.nextAt, end > row.now else {
            return catalogue.text(.factLeftUnknown, Figures.count(waiting))
        }
        let seconds = Double(end.microsecondsSince1970 - row.now.microsecondsSince1970) / 1e6
        return catalogue.text(.factLeftPlanned, Figures.duration(max(seconds, left / rate)), Figures.count(waiting))
    }

    private var outcomes: PageValues {
        let target = facts.target
        // Receipts and clicks are shown for sent messages only, as in the table by application.
        let hits = Hits(
            received: facts.counts.funnel.received,
            clicked: facts.counts.funnel.clicked,
            arrived: facts.count(.sent) + facts.count(.unknown)
        )
        let statuses: [MessageStatus] = [.sent, .pending, .failed, .ignored, .notApplicable, .canceled, .unknown]
        let counts = statuses.map { ($0, facts.count($0)) }
        let shown = counts.filter { $0.1 > 0 || $0.0 == .sent || $0.0 == .failed }.map { status, count -> PageValues in
            [
                "name": .text(catalogue.counted(status, count)), "meaning": .text(catalogue.meaning(status)),
                "count": .text(Figures.count(count)), "share": .text(Figures.percent(count, of: target)),
            ]
        }
        let uncounted = Uncounted(facts, hits)
        let applications = facts.reasons.byApplication.map { row -> PageValues in
            let hits = Hits(received: row.received, clicked: row.clicked, arrived: row.sent + row.other)
            return [
                "name": .text(row.application.isEmpty ? catalogue[.unknownApplication] : row.application),
                "sent": .text(Uncounted.shown(row.sent, uncounted.outcomes)),
                "failed": .text(Uncounted.shown(row.failed, uncounted.outcomes)),
                "other": .text(Uncounted.shown(row.other, uncounted.outcomes)),
                "received": .text(Uncounted.shown(hits.received, uncounted.received)),
                "clicked": .text(Uncounted.shown(hits.clicked, uncounted.clicked)),
                "clickShare": .text(
                    row.sent == 0 && uncounted.outcomes ? "–" : Figures.percent(hits.clicked, of: row.sent)
                ),
            ]
        }
        return [
            "funnel": .list(funnel(hits)), "counts": .list(shown), "byApplication": .list(applications),
            "hasApplications": .flag(!applications.isEmpty), "sent": .text(Figures.count(facts.count(.sent))),
            "pending": .text(Figures.count(facts.count(.pending))),
            // The sum of the rows, which is the target.
            "total": .text(Figures.count(counts.reduce(0) { $0 + $1.1 })),
            "isCounted": .flag(facts.isCounted), "isOpen": .flag(!facts.progress.state.isFinal),
        ]
    }

    /// From the target to clicks.
    private func funnel(_ hits: Hits) -> [PageValues] {
        let (target, sent) = (facts.target, facts.count(.sent))
        let isGrowing = facts.number == .growing
        let steps: [(Phrase, Int64, String, Int64)] = [
            (isGrowing ? .targetSoFar : .funnelTarget, target, "s-target", target),
            (.funnelSent, sent, "s-sent", target), (.funnelReceived, hits.received, "s-received", sent),
            (.funnelClicked, hits.clicked, "s-clicked", sent),
        ]
        return steps.map { name, count, style, whole -> PageValues in
            [
                "name": .text(catalogue[name]), "count": .text(Figures.count(count)),
                "share": .text(Figures.percent(count, of: whole)),
                "bar": .drawing(Bar.markup([(Double(count) / Double(max(target, 1)), style)])),
            ]
        }
    }

    private var days: PageValues {
        let counts = facts.counts
        var values: PageValues = [
            "days": .list(counts.days.map(day)), "hasDays": .flag(!counts.days.isEmpty),
            "isLater": .flag(isLater), "hasDayPages": .flag(isLater || counts.hasOlderDays),
            "daysNote": .text(
                catalogue.text(
                    .daysNote,
                    count: Int64(counts.days.count),
                    Figures.count(Int64(counts.days.count)),
                    Figures.count(Int64(DeliveryDetailPage.maxDays))
                )
            ),
        ]
        if counts.hasOlderDays, let last = counts.days.last { values["next"] = .group(["below": .text("\(last.id)")]) }
        return values
    }

    private func day(_ day: DeliveryDay) -> PageValues {
        [
            "dayID": .text("\(day.id)"), "date": .text(Figures.day(day.logDay.description)),
            "dayState": .text(day.standsStill ? catalogue[.stateWaiting] : catalogue.state(day.state)),
            "dayClass": .text(day.standsStill ? "fair" : "state-" + day.state.rawValue),
            "dayTarget": .text(Figures.count(day.target)),
            "daySent": .text(Figures.count(day.counts[.sent] ?? 0)),
            "dayFailed": .text(Figures.count(day.counts[.failed] ?? 0)),
        ]
    }

    private var reasons: PageValues {
        // The messages of a continuous delivery belong to its days.
        let hasMessages = facts.counts.days.isEmpty
        let failures = facts.reasons.failures.map { row -> PageValues in
            let words = facts.reasons.words.filter { $0.reason == row.reason }.map { "«\($0.words)»" }
            let meaning = ([catalogue.reason(row.reason) ?? meanings(row.reason) ?? ""] + words)
                .filter { !$0.isEmpty }.joined(separator: " ")
            let path = DeliveryMessagesPage.path(facts.progress.id, status: row.status, reason: row.reason)
            return [
                // Messages are found by status and reason: without a reason, all messages of the status would be
                // listed.
                "path": .text(path), "hasPath": .flag(hasMessages && !row.reason.isEmpty),
                "reason": .text(row.reason.isEmpty ? catalogue[.noReason] : row.reason), "meaning": .text(meaning),
                "status": .text(catalogue.status(row.status)), "kind": .text(row.kind),
                "application": .text(row.application),
                "count": .text(Figures.count(row.count)),
            ]
        }
        let exclusions = facts.reasons.exclusions.counts.map { row -> PageValues in
            [
                "reason": .text(row.name), "meaning": .text(catalogue.reason(row.name) ?? ""),
                "count": .text(
                    facts.reasons.exclusions.isPartial
                        ? catalogue.text(.atLeast, Figures.count(row.count)) : Figures.count(row.count)
                ),
            ]
        }
        return [
            "failures": .list(failures), "hasFailures": .flag(!failures.isEmpty), "exclusions": .list(exclusions),
            "hasExclusions": .flag(!exclusions.isEmpty),
        ]
    }
}
