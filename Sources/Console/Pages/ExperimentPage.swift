import HTTPTypes
import PushCore
import Store

/// The choice of the variant that the rest of an experiment gets.
struct ExperimentPage: Sendable {
    let responder: ConsoleResponder

    /// The word in the address of a delivery's page after the choice.
    static let done = "winner"

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        let path = "/deliveries/{id}/winner/{variant}"
        // The database knows whose delivery it is.
        return [
            ConsoleRoute(.get, path, .role(.marketing)) { try await confirm($0) },
            ConsoleRoute(.post, path, .role(.marketing)) { call in
                let (id, variant) = (try call.number("id"), Int32(clamping: try call.number("variant")))
                try await responder.database.run { try await $0.chooseWinner(id, variant: variant, by: call.actor) }
                return .redirect("/deliveries/\(id)?done=\(Self.done)")
            },
        ]
    }

    private func confirm(_ call: ConsoleCall) async throws -> ConsoleReply {
        let (id, number) = (try call.number("id"), try call.number("variant"))
        let (progress, variants, experiment) = try await responder.database.run { store in
            (
                try await store.deliveryProgress(id), try await store.experimentVariants(ofDelivery: id),
                try await store.experiment(ofDelivery: id)
            )
        }
        let rest = ExperimentView.rest(of: variants)
        guard rest > 0, let variant = variants.first(where: { Int64($0.variant) == number && !$0.isRest }) else {
            throw ConsoleProblem.notFound
        }
        // An address that somebody kept.
        if let winner = experiment?.winnerLabel { throw ConsoleProblem.conflict(catalogue.text(.winnerChosen, winner)) }
        let values: PageValues = [
            "subject": .text(DeliveryWords(row: progress, catalogue: catalogue).name),
            "text": .text(catalogue.text(.chooseText, variant.label, Figures.count(rest))),
            "action": .text("/deliveries/\(id)/winner/\(variant.variant)"),
            "button": .text(catalogue[.experimentChoose]),
            "back": .text("/deliveries/\(id)"), "isMild": .flag(true),
        ]
        return .page(ConsolePage("confirm", title: catalogue[.chooseTitle], values))
    }
}
