import Foundation
import HTTPTypes
import PushCore
import Store

/// *Health signals*: the figures of other systems that rates of deliveries may follow; administrators define them.
struct SignalPages: Sendable {
    let responder: ConsoleResponder

    /// Below the path of the hosts, as it is part of their menu.
    static let path = "/hosts/signals"
    /// The names of the form fields.
    private enum Name {
        static let (name, kind, source, selector, good) = ("name", "kind", "source", "selector", "good")
        static let (interval, timeout, reaction, stale) = ("interval", "timeout", "reaction", "stale")
    }

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.operate)) { try await list($0) },
            ConsoleRoute(.get, Self.path + "/new", .role(.admin)) { _ in form(nil).reply() },
            ConsoleRoute(.post, Self.path + "/new", .role(.admin)) { try await save($0, nil) },
            ConsoleRoute(.get, Self.path + "/change", .role(.admin)) { form(try await named($0)).reply() },
            ConsoleRoute(.post, Self.path + "/change", .role(.admin)) { try await save($0, try await named($0)) },
            ConsoleRoute(.get, Self.path + "/remove", .role(.admin)) { try confirm($0) },
            ConsoleRoute(.post, Self.path + "/remove", .role(.admin)) { call in
                let name = try Self.name(call)
                try await responder.database.run { try await $0.dropHealthSignal(name, by: call.actor) }
                return .redirect(Self.path + "?done=remove")
            },
        ]
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let rows = try await responder.database.run { try await $0.healthSignals() }
        var values: PageValues = [
            "rows": .list(rows.map(row)), "hasRows": .flag(!rows.isEmpty), "mayDeclare": .flag(call.mayDeclare),
        ]
        if call.query["done"] == "set" { values["done"] = .text(catalogue[.doneSignalSet]) }
        if call.query["done"] == "remove" { values["done"] = .text(catalogue[.doneSignalRemove]) }
        return .page(ConsolePage("signals", title: catalogue[.signalsTitle], values))
    }

    private func row(_ row: HealthSignalRow) -> PageValues {
        let state: Phrase = row.deliveries == 0 ? .signalUnused : row.isStale ? .signalStale : .signalFresh
        let name = SignIn.encoded(row.signal.name)
        return [
            "name": .text(row.signal.name), "kind": .text(row.signal.kind.rawValue),
            "source": .text(row.signal.source), "selector": .text(row.signal.selector),
            "value": .text(row.value.map(RateNumber.shown) ?? "–"),
            "age": .text(row.ageSeconds.map { Figures.duration($0) } ?? "–"),
            "deliveries": .text(Figures.count(row.deliveries)), "state": .text(catalogue[state]),
            "stateClass": .text(row.deliveries == 0 ? "" : row.isStale ? "health-late" : "health-alive"),
            "error": .text(row.error), "changePath": .text(Self.path + "/change?name=" + name),
            "removePath": .text(Self.path + "/remove?name=" + name),
        ]
    }

    private static func name(_ call: ConsoleCall) throws(ConsoleProblem) -> String {
        guard let name = call.query[Name.name], !name.isEmpty else { throw .notFound }
        return name
    }

    private func named(_ call: ConsoleCall) async throws -> HealthSignal {
        let name = try Self.name(call)
        let rows = try await responder.database.run { try await $0.healthSignals() }
        guard let row = rows.first(where: { $0.signal.name == name }) else { throw ConsoleProblem.notFound }
        return row.signal
    }

    private func confirm(_ call: ConsoleCall) throws -> ConsoleReply {
        let name = try Self.name(call)
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[.signalRemoveTitle],
                [
                    "subject": .text(name), "text": .text(catalogue[.signalRemoveText]),
                    "action": .text(Self.path + "/remove?name=" + SignIn.encoded(name)),
                    "button": .text(catalogue[.removeDraft]), "back": .text(Self.path),
                ]
            )
        )
    }
}

/// The form that defines a signal.
extension SignalPages {
    /// - Parameter known: the signal to change; nil for a new one.
    private func form(_ known: HealthSignal?) -> FormPage {
        let signal = known ?? HealthSignal(name: "", kind: .http, source: "")
        let fields = known == nil ? [FormField.ofName(Name.name, catalogue[.fieldNameHint], catalogue)] : []
        return FormPage(
            title: known?.name ?? catalogue[.newSignalTitle],
            action: known.map { Self.path + "/change?name=" + SignIn.encoded($0.name) } ?? Self.path + "/new",
            back: (Self.path, catalogue[.signalsTitle]),
            intro: catalogue[.newSignalText],
            fields: fields + sourceFields(signal) + timeFields(signal),
            button: catalogue[.signalSaveButton]
        )
    }

    private func sourceFields(_ signal: HealthSignal) -> [FormField] {
        let sides: [(SignalController.Side, Phrase)] = [(.below, .signalBelow), (.above, .signalAbove)]
        return [
            FormField(
                name: Name.kind,
                label: catalogue[.columnKind],
                kind: .choice(HealthSignal.Kind.allCases.map { FormOption($0.rawValue, $0.rawValue) }),
                value: signal.kind.rawValue
            ),
            FormField(
                name: Name.source,
                label: catalogue[.signalSource],
                kind: .text,
                hint: catalogue[.signalSourceHint],
                isRequired: true,
                value: signal.source,
                maxLength: 2_000
            ),
            FormField(
                name: Name.selector,
                label: catalogue[.signalSelector],
                kind: .text,
                hint: catalogue[.signalSelectorHint],
                value: signal.selector,
                maxLength: 2_000
            ),
            FormField(
                name: Name.good,
                label: catalogue[.signalGood],
                kind: .choice(sides.map { FormOption($0.0.rawValue, catalogue[$0.1]) }),
                value: signal.good.rawValue
            ),
        ]
    }

    private func timeFields(_ signal: HealthSignal) -> [FormField] {
        func number(_ name: String, _ label: Phrase, _ value: Int32, hint: Phrase? = nil) -> FormField {
            FormField(
                name: name,
                label: catalogue[label],
                kind: .text,
                hint: hint.map { catalogue[$0] } ?? "",
                isRequired: true,
                value: String(value),
                maxLength: 6
            )
        }
        return [
            number(Name.interval, .signalInterval, signal.intervalSeconds),
            number(Name.timeout, .signalTimeout, signal.timeoutMilliseconds),
            number(Name.reaction, .signalReaction, signal.reactionSeconds, hint: .signalReactionHint),
            number(Name.stale, .signalStaleAfter, signal.staleAfterSeconds, hint: .signalStaleAfterHint),
        ]
    }

    private func save(_ call: ConsoleCall, _ known: HealthSignal?) async throws -> ConsoleReply {
        try await form(known).reply(to: call) {
            let signal = try signal(call, name: known?.name ?? call.typed(Name.name))
            try await responder.database.run { try await $0.setHealthSignal(signal, by: call.actor) }
            return .redirect(Self.path + "?done=set")
        }
    }

    private func signal(_ call: ConsoleCall, name: String) throws -> HealthSignal {
        guard let kind = HealthSignal.Kind(rawValue: call.typed(Name.kind)),
            let good = SignalController.Side(rawValue: call.typed(Name.good))
        else { throw ConsoleProblem.malformed }
        func number(_ field: String) throws(FormRefusal) -> Int32 {
            guard let number = Int32(call.typed(field)) else {
                throw FormRefusal([field: catalogue[.signalNumberWrong]])
            }
            return number
        }
        var signal = HealthSignal(
            name: name,
            kind: kind,
            source: call.typed(Name.source),
            selector: call.typed(Name.selector),
            good: good
        )
        signal.intervalSeconds = try number(Name.interval)
        signal.timeoutMilliseconds = try number(Name.timeout)
        signal.reactionSeconds = try number(Name.reaction)
        signal.staleAfterSeconds = try number(Name.stale)
        return signal
    }
}
