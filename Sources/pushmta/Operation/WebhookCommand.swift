import Administration
import ArgumentParser
import PushCore
import Store

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "Webhooks: consumers whose events are posted to an HTTPS address.",
        discussion: """
            The feedback worker posts them, to the hosts of feedback.webhooks.allowedHosts only. Deploy/guide/events.md \
            describes what is posted.
            """,
        subcommands: [
            WebhookCreateCommand.self, WebhookSetCommand.self, WebhookDropCommand.self, WebhookListCommand.self,
            WebhookEnableCommand.self, WebhookDisableCommand.self, WebhookRotateCommand.self, WebhookDeadCommand.self,
            WebhookResendCommand.self,
        ]
    )

    static func target(_ url: String) throws -> WebhookTarget {
        guard let target = WebhookTarget(url) else {
            throw CommandFailure(.data, "\(url) is not an https:// address with a host and without a user name.")
        }
        return target
    }

    /// Says so if the settings of this host do not allow the address.
    static func remind(_ target: WebhookTarget, _ settings: Settings) {
        guard !target.isIn(settings.feedback.webhooks.allowedHosts) else { return }
        StandardOutput.line(
            "Nothing is posted until feedback.webhooks.allowedHosts, on the hosts of the feedback workers, has \(target.host)."
        )
    }

    /// A new secret, and as it is stored.
    static func newSecret(_ store: Store, _ settings: Settings) async throws -> (WebhookSecret, SealedWebhookSecret) {
        let secret = WebhookSecret()
        let cipher = try CredentialKeyFile.keyring(settings).current
        let id = try await store.nextCredentialID()
        let sealed = try cipher.seal(secret.bytes, credentialID: id)
        return (secret, SealedWebhookSecret(id: id, sealKeyID: cipher.keyID, sealed: sealed))
    }
}

/// `pushmta webhook create CONSUMER URL`.
struct WebhookCreateCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Have a consumer's events posted to an address, and print the secret that signs them.",
        discussion: "The secret is shown only now. `pushmta events create` creates the consumer."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The consumer's name.")
    var consumer: String

    @Argument(help: "The address, https://…")
    var url: String

    @Option(help: "The maximum number of events in a request, from 1 to 1000.")
    var maxEvents: Int32 = 100

    func execute(_ loaded: LoadedSettings) async throws {
        let target = try WebhookCommand.target(url)
        let secret = try await StoreSession.run(loaded.values) { store in
            try await CredentialWriter(store: store, settings: loaded.values).locked {
                let (secret, sealed) = try await WebhookCommand.newSecret(store, loaded.values)
                try await store.createWebhook(consumer: consumer, url: url, maxEvents: maxEvents, secret: sealed)
                return secret
            }
        }
        StandardOutput.line(
            "The events of \(consumer) are posted to \(target.host). Secret of the signatures, shown only now: \(secret.text)",
            [("consumer", .text(consumer)), ("secret", .text(secret.text))]
        )
        WebhookCommand.remind(target, loaded.values)
    }
}

/// `pushmta webhook set CONSUMER URL`.
struct WebhookSetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change the address of a webhook. What waits is posted to it at once, with the same secrets."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The consumer's name.")
    var consumer: String

    @Argument(help: "The new address, https://…")
    var url: String

    @Option(help: "The maximum number of events in a request, from 1 to 1000 (default: as before).")
    var maxEvents: Int32?

    func execute(_ loaded: LoadedSettings) async throws {
        let target = try WebhookCommand.target(url)
        try await StoreSession.run(loaded.values) { store in
            try await store.setWebhook(consumer: consumer, url: url, maxEvents: maxEvents)
        }
        StandardOutput.line(
            "The events of \(consumer) are posted to \(target.host).",
            [("consumer", .text(consumer)), ("host", .text(target.host))]
        )
        WebhookCommand.remind(target, loaded.values)
    }
}

/// `pushmta webhook drop CONSUMER`.
struct WebhookDropCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Remove a webhook. Its consumer gets back what the receiver has not accepted, also dead letters."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The consumer's name.")
    var consumer: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.dropWebhook(consumer: consumer) }
        StandardOutput.line(
            "The webhook of \(consumer) was removed. pushmta events drop \(consumer) removes the consumer, too.",
            [("consumer", .text(consumer))]
        )
    }
}

/// `pushmta webhook list`.
struct WebhookListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the webhooks, with the last trouble of each."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let webhooks = try await StoreSession.run(loaded.values) { try await $0.webhooks() }
        var table = Table([
            "consumer", "url", "active", "accepted", "accepted_at", "attempts", "dead_letters", "trouble",
        ])
        for webhook in webhooks {
            let trouble = webhook.inactiveReason.isEmpty ? webhook.trouble ?? "" : webhook.inactiveReason
            table.add([
                .text(webhook.consumer), .text(webhook.url), .flag(webhook.isActive), .integer(webhook.accepted),
                Cell(webhook.acceptedAt?.internetText), Cell(webhook.attempts), .integer(webhook.deadLetters),
                .text(trouble),
            ])
        }
        guard json || !webhooks.isEmpty else { return StandardOutput.line("There are no webhooks.") }
        table.show(json: json)
    }
}

/// `pushmta webhook enable CONSUMER`.
struct WebhookEnableCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Enable a webhook that was disabled, or try at once what waits."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The consumer's name.")
    var consumer: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.enableWebhook(consumer: consumer, true) }
        StandardOutput.line("The webhook of \(consumer) is enabled.", [("consumer", .text(consumer))])
    }
}

/// `pushmta webhook disable CONSUMER`.
struct WebhookDisableCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Stop posting to a webhook. Its events wait, within the bounds of the consumer."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The consumer's name.")
    var consumer: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.enableWebhook(consumer: consumer, false) }
        StandardOutput.line("The webhook of \(consumer) is disabled.", [("consumer", .text(consumer))])
    }
}

/// `pushmta webhook rotate-secret CONSUMER`.
struct WebhookRotateCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-secret",
        abstract: "Give a webhook a new secret, and print it. For a while, the earlier ones sign, too."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The consumer's name.")
    var consumer: String

    @Option(help: "For how many hours the present secret signs, too, from 0 to 720; 0 also ends earlier ones.")
    var overlapHours: Int64 = 24

    func validate() throws {
        guard (0...720).contains(overlapHours) else {
            throw ValidationError("--overlap-hours is \(overlapHours): give a number from 0 to 720.")
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let secret = try await StoreSession.run(loaded.values) { store in
            try await CredentialWriter(store: store, settings: loaded.values).locked {
                let (secret, sealed) = try await WebhookCommand.newSecret(store, loaded.values)
                try await store.rotateWebhookSecret(
                    consumer: consumer,
                    secret: sealed,
                    overlapSeconds: overlapHours * 3_600
                )
                return secret
            }
        }
        StandardOutput.line(
            "New secret of \(consumer), shown only now: \(secret.text). The earlier one signs, too, for \(overlapHours) h.",
            [("consumer", .text(consumer)), ("secret", .text(secret.text))]
        )
    }
}

/// `pushmta webhook dead`.
struct WebhookDeadCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "List the dead letters: batches that a receiver did not accept, the latest first.",
        discussion: "The rights of pushmta_monitoring suffice."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var limit: RowLimit

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let letters = try await StoreSession.run(loaded.values) { try await $0.deadLetters(limit: limit.rows) }
        var table = Table(["id", "consumer", "events", "dead_at", "http_status", "trouble"])
        for letter in letters {
            table.add([
                .text(letter.id), .text(letter.consumer), .integer(letter.events), .text(letter.deadAt.internetText),
                Cell(letter.httpStatus), .text(letter.trouble),
            ])
        }
        guard json || !letters.isEmpty else { return StandardOutput.line("There are no dead letters.") }
        table.show(json: json)
    }
}

/// `pushmta webhook resend ID`.
struct WebhookResendCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend",
        abstract: "Post a dead letter again, before the events that follow."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The dead letter's id, as pushmta webhook dead shows it.")
    var id: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.resendDeadLetter(id) }
        StandardOutput.line("Dead letter \(id) is posted again.", [("id", .text(id))])
    }
}
