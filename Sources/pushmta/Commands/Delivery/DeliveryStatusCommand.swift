import ArgumentParser
import PushCore
import Store

/// `pushmta delivery status ID`: its counts and its outcomes by reason.
struct DeliveryStatusCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show a delivery's counts and its outcomes by reason."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (progress, outcomes, exclusions) = try await StoreSession.run(loaded.values) { store in
            (
                try await store.deliveryProgress(id), try await store.outcomeCounts(delivery: id),
                try await store.exclusionCounts(delivery: id)
            )
        }
        let reasons = DeliveryReport.outcomes(outcomes, exclusions)
        guard json else {
            DeliveryTable.table([progress]).show(json: false)
            if !reasons.rows.isEmpty { StandardOutput.line("\n" + reasons.text) }
            return
        }
        let counts = Array(zip(DeliveryTable.columns, DeliveryTable.row(progress)))
        let list = Cell.list(reasons.rows.map { .object(Array(zip(reasons.columns, $0))) })
        StandardOutput.line(Cell.object(counts + [("outcomes", list)]).json)
    }
}
