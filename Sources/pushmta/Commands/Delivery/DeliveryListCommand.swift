import ArgumentParser
import Store

/// `pushmta delivery list`.
struct DeliveryListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the newest deliveries.")

    @OptionGroup var global: GlobalOptions

    @Option(help: "How many.")
    var limit: Int = 50

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.deliveries(limit: Int(limit)) }
        DeliveryTable.table(rows).show(json: json)
    }
}
