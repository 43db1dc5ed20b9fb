import ArgumentParser
import Store

/// `pushmta delivery start ID`.
struct DeliveryStartCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "start", abstract: "Start a delivery.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.startDelivery(id) }
        StandardOutput.line("Delivery \(id) is started. `pushmta delivery watch \(id)` shows how it goes.")
    }
}
