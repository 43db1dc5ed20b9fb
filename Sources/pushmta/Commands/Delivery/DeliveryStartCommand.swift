import ArgumentParser
import Store
import Supervisor

/// `pushmta delivery start ID`.
struct DeliveryStartCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "start", abstract: "Start a delivery.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            // A started one would fail, where nobody sees it. One that cannot be read is the start's to tell of.
            if let job = try? await store.job(id), let problem = PreparationCheck.problem(with: job) {
                throw CommandFailure(.data, "Delivery \(id) is not started: \(problem)")
            }
            try await store.startDelivery(id)
        }
        StandardOutput.line("Delivery \(id) is started. `pushmta delivery watch \(id)` shows how it goes.")
    }
}
