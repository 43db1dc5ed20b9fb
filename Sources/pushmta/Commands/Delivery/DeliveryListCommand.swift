import ArgumentParser
import Store

/// `pushmta delivery list`.
struct DeliveryListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the newest deliveries.")

    @OptionGroup var global: GlobalOptions

    @OptionGroup var limit: RowLimit

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.deliveries(limit: limit.rows) }
        DeliveryTable.table(rows).show(json: json)
    }
}
