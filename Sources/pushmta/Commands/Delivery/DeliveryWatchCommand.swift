import ArgumentParser
import PushCore
import Store

/// `pushmta delivery watch ID`: a live progress bar until the delivery is over.
struct DeliveryWatchCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show a delivery live until it is over.",
        discussion: "Exit status 1 if it did not finish."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        let finished = try await StoreSession.run(loaded.values) { store in
            let progress = try await DeliveryWatch(store: store, id: id).untilOver()
            let outcomes = try await store.outcomeCounts(delivery: id)
            let reasons = DeliveryReport.outcomes(outcomes, try await store.exclusionCounts(delivery: id))
            StandardOutput.line("Delivery \(id): \(progress.state.rawValue) \(progress.stateReason)\n\(reasons.text)")
            return progress.state == .finished
        }
        guard finished else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
    }
}
