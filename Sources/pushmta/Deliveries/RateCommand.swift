import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta rate`: limits of messages per second, on all hosts together.
struct RateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rate",
        abstract: "Show and set the maximum number of messages per second, on all hosts together.",
        subcommands: [RateListCommand.self, RateSetCommand.self]
    )
}

struct RateListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the rate limits, and what they allow now."
    )

    @OptionGroup var global: GlobalOptions

    @OptionGroup var limit: RowLimit

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.rateLimitRows(limit: limit.rows) }
        var table = Table(["scope", "name", "messages_per_second", "current_rate", "granted", "cut"])
        for row in rows {
            let cut = row.secondsSinceCut.map { "\(Int($0)) s ago: \(row.cutReason)" }
            table.add([
                .text(row.scope), .text(row.name), Self.cell(row.messagesPerSecond), Self.cell(row.currentRate),
                .integer(row.granted), Cell(cut),
            ])
        }
        table.show(json: json)
    }

    private static func cell(_ rate: Double) -> Cell { rate.isFinite ? .number(rate) : .text("unlimited") }
}

/// `pushmta rate set SCOPE NAME RATE`.
struct RateSetCommand: SentenceCommand {
    /// What can have a rate, besides a delivery.
    enum Scope: String, ExpressibleByArgument, CaseIterable {
        case application, account, project
    }

    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Limit an application, an external account or an FCM project.",
        discussion: """
            The rate applies to all hosts together, and takes effect within half a second. A project is named by the \
            project_id of its service account. It has 10,000 messages a second unless another rate is set: set your \
            quota at Google. `pushmta delivery rate` limits a delivery.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "application, account or project.")
    var scope: Scope

    @Argument(help: "Its name.")
    var name: String

    @Argument(
        help:
            "Messages per second, \(DeliverySetting.rate.expectation); none or default for no limit of its own; unlimited for a project without any limit."
    )
    var rate: RateArgument

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) {
            try await $0.setRate(scope.rawValue, name, messagesPerSecond: rate.value)
        }
        StandardOutput.line("The rate of \(scope.rawValue) \(name) was set. `pushmta rate list` shows all rates.")
    }
}

/// `pushmta delivery weight ID WEIGHT`.
struct DeliveryWeightCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "weight",
        abstract: "Set a delivery's share among those of the same priority."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Argument(help: "Its weight, \(DeliverySetting.weight.expectation) (default: \(DeliverySetting.defaultWeight)).")
    var weight: Int

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.setDeliveryWeight(id, weight) }
        StandardOutput.line("Delivery \(id) has weight \(weight) among the deliveries of its priority.")
    }
}
