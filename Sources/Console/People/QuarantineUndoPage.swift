import HTTPTypes
import PushCore
import Store

/// Undoes what the answers to one delivery's messages did to push tokens.
struct QuarantineUndoPage: Sendable {
    let responder: ConsoleResponder

    static let path = QuarantinePage.path + "/undo"
    /// The word in the address of the quarantine's page afterwards.
    static let done = "undone"
    private static let delivery = "delivery"
    /// Reports undone in one transaction, so that each is short.
    private static let step: Int32 = 1_000

    private var catalogue: Catalogue { responder.pages.catalogue }

    private var form: FormPage {
        FormPage(
            title: catalogue[.undoTitle],
            action: Self.path,
            back: (QuarantinePage.path, catalogue[.quarantineTitle]),
            intro: catalogue[.undoText],
            fields: [
                FormField(
                    name: Self.delivery,
                    label: catalogue[.undoDelivery],
                    kind: .text,
                    hint: catalogue[.undoDeliveryHint],
                    isRequired: true,
                    maxLength: 19
                )
            ],
            button: catalogue[.undoContinue]
        )
    }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.operate)) { _ in form.reply() },
            ConsoleRoute(.post, Self.path, .role(.operate)) { try await choose($0) },
            ConsoleRoute(.get, Self.path + "/{id}", .role(.operate)) { try await ask($0) },
            ConsoleRoute(.post, Self.path + "/{id}", .role(.operate)) { try await undo($0) },
        ]
    }

    /// Checks the number; the next page asks for confirmation.
    private func choose(_ call: ConsoleCall) async throws -> ConsoleReply {
        try await form.reply(to: call) {
            guard let id = Int64(call.typed(Self.delivery)), id > 0 else {
                throw FormRefusal([Self.delivery: catalogue[.undoDeliveryWrong]])
            }
            let count = try await responder.database.run { try await $0.tokenEffects(ofDelivery: id, by: call.actor) }
            guard count > 0 else { throw FormRefusal([Self.delivery: catalogue[.undoNothing]]) }
            return .redirect("\(Self.path)/\(id)")
        }
    }

    private func ask(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        let (progress, count) = try await responder.database.run { store in
            (try await store.deliveryProgress(id), try await store.tokenEffects(ofDelivery: id, by: call.actor))
        }
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[.undoTitle],
                [
                    "subject": .text("\(id), \(DeliveryWords(row: progress, catalogue: catalogue).name)"),
                    "text": .text(catalogue.text(.undoCount, Figures.count(count))), "isMild": .flag(true),
                    "action": .text("\(Self.path)/\(id)"), "button": .text(catalogue[.undoButton]),
                    "back": .text(QuarantinePage.path),
                ]
            )
        )
    }

    private func undo(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        var undone: Int64 = 0
        var last: Int64
        repeat {
            last = try await responder.database.run {
                try await $0.undoTokenEffects(ofDelivery: id, most: Self.step, by: call.actor)
            }
            undone += last
        } while last == Int64(Self.step)
        return .redirect("\(QuarantinePage.path)?\(Self.done)=\(undone)")
    }
}
