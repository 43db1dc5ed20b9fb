import HTTPTypes
import PushCore
import Store

/// *Audit*: who did what, for administrators.
struct AuditPage: Sendable {
    let responder: ConsoleResponder

    /// The rows of a page.
    private static let maxRows = 50
    /// No search needs more characters.
    private static let maxTextLength = 200

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/audit", .role(.admin)) { call in
                let below = call.query["below"].flatMap { Int64($0) } ?? .max
                // One extra row shows whether there are more.
                let text = String((call.query["text"] ?? "").prefix(Self.maxTextLength))
                let rows = try await responder.database.run {
                    try await $0.auditLog(below: below, with: text, limit: Self.maxRows + 1, by: call.actor)
                }
                let catalogue = responder.pages.catalogue
                var values: PageValues = [
                    "rows": .list(rows.prefix(Self.maxRows).map { Self.values($0, catalogue) }),
                    "hasRows": .flag(!rows.isEmpty), "text": .text(text), "hasText": .flag(!text.isEmpty),
                    "isLater": .flag(below != .max),
                ]
                if rows.count > Self.maxRows {
                    let filter = text.isEmpty ? "" : "&text=\(SignIn.encoded(text))"
                    values["next"] = .group(["path": .text("/audit?below=\(rows[Self.maxRows - 1].id)\(filter)")])
                }
                return .page(ConsolePage("audit", title: catalogue[.auditTitle], values))
            }
        ]
    }

    private static func values(_ row: AuditRow, _ catalogue: Catalogue) -> PageValues {
        let path = path(row)
        return [
            "subjectPath": .text(path ?? ""), "hasPath": .flag(path != nil),
            "at": .text(Figures.time(row.at)), "who": .text(row.who.isEmpty ? catalogue[.nobody] : row.who),
            "action": .text(catalogue.action(row.action)), "subject": .text(row.subject), "detail": .text(row.detail),
            "origin": .text(row.origin),
        ]
    }

    /// The page of the changed thing; nil if it has none.
    static func path(_ row: AuditRow) -> String? {
        let number = Int64(row.subject)
        return switch row.action.prefix(while: { $0 != "." }) {
        case "delivery": number.map { "/deliveries/\($0)" }
        case "subscriber": number.map { "\(SubscriberSearchPage.path)/\($0)" }
        case "service", "application", "credential": ServiceListPage.path
        case "account": ServiceListPage.path + "/accounts"
        case "template": TemplatesPage.path
        case "host", "child": "/hosts"
        case "alarm": AlarmsPage.path
        case "consumer", "webhook": EventsPage.path
        case "user": UsersPage.path
        default: nil
        }
    }
}
