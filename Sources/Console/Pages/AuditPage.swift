import HTTPTypes
import PushCore
import Store

/// *Audit*: who did what, for administrators.
struct AuditPage: Sendable {
    let responder: ConsoleResponder

    /// Rows of a page.
    private static let most = 50

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/audit", .role(.admin)) { call in
                let below = call.query["below"].flatMap { Int64($0) } ?? .max
                // One more tells whether there are more.
                let rows = try await responder.database.run {
                    try await $0.auditLog(below: below, most: Self.most + 1, by: call.actor)
                }
                let catalogue = responder.pages.catalogue
                var values: PageValues = [
                    "rows": .list(rows.prefix(Self.most).map { Self.values($0, catalogue) }),
                    "hasRows": .flag(!rows.isEmpty),
                    "isLater": .flag(below != .max),
                ]
                if rows.count > Self.most {
                    values["next"] = .group(["path": .text("/audit?below=\(rows[Self.most - 1].id)")])
                }
                return .page(ConsolePage("audit", title: catalogue[.auditTitle], values))
            }
        ]
    }

    private static func values(_ row: AuditRow, _ catalogue: Catalogue) -> PageValues {
        [
            "at": .text(Figures.time(row.at)), "who": .text(row.who.isEmpty ? catalogue[.nobody] : row.who),
            "action": .text(catalogue.action(row.action)), "subject": .text(row.subject), "detail": .text(row.detail),
            "origin": .text(row.origin),
        ]
    }
}
