import ArgumentParser
import PushCore
import Store

/// `pushmta delivery resume ID`.
struct DeliveryResumeCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let a paused delivery go on."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        let progress = try await StoreSession.run(loaded.values) { store in
            try await store.resumeDelivery(id)
            return try await store.deliveryProgress(id)
        }
        StandardOutput.line(
            "Delivery \(id) goes on: it is \(progress.state.rawValue), \(progress.pending) messages are pending. "
                + "`pushmta delivery watch \(id)` shows how it goes."
        )
    }
}
