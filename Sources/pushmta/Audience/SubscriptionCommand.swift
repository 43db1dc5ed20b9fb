import Administration
import ArgumentParser
import PushCore
import Store

struct SubscriptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscription",
        abstract: "Subscriptions: the devices of users.",
        subcommands: [
            SubscriptionImportCommand.self, SubscriptionImportsCommand.self, SubscriptionListCommand.self,
            SubscriptionForgetCommand.self,
        ]
    )
}

struct SubscriptionListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List subscriptions.")

    @OptionGroup var global: GlobalOptions

    @Option(name: .customLong("app"), help: "Only those of this application.")
    var application: String?

    @Option(help: "Only those of this service.")
    var service: String?

    @OptionGroup var limit: RowLimit

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { store in
            // An unknown name would look like one without subscriptions.
            if let application { _ = try await store.application(named: application) }
            if let service { _ = try await store.service(named: service) }
            return try await store.subscriptions(application: application, service: service, limit: limit.rows)
        }
        var table = Table([
            "id", "application", "push_token", "user_key", "enabled", "disabled_reason", "quarantine_status",
            "recipient", "parameters",
        ])
        for row in rows {
            table.add([
                .integer(row.id), .text(row.application), .text(row.pushToken), .text(row.userKey), .flag(row.enabled),
                .text(row.disabledReason), .text(row.quarantineStatus), .text(row.recipient), .text(row.parameters),
            ])
        }
        table.show(json: json)
    }
}

/// `pushmta subscription forget`: fulfils a data-protection request.
struct SubscriptionForgetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget a user of a service permanently.",
        discussion: """
            Empties the user's subscriptions, and deletes the user from targets, variables, exclusions and seed \
            addresses of all deliveries. Logs keep ids that identify no one. `pushmta feedback` removes addresses, \
            browsers and variables from the logs, beginning a minute later, day by day; pushmta.forgotten_subscription \
            shows when all are clean. A message that a child has already loaded may still be sent. An app that \
            registers later is a new user. This cannot be undone.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Option(help: "The service.")
    var service: String

    @Option(help: "The user's key in that service.")
    var userKey: String

    func execute(_ loaded: LoadedSettings) async throws {
        let found = try await StoreSession.run(loaded.values) { store in
            try await store.forgetUser(service: service, userKey: userKey)
        }
        guard !found.isNothing else {
            StandardOutput.line("Service \(service) has no such user; nothing was changed.")
            return
        }
        StandardOutput.line(
            "Forgotten: subscriptions \(found.subscriptions), targets \(found.targets), exclusions \(found.exclusions), seed addresses \(found.seeds).",
            [("subscriptions", Cell(found.subscriptions)), ("targets", Cell(found.targets))]
        )
    }
}
