import Foundation
import HTTPTypes
import PushCore
import Store

/// The page of a delivery: what became of it, what it waits for, and the actions.
struct DeliveryDetailPage: Sendable {
    let responder: ConsoleResponder

    /// The days of a page: a month. A delivery may run for years, and each day needs its own sums.
    static let maxDays = 31

    /// Messages of other pages that lead here after an action, by the word in the address.
    private static let doneElsewhere: [String: Phrase] = [TestPushPage.done: .testDone, Composer.started: .doneStart]

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/deliveries/{id}", .role(.read)) { try await show($0) },
            ConsoleRoute(.get, "/deliveries/{id}" + ConsoleRoutes.livePath, .role(.read)) { call in
                let id = try call.number("id")
                let state = call.query["state"] ?? ""
                let since = call.query["since"].flatMap { Int64($0) } ?? 0
                return responder.live(call) {
                    let (read, now) = try await responder.deliveries.part(id)
                    // A reading made for other pages before this page is older than the page.
                    guard now.now.microsecondsSince1970 > since else { return nil }
                    var part = read
                    // Nothing follows the end.
                    part.isLast = now.state.isFinal
                    guard now.state.rawValue != state else { return part }
                    // A delivery in another state has other buttons, so the page is reloaded.
                    return NowPart(html: part.html, event: .changed, readAt: part.readAt, isLast: true)
                }
            },
            // The database knows whose delivery it is.
            ConsoleRoute(.get, "/deliveries/{id}/stop", .role(.marketing)) { try await confirm($0) },
        ]
            + DeliveryAction.allCases.map { action in
                ConsoleRoute(.post, "/deliveries/{id}/\(action.rawValue)", .role(.marketing)) {
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
                    "subject": .text(name),
                    "text": .text(catalogue.text(.stopText, count: progress.pending, Figures.count(progress.pending))),
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
        let view = DeliveryView(
            facts: facts,
            isLater: below != .max,
            catalogue: catalogue,
            meanings: responder.setup.meanings
        )
        let state = facts.progress.state
        var values = words.summary
        values["live"] = .drawing(Markup(trusted: responder.pages.fragment("delivery-live", view.values)))
        if !state.isFinal, state != .editing, below == .max {
            let since = facts.progress.now.microsecondsSince1970
            let path = "/deliveries/\(id)\(ConsoleRoutes.livePath)?state=\(state.rawValue)&since=\(since)"
            values["follow"] = .group(["path": .text(path)])
            values["hasBar"] = .flag(true)
        }
        if let parent = facts.progress.parentID { values["parent"] = .group(["parentID": .text("\(parent)")]) }
        if facts.progress.parentID == nil {
            let allowed = try await responder.database.run { try await $0.actions(onDelivery: id, by: call.actor) }
            values.merge(actions(facts.progress, allowed)) { _, new in new }
        }
        // A continuous delivery has no messages of its own; each of its days has.
        values["hasMessages"] = .flag(!words.isInDays && facts.progress.target > 0)
        values["mayTake"] = .flag(call.mayOperate)
        if let done = call.query["done"].flatMap({ DeliveryAction(rawValue: $0) }) {
            values["done"] = .text(catalogue.done(done))
            values["isDone"] = .flag(true)
        } else if let done = call.query["done"].flatMap({ Self.doneElsewhere[$0] }) {
            values["done"] = .text(catalogue[done])
            values["isDone"] = .flag(true)
        }
        return .page(ConsolePage("delivery", title: words.name, values))
    }

    private func actions(_ row: DeliveryProgress, _ allowed: Set<DeliveryAction>) -> PageValues {
        let isOpen = [.pending, .preparing, .inProgress].contains(row.state)
        let isPaused = row.state == .paused
        let offered = allowed.intersection(isOpen ? [.pause, .stop] : isPaused ? [.resume, .stop] : [])
        return [
            "mayPause": .flag(offered.contains(.pause)), "mayResume": .flag(offered.contains(.resume)),
            "mayStop": .flag(offered.contains(.stop)), "hasActions": .flag(!offered.isEmpty),
        ]
    }
}

/// The live part of a delivery's page, which updates while the delivery is under way.
struct DeliveryView {
    let facts: DeliveryFacts
    /// Whether it shows days before the newest.
    let isLater: Bool
    let catalogue: Catalogue
    let meanings: @Sendable (String) -> String?

    var values: PageValues {
        var values = DeliveryWords(row: facts.progress, catalogue: catalogue).summary
        for part in [head, outcomes, days, reasons, LimitTables.values(facts.reasons.limits)] {
            values.merge(part) { _, new in new }
        }
        return values
    }

    private var head: PageValues {
        let row = facts.progress
        var pairs: [(Phrase, String)] = [
            (.factNumber, "\(row.id)"), (.factApplications, facts.applications.joined(separator: ", ")),
            (.factKind, catalogue[row.kind == .continuous ? .kindContinuous : .kindBatch]),
        ]
        if row.seeds > 0 { pairs.append((.factSeeds, Figures.count(row.seeds))) }
        if row.isOneTimeCode { pairs.append((.factCode, catalogue[.settingCodeYes])) }
        if let started = row.startedAt { pairs.append((.factStarted, Figures.time(started))) }
        if let finished = row.finishedAt { pairs.append((.factFinished, Figures.time(finished))) }
        if let started = row.startedAt {
            let end = row.finishedAt ?? row.now
            let seconds = Double(end.microsecondsSince1970 - started.microsecondsSince1970) / 1e6
            pairs.append((.factDuration, Figures.duration(seconds)))
        }
        return [
            "facts": .list(pairs.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }),
            "reason": .text(row.stateReason), "hasReason": .flag(!row.stateReason.isEmpty),
            "readAt": .text(Figures.time(row.now)),
        ]
    }

    private var outcomes: PageValues {
        let target = facts.target
        let sent = facts.count(.sent)
        // Receipts and clicks are shown for sent messages only, as in the table by application.
        let hits = Hits(
            received: facts.counts.funnel.received,
            clicked: facts.counts.funnel.clicked,
            arrived: sent + facts.count(.unknown)
        )
        let steps: [(Phrase, Int64, String, Int64)] = [
            (.funnelTarget, target, "s-target", target), (.funnelSent, sent, "s-sent", target),
            (.funnelReceived, hits.received, "s-received", sent), (.funnelClicked, hits.clicked, "s-clicked", sent),
        ]
        let funnel = steps.map { name, count, style, whole -> PageValues in
            [
                "name": .text(catalogue[name]), "count": .text(Figures.count(count)),
                "share": .text(Figures.percent(count, of: whole)),
                "bar": .drawing(Bar.markup([(Double(count) / Double(max(target, 1)), style)])),
            ]
        }
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
            "funnel": .list(funnel), "counts": .list(shown), "byApplication": .list(applications),
            "hasApplications": .flag(!applications.isEmpty), "sent": .text(Figures.count(facts.count(.sent))),
            "pending": .text(Figures.count(facts.count(.pending))),
        ]
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

/// The figures that the table by application lacks so far: it counts outcomes when their part is done, and receipts
/// after them.
struct Uncounted: Sendable, Hashable {
    let outcomes: Bool
    let received: Bool
    let clicked: Bool

    /// - Parameter hits: those of the whole delivery.
    init(_ facts: DeliveryFacts, _ hits: Hits) {
        let rows = facts.reasons.byApplication
        let statuses: [MessageStatus] = [.sent, .failed, .ignored, .notApplicable, .canceled, .unknown]
        let ended = statuses.reduce(0) { $0 + facts.count($1) }
        outcomes = rows.reduce(0) { $0 + $1.sent + $1.failed + $1.other } < ended
        // No more hits are shown than messages that arrived, and those are counted late.
        received = outcomes && rows.reduce(0) { $0 + min($1.received, $1.sent + $1.other) } < hits.received
        clicked = outcomes && rows.reduce(0) { $0 + min($1.clicked, $1.sent + $1.other) } < hits.clicked
    }

    /// A zero means "counted, and none"; a figure that is not counted yet shows a dash.
    static func shown(_ count: Int64, _ isUncounted: Bool) -> String {
        count == 0 && isUncounted ? "–" : Figures.count(count)
    }
}

/// Receipts and clicks, as a page shows them next to the outcomes. Hits are counted within seconds, outcomes when
/// their part is done; no more receipts are shown than messages that arrived.
struct Hits: Sendable, Hashable {
    /// Messages that devices have received.
    let received: Int64
    /// Messages that people have opened.
    let clicked: Int64

    /// - Parameter arrived: messages that the gateway accepted, and those whose outcome is unknown.
    init(received: Int64, clicked: Int64, arrived: Int64) {
        self.received = min(received, arrived)
        self.clicked = min(clicked, arrived)
    }
}
