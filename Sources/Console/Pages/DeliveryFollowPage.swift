import Foundation
import HTTPTypes
import PushCore
import Store

/// The form that lets the rate of a delivery follow a health signal.
struct DeliveryFollowPage: Sendable {
    let responder: ConsoleResponder

    /// The word in the address of a delivery's page after the form was saved.
    static let done = "follow"

    private var catalogue: Catalogue { responder.pages.catalogue }
    private var fields: FollowForm { FollowForm(prefix: "", catalogue: catalogue) }

    var routes: [ConsoleRoute] {
        // The database knows whose delivery it is.
        [
            ConsoleRoute(.get, "/deliveries/{id}/follow", .role(.marketing)) { call in
                try await form(try call.number("id")).reply()
            },
            ConsoleRoute(.post, "/deliveries/{id}/follow", .role(.marketing)) { try await save($0) },
        ]
    }

    private func form(_ id: Int64) async throws -> FormPage {
        let (progress, signals, followed) = try await responder.database.run { store in
            (
                try await store.deliveryProgress(id), try await store.signalChoices(),
                try await store.signal(ofDelivery: id)
            )
        }
        let name = DeliveryWords(row: progress, catalogue: catalogue).name
        let limits = followed.map {
            SignalLimits(signal: $0.signal, target: $0.target, floor: $0.floor, ceiling: $0.ceiling)
        }
        return FormPage(
            title: catalogue[.followTitle],
            action: "/deliveries/\(id)/follow",
            back: ("/deliveries/\(id)", name),
            intro: catalogue[.followText],
            fields: fields.fields(signals, limits.map(fields.values) ?? [:]),
            button: catalogue[.followSaveButton],
            obstacle: signals.isEmpty ? catalogue[.noSignals] : ""
        )
    }

    private func save(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        return try await form(id).reply(to: call) {
            let limits = try fields.limits(call.typed)
            try await responder.database.run { try await $0.followSignal(id, limits, by: call.actor) }
            return .redirect("/deliveries/\(id)?done=\(Self.done)")
        }
    }
}
