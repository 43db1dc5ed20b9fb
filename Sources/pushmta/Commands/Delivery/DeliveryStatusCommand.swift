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
        let (progress, outcomes, exclusions, target, notices, days) = try await StoreSession.run(loaded.values) {
            store in
            (
                try await store.deliveryProgress(id), try await store.outcomeCounts(delivery: id),
                try await store.exclusionCounts(delivery: id), try await store.targeting(ofDelivery: id),
                try await store.inactiveAccounts(delivery: id).map { StatusAlarm.alarm(of: $0) }
                    + store.waitingDeliveries(delivery: id).map { StatusAlarm.alarm(of: $0) },
                try await store.days(ofDelivery: id)
            )
        }
        let reasons = DeliveryReport.outcomes(outcomes, exclusions)
        guard json else {
            DeliveryTable.table([progress]).show(json: false)
            if !reasons.rows.isEmpty { StandardOutput.line("\n" + reasons.text) }
            for alarm in notices { StandardOutput.line("\nAlarm: \(alarm.text)") }
            if let words = Self.words(target, progress) { StandardOutput.line("\n" + words) }
            if !days.isEmpty { StandardOutput.line("\n" + DeliveryTable.table(days).text) }
            return
        }
        let counts = Array(zip(DeliveryTable.columns, DeliveryTable.row(progress)))
        let list = Cell.list(reasons.rows.map { .object(Array(zip(reasons.columns, $0))) })
        let lists = Cell.list(target.excludedLists.map { .text($0) })
        let alarms = Cell.list(notices.map { .text($0.text) })
        let chosen: [(String, Cell)] = [
            ("alarms", alarms), ("filter", Cell(target.filter)), ("exclusion_lists", lists),
            ("parent", Cell(progress.parentID)), ("days", DeliveryTable.table(days).cell),
        ]
        StandardOutput.line(Cell.object(counts + [("outcomes", list)] + chosen).json)
    }

    /// Whom it goes to; nil for all subscribers.
    private static func words(_ target: DeliveryTargeting, _ progress: DeliveryProgress) -> String? {
        var words: [String] = []
        if let whole = progress.parentID {
            words.append("It is a day of the continuous delivery \(whole).")
        } else if progress.kind == .continuous {
            words.append("It is continuous: its messages are counted with their days.")
        }
        if target.isExplicit, progress.kind == .batch { words.append("It goes to explicit targets.") }
        if let filter = target.filter { words.append("Filter: \(filter)") }
        if target.hasRawSQL { words.append("A condition in SQL chooses too.") }
        if !target.excludedLists.isEmpty {
            words.append("Exclusion lists: \(target.excludedLists.joined(separator: ", "))")
        }
        return words.isEmpty ? nil : words.joined(separator: "\n")
    }
}
