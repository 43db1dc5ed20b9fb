import ArgumentParser
import Store

/// `pushmta subscription list`.
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
            // A name that nothing has would look like nobody's subscriptions.
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
