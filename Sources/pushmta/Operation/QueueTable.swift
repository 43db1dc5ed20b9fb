import Administration
import PushCore
import Store

/// The queue as tables, with the column names of the function `pushmta.queue`.
enum QueueTable {
    /// The ages, each with its column for programs and its title for people.
    private static let ages: [(age: QueueRow.Age, column: String, title: String)] = [
        (.underTenSeconds, "ready_10s", "< 10 s"), (.underOneMinute, "ready_1min", "< 1 min"),
        (.underTenMinutes, "ready_10min", "< 10 min"), (.underOneHour, "ready_1h", "< 1 h"),
        (.older, "ready_older", "older"),
    ]

    /// Every column, for programs.
    static func table(_ rows: [QueueRow]) -> Table {
        var table = Table(
            ["application", "account", "connector", "ready", "ready_at_least"] + ages.map(\.column)
                + ["oldest_seconds", "later", "claimed", "held", "held_at_least", "waiting_reason"]
        )
        for row in rows {
            table.add(
                [
                    .text(row.application), .text(row.account), .text(row.connector.rawValue), .integer(row.ready),
                    .flag(row.isReadyAtLeast),
                ] + ages.map { .integer(count(row, $0.age)) } + [
                    row.oldestSeconds.map { .number($0) } ?? .none, .integer(row.later), .integer(row.claimed),
                    .integer(row.held), .flag(row.isHeldAtLeast), .text(row.waitingReason),
                ]
            )
        }
        return table
    }

    /// The columns for people.
    static func fitted(_ rows: [QueueRow]) -> FittedTable {
        var table = FittedTable(
            [.text("application"), .text("account"), .number("ready"), .number("oldest")]
                + ages.map { .number($0.title) } + [.number("later"), .number("claimed"), .number("held")]
        )
        for row in rows {
            table.add(
                [
                    row.application, row.account, counted(row.ready, atLeast: row.isReadyAtLeast),
                    row.oldestSeconds.map(AgeWords.text) ?? "",
                ] + ages.map { CounterWords.cell(count(row, $0.age)) } + [
                    CounterWords.cell(row.later), CounterWords.cell(row.claimed),
                    counted(row.held, atLeast: row.isHeldAtLeast),
                ],
                notes: [row.waitingReason.isEmpty ? "" : "Waits: \(row.waitingReason)"]
            )
        }
        return table
    }

    /// A count for a table; one that may be too small is marked, and zero is "".
    static func counted(_ count: Int64, atLeast: Bool) -> String {
        atLeast ? "≥\(count)" : CounterWords.cell(count)
    }

    private static func count(_ row: QueueRow, _ age: QueueRow.Age) -> Int64 {
        row.readyByAge.indices.contains(age.rawValue) ? row.readyByAge[age.rawValue] : 0
    }
}
