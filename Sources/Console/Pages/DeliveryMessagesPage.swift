import HTTPTypes
import PushCore
import Store

/// The messages of a delivery, highest number first, all of them or those with one outcome. Each leads to its
/// subscription; opening that is recorded.
struct DeliveryMessagesPage: Sendable {
    let responder: ConsoleResponder

    /// The rows of a page: what fits on two screens.
    private static let maxRows = 25
    /// The maximum number of reasons to choose from; the rest are rare.
    private static let maxReasons = 30
    /// The longest reason that a search accepts, as gateways write them.
    private static let maxReasonLength = 1_000
    /// The name of the form's field. Its value is a status, or a status and a reason with this sign between them.
    private static let (field, sign) = ("what", ":" as Character)

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [ConsoleRoute(.get, "/deliveries/{id}/messages", .role(.read)) { try await list($0) }]
    }

    /// The path of a delivery's messages with one outcome.
    static func path(_ id: Int64, status: String, reason: String) -> String {
        "/deliveries/\(id)/messages?\(field)=\(SignIn.encoded(word(status, reason)))"
    }

    private static func word(_ status: String, _ reason: String) -> String {
        reason.isEmpty ? status : "\(status)\(sign)\(reason)"
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        let what = call.query[Self.field] ?? ""
        let parts = what.split(separator: Self.sign, maxSplits: 1).map(String.init)
        let filter = MessageFilter(
            status: parts.first.flatMap { word in MessageStatus.allCases.first { $0.name == word } },
            reason: parts.count > 1 ? String(parts[1].prefix(Self.maxReasonLength)) : "",
            below: call.query["below"].flatMap { Int32($0) } ?? .max
        )
        let (progress, failures, page, clock) = try await responder.database.run { store in
            (
                try await store.deliveryProgress(id),
                try await store.failureCounts(deliveries: [id], limit: Self.maxReasons),
                try await store.messages(ofDelivery: id, filter, limit: Self.maxRows, by: call.actor),
                try await store.clock(ofDelivery: id)
            )
        }
        let name = DeliveryWords(row: progress, catalogue: catalogue).name
        let rows = Figures.$zone.withValue(clock) { page.rows.map { row(id, $0) } }
        var values: PageValues = [
            "id": .text("\(id)"), "subject": .text(name), "rows": .list(rows),
            "hasRows": .flag(!page.rows.isEmpty), "choices": .list(choices(filter, failures)),
            "isLater": .flag(filter.below != .max), "isFiltered": .flag(filter.status != nil),
            "isCut": .flag(page.next != nil && page.rows.count < Self.maxRows),
            "first": .text(path(id, filter, below: nil)),
        ]
        if let next = page.next { values["next"] = .group(["path": .text(path(id, filter, below: next))]) }
        return .page(ConsolePage("messages", title: catalogue[.messagesOfTitle], values))
    }

    private func path(_ id: Int64, _ filter: MessageFilter, below: Int32?) -> String {
        var parts: [String] = []
        if let status = filter.status {
            parts.append("\(Self.field)=\(SignIn.encoded(Self.word(status.name, filter.reason)))")
        }
        if let below { parts.append("below=\(below)") }
        return "/deliveries/\(id)/messages" + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
    }

    /// The possible outcomes, with the reasons that this delivery has.
    private func choices(_ filter: MessageFilter, _ failures: [FailureCount]) -> [PageValues] {
        let statuses: [MessageStatus] = [.failed, .sent, .pending, .ignored, .notApplicable, .canceled, .unknown]
        let chosen = filter.status.map { Self.word($0.name, filter.reason) } ?? ""
        var known: [String: [String]] = [:]
        for row in failures where !row.reason.isEmpty {
            if known[row.status]?.contains(row.reason) != true { known[row.status, default: []].append(row.reason) }
        }
        // A rare reason is not among the others, but was asked for.
        if let status = filter.status, !filter.reason.isEmpty, known[status.name]?.contains(filter.reason) != true {
            known[status.name, default: []].append(filter.reason)
        }
        return statuses.flatMap { status -> [PageValues] in
            let name = catalogue.status(status.name)
            return ([""] + (known[status.name] ?? [])).map { reason in
                let word = Self.word(status.name, reason)
                return [
                    "value": .text(word), "name": .text(reason.isEmpty ? name : "\(name): \(reason)"),
                    "isChosen": .flag(word == chosen),
                ]
            }
        }
    }

    private func row(_ id: Int64, _ message: ListedMessage) -> PageValues {
        let meaning = catalogue.reason(message.reason) ?? responder.setup.meanings(message.reason) ?? ""
        return [
            "number": .text(Figures.count(Int64(message.sequence))),
            "subscription": .text("\(message.subscriptionID)"), "application": .text(message.application),
            "status": .text(catalogue.status(message.status)),
            "reason": .text(message.reason), "meaning": .text(meaning), "hasMeaning": .flag(!meaning.isEmpty),
            "attempt": .text(message.attempt.map { "\($0)" } ?? ""),
            "told": .text(
                message.isClicked
                    ? catalogue[.toldClicked] : message.isReceived ? catalogue[.toldReceived] : ""
            ),
            "at": .text(message.loggedAt.map { Figures.time($0) } ?? ""),
        ]
    }
}
