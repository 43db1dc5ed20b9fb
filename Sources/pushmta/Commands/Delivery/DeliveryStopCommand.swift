import ArgumentParser
import PushCore
import Store

/// `pushmta delivery stop ID`.
struct DeliveryStopCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop a delivery for good: what has not left never will.",
        discussion: """
            It takes effect within a second; what is on the wire is settled and recorded, everything else is canceled. Ctrl-C \
            ends the wait and not the stop.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Flag(help: "Return when nothing of it is on the wire any more.")
    var wait = false

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            try await store.stopDelivery(id)
            let control = DeliveryControl(store: store, id: id)
            try await control.tell("Delivery \(id) is stopped.")
            if wait { try await control.waitUntilQuiet(.stopped) }
        }
    }
}
