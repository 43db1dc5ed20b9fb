import ArgumentParser
import PushCore
import Store

/// `pushmta delivery pause ID`.
struct DeliveryPauseCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause a delivery: nothing more of it leaves until it is resumed.",
        discussion: """
            It takes effect within a second; what is on the wire is settled and recorded. The validity runs on. Ctrl-C ends the \
            wait and not the pause.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Flag(help: "Return when nothing of it is on the wire any more.")
    var wait = false

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            try await store.pauseDelivery(id)
            let control = DeliveryControl(store: store, id: id)
            try await control.tell("Delivery \(id) is paused. `pushmta delivery resume \(id)` lets it go on.")
            if wait { try await control.waitUntilQuiet(.paused) }
        }
    }
}
