import Foundation
import HTTPTypes
import PushCore
import Store

/// Everything that a delivery's page shows.
private struct DeliveryFacts: Sendable {
    let progress: DeliveryProgress
    let applications: [String]
    let funnel: DeliveryFunnel
    let byApplication: [ApplicationOutcomes]
    let failures: [FailureCount]
    let exclusions: (counts: [BoundedCount], isPartial: Bool)
    let limits: [LimitRow]
    /// Those of a continuous delivery that the page is about, the newest first.
    let days: [DeliveryDay]
    /// Whether there are older ones.
    let hasOlderDays: Bool

    /// Messages of a status, those of its days included.
    func count(_ status: MessageStatus) -> Int64 {
        let own =
            switch status {
            case .sent: progress.sent
            case .pending: progress.pending
            case .failed: progress.failed
            case .ignored: progress.ignored
            case .notApplicable: progress.notApplicable
            case .canceled: progress.canceled
            case .unknown: progress.unknown
            }
        return days.reduce(own) { $0 + ($1.counts[status] ?? 0) }
    }

    /// All messages, those of its days included.
    var target: Int64 { days.reduce(progress.target) { $0 + $1.target } }

    /// Reasons that are shown; the rest is seldom.
    private static let mostReasons = 30
    static func read(_ store: Store, _ id: Int64, daysBelow: Int64) async throws -> DeliveryFacts {
        let progress = try await store.deliveryProgress(id)
        let isContinuous = progress.kind == .continuous && progress.parentID == nil
        // One more tells whether there are more.
        let days =
            isContinuous
            ? try await store.days(ofDelivery: id, below: daysBelow, most: DeliveryDetailPage.mostDays + 1) : []
        let shown = Array(days.prefix(DeliveryDetailPage.mostDays))
        let all = [id] + shown.map(\.id)
        return DeliveryFacts(
            progress: progress,
            applications: try await store.applicationNames(ofDeliveries: [id])[id] ?? [],
            funnel: try await store.funnel(deliveries: all),
            byApplication: try await store.outcomesByApplication(deliveries: all),
            failures: try await store.failureCounts(deliveries: all, most: mostReasons),
            exclusions: try await store.boundedExclusions(delivery: id),
            limits: progress.state.isFinal || progress.state == .editing
                ? [] : try await store.limits(of: .delivery(id)),
            days: shown,
            hasOlderDays: days.count > DeliveryDetailPage.mostDays
        )
    }
}

/// One delivery: what became of it, what it waits for, and what may be done.
struct DeliveryDetailPage: Sendable {
    let responder: ConsoleResponder

    /// Days of a page: a month. A delivery may go on for years, and each day has its sums.
    static let mostDays = 31

    /// What other pages have done before they lead here, by the word in the address.
    private static let doneElsewhere: [String: Phrase] = [TestPushPage.done: .testDone, Composer.started: .doneStart]

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/deliveries/{id}", .role(.read)) { try await show($0) },
            ConsoleRoute(.get, "/deliveries/{id}/stop", .role(.operate)) { try await confirm($0) },
        ]
            + DeliveryAction.allCases.map { action in
                ConsoleRoute(.post, "/deliveries/{id}/\(action.rawValue)", .role(.operate)) {
                    try await control($0, action)
                }
            }
    }

    private func control(_ call: ConsoleCall, _ action: DeliveryAction) async throws -> ConsoleReply {
        let id = try call.number("id")
        try await responder.database.run { try await $0.control(action, delivery: id, by: call.actor) }
        return .redirect("/deliveries/\(id)?done=\(action.rawValue)")
    }

    private func confirm(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        let progress = try await responder.database.run { try await $0.deliveryProgress(id) }
        let name = DeliveryWords(row: progress, catalogue: catalogue).name
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[.stopTitle],
                [
                    "subject": .text(name), "text": .text(catalogue.text(.stopText, Figures.count(progress.pending))),
                    "action": .text("/deliveries/\(id)/stop"), "button": .text(catalogue[.stopButton]),
                    "back": .text("/deliveries/\(id)"),
                ]
            )
        )
    }

    private func show(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        let below = call.query["below"].flatMap { Int64($0) } ?? .max
        let facts = try await responder.database.run { try await DeliveryFacts.read($0, id, daysBelow: below) }
        let words = DeliveryWords(row: facts.progress, catalogue: catalogue)
        var values = words.summary.merging(head(facts, words)) { _, new in new }
        values.merge(outcomes(facts)) { _, new in new }
        values.merge(days(facts, isLater: below != .max)) { _, new in new }
        values.merge(reasons(facts)) { _, new in new }
        values.merge(LimitTables.values(facts.limits)) { _, new in new }
        if call.mayOperate, facts.progress.parentID == nil { values.merge(actions(facts.progress)) { _, new in new } }
        // A continuous delivery has no messages of its own; each of its days has.
        values["mayTake"] = .flag(call.mayOperate && !words.isInDays && facts.progress.target > 0)
        if let done = call.query["done"].flatMap({ DeliveryAction(rawValue: $0) }) {
            values["done"] = .text(catalogue.done(done))
            values["isDone"] = .flag(true)
        } else if let done = call.query["done"].flatMap({ Self.doneElsewhere[$0] }) {
            values["done"] = .text(catalogue[done])
            values["isDone"] = .flag(true)
        }
        return .page(ConsolePage("delivery", title: words.name, values))
    }

    private func head(_ facts: DeliveryFacts, _ words: DeliveryWords) -> PageValues {
        let row = facts.progress
        var pairs: [(Phrase, String)] = [
            (.factNumber, "\(row.id)"), (.factApplications, facts.applications.joined(separator: ", ")),
            (.factKind, catalogue[row.kind == .continuous ? .kindContinuous : .kindBatch]),
        ]
        if let started = row.startedAt { pairs.append((.factStarted, Figures.time(started))) }
        if let finished = row.finishedAt { pairs.append((.factFinished, Figures.time(finished))) }
        if let started = row.startedAt {
            let end = row.finishedAt ?? row.now
            let seconds = Double(end.microsecondsSince1970 - started.microsecondsSince1970) / 1e6
            pairs.append((.factDuration, Figures.duration(seconds)))
        }
        var values: PageValues = [
            "facts": .list(pairs.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }),
            "reason": .text(row.stateReason), "hasReason": .flag(!row.stateReason.isEmpty),
            "readAt": .text(Figures.time(row.now)),
        ]
        if let parent = row.parentID { values["parent"] = .group(["parentID": .text("\(parent)")]) }
        return values
    }

    private func outcomes(_ facts: DeliveryFacts) -> PageValues {
        let target = facts.target
        let steps: [(Phrase, Int64, String)] = [
            (.funnelTarget, target, "s-target"), (.funnelSent, facts.count(.sent), "s-sent"),
            (.funnelReceived, facts.funnel.received, "s-received"), (.funnelClicked, facts.funnel.clicked, "s-clicked"),
        ]
        let funnel = steps.map { name, count, style -> PageValues in
            [
                "name": .text(catalogue[name]), "count": .text(Figures.count(count)),
                "share": .text(Figures.percent(count, of: target)),
                "bar": .drawing(Bar.markup([(Double(count) / Double(max(target, 1)), style)])),
            ]
        }
        let statuses: [MessageStatus] = [.sent, .pending, .failed, .ignored, .notApplicable, .canceled, .unknown]
        let counts = statuses.map { ($0, facts.count($0)) }
        let shown = counts.filter { $0.1 > 0 || $0.0 == .sent || $0.0 == .failed }.map { status, count -> PageValues in
            [
                "name": .text(catalogue.status(status.name)), "meaning": .text(catalogue.meaning(status)),
                "count": .text(Figures.count(count)), "share": .text(Figures.percent(count, of: target)),
            ]
        }
        let applications = facts.byApplication.map { row -> PageValues in
            [
                "name": .text(row.application.isEmpty ? catalogue[.unknownApplication] : row.application),
                "sent": .text(Figures.count(row.sent)), "failed": .text(Figures.count(row.failed)),
                "other": .text(Figures.count(row.other)), "received": .text(Figures.count(row.received)),
                "clicked": .text(Figures.count(row.clicked)),
                "clickShare": .text(Figures.percent(row.clicked, of: row.sent)),
            ]
        }
        return [
            "funnel": .list(funnel), "counts": .list(shown), "byApplication": .list(applications),
            "hasApplications": .flag(!applications.isEmpty), "sent": .text(Figures.count(facts.count(.sent))),
            "pending": .text(Figures.count(facts.count(.pending))),
        ]
    }

    private func days(_ facts: DeliveryFacts, isLater: Bool) -> PageValues {
        var values: PageValues = [
            "days": .list(facts.days.map(day)), "hasDays": .flag(!facts.days.isEmpty),
            "isLater": .flag(isLater), "hasDayPages": .flag(isLater || facts.hasOlderDays),
            "daysNote": .text(
                catalogue.text(
                    .daysNote,
                    Figures.count(Int64(facts.days.count)),
                    Figures.count(Int64(Self.mostDays))
                )
            ),
        ]
        if facts.hasOlderDays, let last = facts.days.last { values["next"] = .group(["below": .text("\(last.id)")]) }
        return values
    }

    private func day(_ day: DeliveryDay) -> PageValues {
        [
            "dayID": .text("\(day.id)"), "date": .text(Figures.day(day.logDay.description)),
            "dayState": .text(catalogue.state(day.state)),
            "dayClass": .text("state-" + day.state.rawValue), "dayTarget": .text(Figures.count(day.target)),
            "daySent": .text(Figures.count(day.counts[.sent] ?? 0)),
            "dayFailed": .text(Figures.count(day.counts[.failed] ?? 0)),
        ]
    }

    private func reasons(_ facts: DeliveryFacts) -> PageValues {
        let failures = facts.failures.map { row -> PageValues in
            let meaning = catalogue.reason(row.reason) ?? responder.setup.meanings(row.reason) ?? ""
            return [
                "reason": .text(row.reason.isEmpty ? catalogue[.noReason] : row.reason), "meaning": .text(meaning),
                "status": .text(catalogue.status(row.status)), "kind": .text(row.kind),
                "application": .text(row.application),
                "count": .text(Figures.count(row.count)),
            ]
        }
        let exclusions = facts.exclusions.counts.map { row -> PageValues in
            [
                "reason": .text(row.name), "meaning": .text(catalogue.reason(row.name) ?? ""),
                "count": .text(
                    facts.exclusions.isPartial
                        ? catalogue.text(.atLeast, Figures.count(row.count)) : Figures.count(row.count)
                ),
            ]
        }
        return [
            "failures": .list(failures), "hasFailures": .flag(!failures.isEmpty), "exclusions": .list(exclusions),
            "hasExclusions": .flag(!exclusions.isEmpty),
        ]
    }

    private func actions(_ row: DeliveryProgress) -> PageValues {
        let isOpen = [.pending, .preparing, .inProgress].contains(row.state)
        return [
            "mayPause": .flag(isOpen), "mayResume": .flag(row.state == .paused),
            "mayStop": .flag(isOpen || row.state == .paused),
            "hasActions": .flag(isOpen || row.state == .paused),
        ]
    }
}
