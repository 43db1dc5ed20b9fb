import ArgumentParser
import PushCore
import Store

/// `pushmta quarantine list`.
struct QuarantineListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what gateways said about tokens, by delivery and reason, newest deliveries first.",
        discussion: """
            invalid: the token is dead. canonical: the gateway wants another token instead. soft_error: a message failed for a reason \
            that may pass; several of them, days apart, put the subscription into quarantine. success: a message got through after such.

            pending: applied in a moment. held: kept back while the application's circuit is open, because too many tokens were \
            refused at once. applied: done to the subscription. undone: taken back. outdated: the device has registered since, or a \
            soft error came too soon after another one to count.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(help: "Only those of this delivery.")
    var delivery: Int64?

    @OptionGroup var limit: RowLimit

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { store in
            try await store.tokenEventCounts(delivery: delivery, limit: limit.rows)
        }
        var table = Table([
            "delivery", "application", "kind", "reason", "pending", "held", "applied", "undone", "outdated",
        ])
        for row in rows {
            table.add([
                Cell(row.deliveryID), .text(row.application), .text(row.kind.rawValue), .text(row.reason),
                .integer(row.pending),
                .integer(row.held), .integer(row.applied), .integer(row.undone), .integer(row.outdated),
            ])
        }
        guard json || !rows.isEmpty else {
            StandardOutput.line("No gateway has said anything about a token.")
            return
        }
        table.show(json: json)
    }
}
