import HTTPTypes
import PushCore
import Store

/// *Find a message*: by any id that a phone, a gateway or a log shows. It leads to the message, its delivery and its
/// subscription.
struct FindMessagePage: Sendable {
    let responder: ConsoleResponder

    static let path = "/messages"
    private static let idField = "id"
    private static let deliveryField = "delivery"
    /// The longest accepted input with an id in it is the address of a device's tracking request.
    private static let maxIDLength = 2_000

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        // By GET: the id of a message identifies no person, and a link to a message is useful.
        [ConsoleRoute(.get, Self.path, .role(.read)) { try await find($0) }]
    }

    private func find(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = String((call.query[Self.idField] ?? "").trimmed.prefix(Self.maxIDLength))
        let delivery = (call.query[Self.deliveryField] ?? "").trimmed
        var values: PageValues = [
            "id": .text(id), "delivery": .text(delivery), "isSearched": .flag(!id.isEmpty),
            "most": .text("\(Self.maxIDLength)"),
        ]
        let number = Int64(delivery)
        if !delivery.isEmpty, number == nil { values["problem"] = .text(catalogue[.findDeliveryWrong]) }
        if !id.isEmpty {
            let found = try await responder.database.run {
                try await $0.findMessages(id, delivery: number, by: call.actor)
            }
            let rows = found.compactMap { finding in finding.message.map { row(finding, $0) } }
            values["rows"] = .list(rows)
            values["hasRows"] = .flag(!rows.isEmpty)
            values["reasons"] = .list(rows.isEmpty ? found.map { ["words": .text(words($0))] } : [])
        }
        return .page(ConsolePage("find-message", title: catalogue[.findMessageTitle], values))
    }

    private func row(_ finding: ConsoleFinding, _ message: ConsoleFinding.Message) -> PageValues {
        let meaning = catalogue.reason(message.reason) ?? responder.setup.meanings(message.reason) ?? ""
        return [
            "deliveryID": .text(finding.deliveryID.map { "\($0)" } ?? ""),
            "label": .text(message.label.isEmpty ? catalogue[.unnamedDelivery] : message.label),
            "number": .text(finding.sequence.map { Figures.count(Int64($0)) } ?? ""),
            "kind": .text(kind(finding.kind)), "subscription": .text("\(message.subscriptionID)"),
            "application": .text(message.application), "status": .text(catalogue.status(message.status)),
            "reason": .text(message.reason), "meaning": .text(meaning), "hasMeaning": .flag(!meaning.isEmpty),
            "gatewayID": .text(message.gatewayMessageID ?? ""),
            "told": .text(
                message.isClicked ? catalogue[.toldClicked] : message.isReceived ? catalogue[.toldReceived] : ""
            ),
            "at": .text(message.loggedAt.map { Figures.time($0) } ?? ""),
        ]
    }

    private func kind(_ kind: MessageIDKind?) -> String {
        switch kind {
        case .messageID: catalogue[.idOfMessage]
        case .uuid: catalogue[.idUUID]
        case .int32: catalogue[.idDecimal]
        case .int32Hex: catalogue[.idHexadecimal]
        case .gatewayID: catalogue[.idOfGateway]
        case nil: ""
        }
    }

    /// Why nothing was found, as `pushmta.explain_message_id` says it, in each language.
    private func words(_ finding: ConsoleFinding) -> String {
        let delivery = finding.deliveryID.map { "\($0)" } ?? ""
        let sequence = finding.sequence.map { "\($0)" } ?? ""
        return switch finding.finding {
        case "expired": catalogue.text(.findingExpired, delivery, sequence)
        case "no_message": catalogue.text(.findingNoMessage, delivery, sequence)
        case "no_delivery": catalogue.text(.findingNoDelivery, delivery)
        case "needs_delivery": catalogue[.findingNeedsDelivery]
        case "unreadable": catalogue[.findingUnreadable]
        default: catalogue.text(.findingNothing, kind(finding.kind))
        }
    }
}
