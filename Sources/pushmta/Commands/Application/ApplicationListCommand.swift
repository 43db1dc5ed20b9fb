import ArgumentParser
import PushCore
import Store

/// `pushmta app list`.
struct ApplicationListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the applications.")

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (rows, services, accounts, health) = try await StoreSession.run(loaded.values) { store in
            (
                try await store.applications(), try await store.services(), try await store.accounts(),
                try await store.applicationHealth()
            )
        }
        let circuits = CircuitTable(applications: rows, health: health)
        var table = Table(
            [
                "id", "name", "service", "platform", "environment", "bundle_id", "integration_key", "message_id_format",
                "account", "credential",
            ] + CircuitTable.columns
        )
        for row in rows {
            table.add(
                [
                    Cell(row.id), .text(row.name), Cell(services.first { $0.id == row.serviceID }?.name),
                    .text(row.platform.rawValue), .text(row.environment.rawValue), .text(row.bundleID),
                    .text(row.integrationKey), .text(row.messageIDFormat.rawValue),
                    Cell(accounts.first { $0.id == row.accountID }?.name),
                    .text(row.credentialID == nil ? "none" : "set"),
                ] + circuits.cells(of: row.id)
            )
        }
        table.show(json: json)
    }
}
