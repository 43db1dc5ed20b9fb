import Foundation
import HTTPTypes
import PushCore
import Store

/// What administrators and operators change about events: consumers, webhooks, their secrets, and dead letters.
struct EventChangePages: Sendable {
    let responder: ConsoleResponder

    /// The names of the form fields.
    private enum Name {
        static let (name, service, age, reader) = ("name", "service", "age_hours", "reader")
        static let (url, maxEvents, overlap) = ("url", "max_events", "overlap_hours")
        /// Followed by the name of a kind of events.
        static let kind = "kind."
    }

    /// What operators do to a webhook or dead letter, and administrators after a confirmation.
    private enum Action: String, CaseIterable {
        case pause, resume, resend
        case removeWebhook = "remove-webhook"
        case removeConsumer = "remove"

        var role: ConsoleRole {
            switch self {
            case .pause, .resume, .resend: .operate
            case .removeWebhook, .removeConsumer: .admin
            }
        }
    }

    private static let base = EventsPage.path
    private static let hour: Int64 = 3_600
    /// More services are in no list of a form.
    private static let maxServices = 1_000
    private static let maxAgeHours = 1...NewConsumer.ages.upperBound / hour
    private static let overlapHours = 0...WebhookRow.overlaps.upperBound / hour

    private var catalogue: Catalogue { responder.pages.catalogue }

    static func path(_ action: String, _ name: String) -> String { "\(base)/\(action)?name=\(SignIn.encoded(name))" }

    static func resendPath(_ letter: String) -> String { path(Action.resend.rawValue, letter) }

    static func controlPath(_ isActive: Bool, _ consumer: String) -> String {
        path((isActive ? Action.pause : .resume).rawValue, consumer)
    }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.base + "/new", .role(.admin)) { _ in try await consumerForm().reply() },
            ConsoleRoute(.post, Self.base + "/new", .role(.admin)) { try await createConsumer($0) },
            ConsoleRoute(.get, Self.base + "/webhook", .role(.admin)) { webhookForm(try Self.name($0)).reply() },
            ConsoleRoute(.post, Self.base + "/webhook", .role(.admin)) { try await createWebhook($0) },
            ConsoleRoute(.get, Self.base + "/address", .role(.admin)) { addressForm(try Self.name($0)).reply() },
            ConsoleRoute(.post, Self.base + "/address", .role(.admin)) { try await setWebhook($0) },
            ConsoleRoute(.get, Self.base + "/secret", .role(.admin)) { secretForm(try Self.name($0)).reply() },
            ConsoleRoute(.post, Self.base + "/secret", .role(.admin)) { try await rotate($0) },
            confirmation(.removeWebhook, .webhookRemoveTitle, .webhookRemoveText, .webhookRemove),
            confirmation(.removeConsumer, .consumerRemoveTitle, .consumerRemoveText, .consumerRemove),
        ] + Action.allCases.map(route)
    }

    private func confirmation(_ action: Action, _ title: Phrase, _ text: Phrase, _ button: Phrase) -> ConsoleRoute {
        ConsoleRoute(.get, "\(Self.base)/\(action.rawValue)", .role(action.role)) { call in
            let name = try Self.name(call)
            return .page(
                ConsolePage(
                    "confirm",
                    title: catalogue[title],
                    [
                        "subject": .text(name), "text": .text(catalogue[text]),
                        "action": .text(Self.path(action.rawValue, name)), "button": .text(catalogue[button]),
                        "back": .text(Self.base),
                    ]
                )
            )
        }
    }

    private func route(_ action: Action) -> ConsoleRoute {
        ConsoleRoute(.post, "\(Self.base)/\(action.rawValue)", .role(action.role)) { call in
            let name = try Self.name(call)
            if action == .resend, UUID(uuidString: name) == nil { throw ConsoleProblem.notFound }
            try await responder.database.run { store in
                switch action {
                case .pause: try await store.enableWebhook(consumer: name, false, by: call.actor)
                case .resume: try await store.enableWebhook(consumer: name, true, by: call.actor)
                case .resend: try await store.resendDeadLetter(name, by: call.actor)
                case .removeWebhook: try await store.dropWebhook(consumer: name, by: call.actor)
                case .removeConsumer: try await store.dropConsumer(name, by: call.actor)
                }
            }
            return .redirect("\(Self.base)?done=\(action.rawValue)")
        }
    }

    /// What was done, in words, by the query of the page of events.
    static func done(_ word: String?) -> Phrase? {
        switch word {
        case Action.pause.rawValue: .doneWebhookPause
        case Action.resume.rawValue: .doneWebhookResume
        case Action.resend.rawValue: .doneLetter
        case Action.removeWebhook.rawValue: .doneWebhookRemove
        case Action.removeConsumer.rawValue: .doneConsumerRemove
        case "new": .doneConsumerAdd
        case "address": .doneWebhookAddress
        default: nil
        }
    }

    private static func name(_ call: ConsoleCall) throws(ConsoleProblem) -> String {
        guard let name = call.query[Name.name], !name.isEmpty else { throw .notFound }
        return name
    }
}

/// A new consumer.
extension EventChangePages {
    private func consumerForm() async throws -> FormPage {
        let (kinds, services) = try await responder.database.run { store in
            (try await store.eventKinds(), try await store.serviceNames(limit: Self.maxServices))
        }
        let fields = [
            FormField.ofName(Name.name, catalogue[.fieldNameHint], catalogue),
            FormField(
                name: Name.service,
                label: catalogue[.columnService],
                kind: .choice(
                    [FormOption("", catalogue[.eventsAllServices])] + services.map { FormOption($0, $0) }
                )
            ),
            FormField(
                name: Name.age,
                label: catalogue[.consumerAge],
                kind: .text,
                hint: catalogue[.consumerAgeHint],
                isRequired: true,
                value: "72",
                maxLength: 3
            ),
            FormField(
                name: Name.reader,
                label: catalogue[.columnReader],
                kind: .text,
                hint: catalogue[.consumerReaderHint],
                maxLength: 204
            ),
        ]
        let ticks = kinds.enumerated().map { place, kind in
            FormField(
                name: Name.kind + kind.name,
                label: kind.name,
                kind: .tick,
                hint: place == 0 ? catalogue[.consumerKindHint] : ""
            )
        }
        return FormPage(
            title: catalogue[.consumerNew],
            action: Self.base + "/new",
            back: (Self.base, catalogue[.eventsTitle]),
            intro: catalogue[.consumerText],
            fields: fields + ticks,
            button: catalogue[.save]
        )
    }

    private func createConsumer(_ call: ConsoleCall) async throws -> ConsoleReply {
        try await consumerForm().reply(to: call) {
            var consumer = NewConsumer(name: call.typed(Name.name))
            let kinds = call.form.values.keys.filter { $0.hasPrefix(Name.kind) && call.isTicked($0) }
                .map { String($0.dropFirst(Name.kind.count)) }
            consumer.kinds = kinds.isEmpty ? nil : kinds.sorted()
            consumer.service = call.typed(Name.service).isEmpty ? nil : call.typed(Name.service)
            consumer.maxAgeSeconds =
                try Self.number(call, Name.age, Self.maxAgeHours, catalogue[.consumerAgeHint]) * Self.hour
            consumer.reader = call.typed(Name.reader).isEmpty ? nil : call.typed(Name.reader)
            let made = consumer
            do {
                try await responder.database.run { try await $0.createConsumer(made, by: call.actor) }
            } catch let error as StoreError where error.sqlState == "PM168" {
                throw FormRefusal([Name.reader: catalogue[.consumerReaderWrong]])
            }
            return .redirect(Self.base + "?done=new")
        }
    }

    private static func number(
        _ call: ConsoleCall,
        _ field: String,
        _ range: ClosedRange<Int64>,
        _ problem: String
    ) throws(FormRefusal) -> Int64 {
        guard let number = Int64(call.typed(field)), range.contains(number) else {
            throw FormRefusal([field: problem])
        }
        return number
    }
}

/// Webhooks and their secrets. A secret is shown once.
extension EventChangePages {
    private func webhookForm(_ consumer: String) -> FormPage {
        form(
            "webhook",
            consumer,
            .webhookNewTitle,
            .webhookNewText,
            [
                urlField, maxEventsField(.webhookMaxEventsHint, value: "\(WebhookRow.usualBatch)"),
            ]
        )
    }

    /// - Parameter value: what stands in it; empty for a field that may stay empty.
    private func maxEventsField(_ hint: Phrase, value: String = "") -> FormField {
        FormField(
            name: Name.maxEvents,
            label: catalogue[.webhookMaxEvents],
            kind: .text,
            hint: catalogue[hint],
            isRequired: !value.isEmpty,
            value: value,
            maxLength: 4
        )
    }

    private var urlField: FormField {
        FormField(
            name: Name.url,
            label: catalogue[.webhookURL],
            kind: .text,
            hint: catalogue[.webhookURLHint],
            isRequired: true,
            maxLength: 2_000
        )
    }

    /// The present address is not shown, because its path may hold a secret.
    private func addressForm(_ consumer: String) -> FormPage {
        form(
            "address",
            consumer,
            .webhookAddressTitle,
            .webhookAddressText,
            [
                urlField, maxEventsField(.webhookAddressMaxHint),
            ],
            makesSecret: false
        )
    }

    private func secretForm(_ consumer: String) -> FormPage {
        form(
            "secret",
            consumer,
            .webhookRotateTitle,
            .webhookRotateText,
            [
                FormField(
                    name: Name.overlap,
                    label: catalogue[.webhookOverlap],
                    kind: .text,
                    hint: catalogue[.webhookOverlapHint],
                    isRequired: true,
                    value: "\(WebhookRow.usualOverlap / Self.hour)",
                    maxLength: 3
                )
            ]
        )
    }

    private func form(
        _ action: String,
        _ consumer: String,
        _ title: Phrase,
        _ intro: Phrase,
        _ fields: [FormField],
        makesSecret: Bool = true
    ) -> FormPage {
        let problem = makesSecret ? responder.setup.credentials.problem() : nil
        return FormPage(
            title: catalogue.text(title, consumer),
            action: Self.path(action, consumer),
            back: (Self.base, catalogue[.eventsTitle]),
            intro: catalogue[intro],
            fields: fields,
            button: catalogue[.save],
            obstacle: problem.map { catalogue.text(.noSecretKey, $0) } ?? ""
        )
    }

    private func createWebhook(_ call: ConsoleCall) async throws -> ConsoleReply {
        let consumer = try Self.name(call)
        return try await webhookForm(consumer).reply(to: call) {
            let url = try typedURL(call)
            let maxEvents = try Self.maxEvents(call, catalogue[.webhookMaxEventsHint])
            return try await withSecret(of: consumer) { store, sealing in
                try await store.createWebhook(
                    consumer: consumer,
                    url: url,
                    maxEvents: maxEvents,
                    by: call.actor,
                    sealing: sealing
                )
            }
        }
    }

    private func typedURL(_ call: ConsoleCall) throws(FormRefusal) -> String {
        let url = call.typed(Name.url)
        guard WebhookTarget(url) != nil else { throw FormRefusal([Name.url: catalogue[.webhookURLHint]]) }
        return url
    }

    private static func maxEvents(_ call: ConsoleCall, _ problem: String) throws(FormRefusal) -> Int32 {
        let range = Int64(WebhookRow.batchSizes.lowerBound)...Int64(WebhookRow.batchSizes.upperBound)
        return Int32(try number(call, Name.maxEvents, range, problem))
    }

    private func setWebhook(_ call: ConsoleCall) async throws -> ConsoleReply {
        let consumer = try Self.name(call)
        return try await addressForm(consumer).reply(to: call) {
            let url = try typedURL(call)
            let hint = catalogue[.webhookAddressMaxHint]
            let maxEvents = try call.typed(Name.maxEvents).isEmpty ? nil : Self.maxEvents(call, hint)
            try await responder.database.run { store in
                try await store.setWebhook(consumer: consumer, url: url, maxEvents: maxEvents, by: call.actor)
            }
            return .redirect(Self.base + "?done=address")
        }
    }

    private func rotate(_ call: ConsoleCall) async throws -> ConsoleReply {
        let consumer = try Self.name(call)
        return try await secretForm(consumer).reply(to: call) {
            let hours = try Self.number(call, Name.overlap, Self.overlapHours, catalogue[.webhookOverlapHint])
            return try await withSecret(of: consumer) { store, sealing in
                try await store.rotateWebhookSecret(
                    consumer: consumer,
                    overlapSeconds: hours * Self.hour,
                    by: call.actor,
                    sealing: sealing
                )
            }
        }
    }

    /// Makes a secret, has it stored, and shows it.
    private func withSecret(
        of consumer: String,
        _ keep: @escaping @Sendable (Store, Store.SecretSealing) async throws -> Void
    ) async throws -> ConsoleReply {
        let sealing = responder.setup.credentials
        if let problem = sealing.problem() { throw FormRefusal(words: catalogue.text(.noSecretKey, problem)) }
        let secret = WebhookSecret()
        try await responder.database.run { store in
            try await keep(store) { try sealing.seal(secret.bytes, $0) }
        }
        return .page(
            ConsolePage(
                "secret",
                title: catalogue.text(.secretTitle, consumer),
                [
                    "secret": .text(secret.text), "text": .text(catalogue[.secretText]), "back": .text(Self.base),
                    "backName": .text(catalogue[.eventsTitle]), "button": .text(catalogue[.secretBack]),
                ]
            )
        )
    }
}
