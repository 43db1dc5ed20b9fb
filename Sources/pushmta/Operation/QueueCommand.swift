import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta queue`: what waits, by application and age, and why.
struct QueueCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Show the waiting messages, by application and age, and why they wait.",
        discussion: """
            Ready messages are due and unclaimed; their columns show the time since they became due. Later ones are \
            due at a later time, claimed ones are with a child, and held ones belong to paused deliveries. For each \
            application, account and priority, the 1,000 oldest parts are counted, some 1,000,000 messages. If there \
            are more, the number is marked with ≥, at least. The command calls the function pushmta.queue; the rights \
            of pushmta_monitoring suffice.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.queue() }
        guard !json else { return QueueTable.table(rows).show(json: true) }
        StandardOutput.line(rows.isEmpty ? "Nothing waits." : QueueTable.fitted(rows).text(width: StatusText.width))
    }
}
