import ArgumentParser
import Store

/// `pushmta quarantine undo --delivery ID`.
struct QuarantineUndoCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Take back what a delivery's answers did to push tokens.",
        discussion: """
            For a delivery that went out with the wrong environment, key or topic: its answers said that good tokens are bad. What \
            they did to subscriptions is taken back and what they were about to do is not done: dead tokens live again, replaced ones \
            come back, soft errors are not counted. A subscription whose device has registered since is left as it is. A token that is \
            really dead is reported again by the next message to it.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(help: "The delivery's id.")
    var delivery: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        let count = try await StoreSession.run(loaded.values) { try await $0.undoTokenEvents(delivery: delivery) }
        StandardOutput.line(
            count == 0
                ? "Delivery \(delivery) has no token events to undo. `pushmta quarantine list` shows which deliveries have."
                : "Token events of delivery \(delivery) undone: \(count)."
        )
    }
}
