import Foundation
import HTTPTypes
import PushCore
import Store

/// The form that lets the rate of a delivery follow a health signal.
struct DeliveryFollowPage: Sendable {
    let responder: ConsoleResponder

    /// The word in the address of a delivery's page after the form was saved.
    static let done = "follow"
    /// The names of the form fields.
    private enum Name {
        static let (signal, target, floor, ceiling) = ("signal", "target", "floor", "ceiling")
    }

    private var catalogue: Catalogue { responder.pages.catalogue }

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
        func rate(_ name: String, _ label: Phrase, _ hint: Phrase, _ value: Double?) -> FormField {
            FormField(
                name: name,
                label: catalogue[label],
                kind: .text,
                hint: catalogue[hint],
                value: value.map(RateNumber.text) ?? "",
                maxLength: 20
            )
        }
        return FormPage(
            title: catalogue[.followTitle],
            action: "/deliveries/\(id)/follow",
            back: ("/deliveries/\(id)", name),
            intro: catalogue[.followText],
            fields: [
                FormField(
                    name: Name.signal,
                    label: catalogue[.columnSignal],
                    kind: .choice(
                        [FormOption("", catalogue[.followNone])] + signals.map { FormOption($0.name, $0.name) }
                    ),
                    value: followed?.signal ?? ""
                ),
                FormField(
                    name: Name.target,
                    label: catalogue[.followTarget],
                    kind: .text,
                    hint: catalogue[.followTargetHint],
                    value: followed.map { RateNumber.text($0.target) } ?? "",
                    maxLength: 20
                ),
                rate(Name.floor, .followFloor, .followFloorHint, followed?.floor),
                rate(Name.ceiling, .followCeiling, .followCeilingHint, followed?.ceiling),
            ],
            button: catalogue[.followSaveButton],
            obstacle: signals.isEmpty ? catalogue[.noSignals] : ""
        )
    }

    private func save(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        return try await form(id).reply(to: call) {
            let limits = try limits(call)
            try await responder.database.run { try await $0.followSignal(id, limits, by: call.actor) }
            return .redirect("/deliveries/\(id)?done=\(Self.done)")
        }
    }

    /// What was typed; nil to follow none.
    private func limits(_ call: ConsoleCall) throws(FormRefusal) -> SignalLimits? {
        let signal = call.typed(Name.signal)
        guard !signal.isEmpty else { return nil }
        var problems: [String: String] = [:]
        func rate(_ name: String) -> Double {
            let typed = call.typed(name)
            guard let rate = RateNumber.parse(typed) else {
                problems[name] = RateField.problem(typed, catalogue)
                return 0
            }
            return rate
        }
        let typed = call.typed(Name.target)
        let target = RateNumber.isGrouped(typed) ? 0 : Double(typed.replacing(",", with: ".")) ?? 0
        if target <= 0 || !target.isFinite { problems[Name.target] = catalogue[.followTargetWrong] }
        let limits = SignalLimits(signal: signal, target: target, floor: rate(Name.floor), ceiling: rate(Name.ceiling))
        guard problems.isEmpty else { throw FormRefusal(problems) }
        return limits
    }
}
