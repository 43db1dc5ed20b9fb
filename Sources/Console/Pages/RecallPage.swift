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
            ConsoleRoute(.get, path, .role(.marketing)) { try await form(facts($0)).reply() },
            ConsoleRoute(.post, path, .role(.marketing)) { try await recall($0) },
        ]
    }

    /// What the form depends on.
    private struct Facts {
        let id: Int64
        let progress: DeliveryProgress
        /// The platforms on which the messages can be replaced.
        let platforms: [Platform]
        /// The delivery that replaces or removes the messages already.
        let child: Int64?
    }

    private func facts(_ call: ConsoleCall) async throws -> Facts {
        let id = try call.number("id")
        return try await responder.database.run { store in
            Facts(
                id: id,
                progress: try await store.deliveryProgress(id),
                platforms: try await store.replaceablePlatforms(ofDelivery: id),
                child: try await store.recallReport(ofDelivery: id)?.child
            )
        }
    }

    private func form(_ facts: Facts) -> FormPage {
        let progress = facts.progress
        // Somebody may have seen those of unknown outcome, too.
        let sent = progress.sent + progress.unknown
        let intro = [
            catalogue.text(.recallSent, count: sent, Figures.count(sent)),
            catalogue.text(.recallText, count: progress.pending, Figures.count(progress.pending)),
            facts.platforms.isEmpty ? catalogue[.recallNoKey] : "",
        ]
        let fields = [
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
                kind: .choice(modes(facts.platforms)),
                value: RecallMode.stop.rawValue
            ),
        ]
        return FormPage(
            title: catalogue[.recallTitle],
            action: "/deliveries/\(facts.id)/\(DeliveryAction.recall.rawValue)",
            back: ("/deliveries/\(facts.id)", DeliveryWords(row: progress, catalogue: catalogue).name),
            intro: intro.filter { !$0.isEmpty }.joined(separator: " "),
            fields: fields + (facts.platforms.isEmpty ? [] : replacement),
            button: catalogue[.recallButton],
            obstacle: facts.child.map { catalogue.text(.recallAlready, "\($0)") } ?? ""
        )
    }

    /// What can be done about messages that were sent.
    private func modes(_ platforms: [Platform]) -> [FormOption] {
        var modes = [FormOption(RecallMode.stop.rawValue, catalogue[.recallStop])]
        if !platforms.isEmpty {
            let names = platforms.map { catalogue[$0 == .ios ? .platformIOS : .platformAndroid] }
            let words = catalogue.text(.recallReplace, names.joined(separator: ", "))
            modes.append(FormOption(RecallMode.replace.rawValue, words))
        }
        modes.append(FormOption(RecallMode.remove.rawValue, catalogue[.recallRemove]))
        return modes
    }

    /// The fields of the message that replaces the others.
    private var replacement: [FormField] {
        [
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
        ]
    }

    private func recall(_ call: ConsoleCall) async throws -> ConsoleReply {
        let facts = try await facts(call)
        return try await form(facts).reply(to: call) {
            let mode = RecallMode(rawValue: call.typed(Name.mode)) ?? .stop
            let (title, body) = (call.typed(Name.title), call.typed(Name.body))
            guard mode != .replace || !title.isEmpty || !body.isEmpty else {
                throw FormRefusal([Name.title: catalogue[.recallTextMissing]])
            }
            let content = mode == .replace ? Self.content(title, body) : nil
            let reason = call.typed(Name.reason)
            _ = try await responder.database.run {
                try await $0.recallDelivery(facts.id, reason: reason, mode: mode, content: content, by: call.actor)
            }
            return .redirect("/deliveries/\(facts.id)?done=\(DeliveryAction.recall.rawValue)")
        }
    }

    /// A content with only a title and a text, for every platform.
    private static func content(_ title: String, _ body: String) -> String {
        let shown = JSONObjectText.write(["title": title, "body": body].filter { !$0.value.isEmpty }) ?? "{}"
        let sections = Platform.allCases.map { "\(JSONObjectText.quoted($0.rawValue)): \(shown)" }
        return "{\(sections.joined(separator: ", "))}"
    }
}
