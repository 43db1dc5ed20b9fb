import HTTPTypes
import PushCore
import Store

/// *Quarantine*: how many subscriptions get nothing because of a gateway's responses, why, and the latest ones.
struct QuarantinePage: Sendable {
    let responder: ConsoleResponder

    static let path = "/quarantine"
    /// The maximum number counted per application; counting them takes some 5 milliseconds.
    private static let maxCounted = 2_000
    /// The rows of a page.
    private static let maxRows = 25

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.read)) { try await list($0) },
            ConsoleRoute(.get, Self.path + "/{id}/lift", .role(.operate)) { try await ask($0) },
            ConsoleRoute(.post, Self.path + "/{id}/lift", .role(.operate)) { call in
                let id = try call.number("id")
                try await responder.database.run { try await $0.change(.lift, subscription: id, by: call.actor) }
                return .redirect(Self.path + "?done=\(id)")
            },
        ]
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let place = Self.place(call.query["before"])
        let (counts, rows) = try await responder.database.run { store in
            (
                try await store.quarantineCounts(limit: Self.maxCounted, by: call.actor),
                // One extra row shows whether there are more.
                try await store.quarantined(from: place, limit: Self.maxRows + 1, by: call.actor)
            )
        }
        var values: PageValues = [
            "counts": .list(counts.map(count)), "hasCounts": .flag(!counts.isEmpty),
            "rows": .list(rows.prefix(Self.maxRows).map { row($0, mayLift: call.mayOperate) }),
            "hasRows": .flag(!rows.isEmpty), "isLater": .flag(place != nil), "mayLift": .flag(call.mayOperate),
        ]
        if let id = call.query["done"].flatMap({ Int64($0) }) {
            values["done"] = .group(["text": .text(catalogue[.doneLift]), "subject": .text("\(id)")])
        }
        if let undone = call.query[QuarantineUndoPage.done].flatMap({ Int64($0) }) {
            values["undone"] = .text(catalogue.text(.doneUndo, Figures.count(undone)))
        }
        if rows.count > Self.maxRows {
            let last = rows[Self.maxRows - 1]
            let before = "\(last.since.microsecondsSince1970)-\(last.id)"
            values["next"] = .group(["path": .text("\(Self.path)?before=\(before)#latest-title")])
        }
        return .page(ConsolePage("quarantine", title: catalogue[.quarantineTitle], values))
    }

    /// Whom it concerns, and what it does.
    private func ask(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        let row = try await responder.database.run { try await $0.subscriber(id, by: call.actor) }
        let device = catalogue.text(.subscriberTitle, "\(id)")
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[.liftTitle],
                [
                    "subject": .text(row.userKey.isEmpty ? device : "\(row.userKey), \(device)"),
                    "text": .text(catalogue.text(.liftText, row.application)), "isMild": .flag(true),
                    "action": .text("\(Self.path)/\(id)/lift"), "button": .text(catalogue[.liftButton]),
                    "back": .text(Self.path),
                ]
            )
        )
    }

    /// A moment and an id, with a hyphen between them.
    private static func place(_ text: String?) -> QuarantinePlace? {
        let parts = (text ?? "").split(separator: "-").compactMap { Int64($0) }
        guard parts.count == 2, moments.contains(parts[0]) else { return nil }
        return QuarantinePlace(before: DatabaseTime(microsecondsSince1970: parts[0]), below: parts[1])
    }

    /// The moments that PostgreSQL accepts: up to the year 9999.
    private static let moments: ClosedRange<Int64> = 0...253_402_300_800_000_000

    private func count(_ row: QuarantineCount) -> PageValues {
        let count = Figures.count(row.count)
        return [
            "application": .text(row.application),
            "reason": .text(row.reason.isEmpty ? catalogue[.noReason] : row.reason),
            "meaning": .text(responder.setup.meanings(row.reason) ?? ""),
            "kind": .text(catalogue[row.isDead ? .kindDeadToken : .kindSoftErrors]),
            "count": .text(row.isCut ? catalogue.text(.atLeast, count) : count),
        ]
    }

    private func row(_ row: QuarantinedSubscription, mayLift: Bool) -> PageValues {
        [
            "id": .text("\(row.id)"), "application": .text(row.application), "reason": .text(row.reason),
            "kind": .text(catalogue[row.isDead ? .kindDeadToken : .kindSoftErrors]),
            "since": .text(Figures.time(row.since)), "registered": .text(Figures.minute(row.registeredAt)),
            "mayLift": .flag(mayLift),
        ]
    }
}
