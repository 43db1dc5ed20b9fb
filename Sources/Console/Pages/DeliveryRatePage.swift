import Foundation
import HTTPTypes
import PushCore
import Store

/// The form that changes how many messages of a delivery may leave each second.
struct DeliveryRatePage: Sendable {
    let responder: ConsoleResponder

    /// The word in the address of a delivery's page after the form was saved.
    static let done = "rate"
    private static let rate = "rate"

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        // The database knows whose delivery it is.
        [
            ConsoleRoute(.get, "/deliveries/{id}/rate", .role(.marketing)) { call in
                try await form(try call.number("id")).reply()
            },
            ConsoleRoute(.post, "/deliveries/{id}/rate", .role(.marketing)) { try await save($0) },
        ]
    }

    private func form(_ id: Int64) async throws -> FormPage {
        let (progress, rate, followed, approval) = try await responder.database.run { store in
            (
                try await store.deliveryProgress(id), try await store.rate(ofDelivery: id),
                try await store.signal(ofDelivery: id), try await store.approval(ofDelivery: id)
            )
        }
        // Once messages leave, nobody asks for the approval again.
        let voids = progress.startedAt == nil && approval.given != nil && approval.objection.isEmpty
        var page = FormPage(
            title: catalogue[.rateTitle],
            action: "/deliveries/\(id)/rate",
            back: ("/deliveries/\(id)", DeliveryWords(row: progress, catalogue: catalogue).name),
            intro: voids ? "\(catalogue[.rateText]) \(catalogue[.rateVoids])" : catalogue[.rateText],
            fields: [RateField.field(Self.rate, catalogue, rate)],
            button: catalogue[.followSaveButton]
        )
        if progress.state.isFinal {
            let state = DeliveryWords(row: progress, catalogue: catalogue).state.words
            page.obstacle = catalogue.text(.actionNotNow, state)
        } else if let followed {
            page.obstacle = catalogue.text(.rateFollows, followed.signal)
            page.related = ("/deliveries/\(id)/follow", catalogue[.followTitle])
        }
        return page
    }

    private func save(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        return try await form(id).reply(to: call) {
            let typed = call.typed(Self.rate)
            let value = RateField.value(typed)
            guard value != .wrong else {
                throw FormRefusal([Self.rate: RateField.problem(typed, catalogue)])
            }
            let rate = value.messagesPerSecond
            try await responder.database.run { try await $0.setRate(ofDelivery: id, rate, by: call.actor) }
            // Another rate may end an approval.
            await responder.approvals.forget()
            return .redirect("/deliveries/\(id)?done=\(Self.done)")
        }
    }
}
