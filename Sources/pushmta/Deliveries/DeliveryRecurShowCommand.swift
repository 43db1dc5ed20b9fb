import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta delivery recur show ID`.
struct DeliveryRecurShowCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show when a delivery recurs, its next moments and its last runs."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (row, next, runs) = try await StoreSession.run(loaded.values) { store in
            (
                try await store.recurrence(ofDelivery: id), try await store.nextRuns(ofDelivery: id),
                try await store.recurrenceRuns(ofDelivery: id)
            )
        }
        guard let row else {
            throw CommandFailure(
                .data,
                "Delivery \(id) does not recur (pushmta delivery recur set says when it recurs)"
            )
        }
        let table = Self.table(runs)
        guard json else {
            StandardOutput.line(Self.words(row))
            for moment in next { StandardOutput.line("Next: \(moment.internetText)") }
            if !runs.isEmpty { StandardOutput.line("\n" + table.text) }
            return
        }
        StandardOutput.line(Self.cell(row, next, table).json)
    }

    /// The rule and the state, in words.
    private static func words(_ row: RecurrenceRow) -> String {
        let rule = row.rule
        func list(_ name: String, _ elements: [String]?) -> String? {
            guard let elements, !elements.isEmpty else { return nil }
            return "\(name) \(elements.joined(separator: ", "))"
        }
        let parts = [
            "every \(rule.every) \(rule.unit.rawValue)", list("at", rule.times), rule.timeZone,
            list("on weekdays", rule.weekdays?.map { "\($0)" }),
            list("on days of the month", rule.monthDays?.map { "\($0)" }),
            rule.startsOn.map { "from \($0)" }, rule.endsOn.map { "to \($0)" }, list("except", rule.exceptDates),
            "missed: \(rule.missed.rawValue)",
        ]
        var words = "Delivery \(row.deliveryID) recurs \(parts.compactMap(\.self).joined(separator: ", "))."
        words += "\nIt is \(row.state.rawValue)\(row.reason.isEmpty ? "" : ": \(row.reason)")."
        if let run = row.waitsFor { words += "\nThe run that is due waits for run \(run) to end." }
        return words
    }

    private static func table(_ runs: [RecurrenceRunRow]) -> Table {
        var table = Table(["planned_at", "noted_at", "outcome", "run_id", "run_state", "target", "reason"])
        for run in runs {
            table.add([
                .text(run.plannedAt.internetText), .text(run.notedAt.internetText), .text(run.outcome.rawValue),
                Cell(run.runID), Cell(run.runState?.rawValue), Cell(run.target), .text(run.reason),
            ])
        }
        return table
    }

    private static func cell(_ row: RecurrenceRow, _ next: [DatabaseTime], _ table: Table) -> Cell {
        let rule = row.rule
        func numbers(_ elements: [Int32]?) -> Cell { .list((elements ?? []).map { Cell($0) }) }
        func texts(_ elements: [String]?) -> Cell { .list((elements ?? []).map { .text($0) }) }
        return .object([
            ("id", .integer(row.deliveryID)), ("state", .text(row.state.rawValue)), ("reason", .text(row.reason)),
            ("unit", .text(rule.unit.rawValue)), ("every", Cell(rule.every)), ("times", texts(rule.times)),
            ("time_zone", .text(rule.timeZone)), ("weekdays", numbers(rule.weekdays)),
            ("month_days", numbers(rule.monthDays)), ("starts_on", Cell(rule.startsOn)),
            ("ends_on", Cell(rule.endsOn)), ("except_dates", texts(rule.exceptDates)),
            ("missed", .text(rule.missed.rawValue)), ("waits_for", Cell(row.waitsFor)),
            ("next_runs", texts(next.map(\.internetText))), ("runs", table.cell),
        ])
    }
}
