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
