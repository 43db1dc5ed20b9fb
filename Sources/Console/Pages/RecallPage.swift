import HTTPTypes
import PushCore
import Store

/// The form that recalls a delivery.
struct RecallPage: Sendable {
    let responder: ConsoleResponder

    /// The characters of a title and of a text that a phone shows.
    private static let (longestTitle, longestText) = (200, 1_000)
    private static let longestReason = 2_000

    private var catalogue: Catalogue { responder.pages.catalogue }

    /// The names of the fields.
    private enum Name {
        static let reason = "reason"
        static let mode = "mode"
        static let title = "title"
        static let body = "body"
    }

    var routes: [ConsoleRoute] {
        let path = "/deliveries/{id}/\(DeliveryAction.recall.rawValue)"
        // The database knows whose delivery it is.
        return [
            ConsoleRoute(.get, path, .role(.marketing)) { try await form($0).reply() },
            ConsoleRoute(.post, path, .role(.marketing)) { try await recall($0) },
        ]
    }

    private func form(_ call: ConsoleCall) async throws -> FormPage {
        let id = try call.number("id")
        let progress = try await responder.database.run { try await $0.deliveryProgress(id) }
        let modes = [
            FormOption(RecallMode.stop.rawValue, catalogue[.recallStop]),
            FormOption(RecallMode.replace.rawValue, catalogue[.recallReplace]),
            FormOption(RecallMode.remove.rawValue, catalogue[.recallRemove]),
        ]
        return FormPage(
            title: catalogue[.recallTitle],
            action: "/deliveries/\(id)/\(DeliveryAction.recall.rawValue)",
            back: ("/deliveries/\(id)", DeliveryWords(row: progress, catalogue: catalogue).name),
            intro: catalogue.text(.recallText, count: progress.pending, Figures.count(progress.pending)),
            fields: [
                FormField(
                    name: Name.reason,
                    label: catalogue[.recallReason],
                    kind: .text,
                    isRequired: true,
                    maxLength: Self.longestReason
                ),
                FormField(
                    name: Name.mode,
                    label: catalogue[.recallMode],
                    kind: .choice(modes),
                    value: RecallMode.stop.rawValue
                ),
                FormField(
                    name: Name.title,
                    label: catalogue[.recallNewTitle],
                    kind: .text,
                    hint: catalogue[.recallOnlyReplace],
                    maxLength: Self.longestTitle
                ),
                FormField(
                    name: Name.body,
                    label: catalogue[.recallNewBody],
                    kind: .text,
                    maxLength: Self.longestText
                ),
            ],
            button: catalogue[.recallButton]
        )
    }

    private func recall(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        let page = try await form(call)
        return try await page.reply(to: call) {
            let mode = RecallMode(rawValue: call.typed(Name.mode)) ?? .stop
            let content = mode == .replace ? Self.content(call.typed(Name.title), call.typed(Name.body)) : nil
            let reason = call.typed(Name.reason)
            _ = try await responder.database.run {
                try await $0.recallDelivery(id, reason: reason, mode: mode, content: content, by: call.actor)
            }
            return .redirect("/deliveries/\(id)?done=\(DeliveryAction.recall.rawValue)")
        }
    }

    /// A content with only a title and a text, for every platform.
    private static func content(_ title: String, _ body: String) -> String {
        let shown = JSONObjectText.write(["title": title, "body": body].filter { !$0.value.isEmpty }) ?? "{}"
        let sections = Platform.allCases.map { "\(JSONObjectText.quoted($0.rawValue)): \(shown)" }
        return "{\(sections.joined(separator: ", "))}"
    }
}
