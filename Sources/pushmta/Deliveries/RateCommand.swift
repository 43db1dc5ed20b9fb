import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta rate`: how many messages a second may leave, on all hosts together.
struct RateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rate",
        abstract: "Show and set how many messages a second may leave, on all hosts together.",
        subcommands: [RateListCommand.self, RateSetCommand.self]
    )
}

/// A rate on the command line.
enum RateArgument: ExpressibleByArgument, Hashable {
    /// No limit, or the usual one.
    case none
    case unlimited
    case messagesPerSecond(Double)

    init?(argument: String) {
        switch argument {
        case "none", "default": self = .none
        case "unlimited": self = .unlimited
        default:
            guard let rate = Double(argument), DeliveryLimits.rates.contains(rate) else { return nil }
            self = .messagesPerSecond(rate)
        }
    }

    /// What the database takes; nil for no limit.
    var value: Double? {
        switch self {
        case .none: nil
        case .unlimited: .infinity
        case .messagesPerSecond(let rate): rate
        }
    }
}

struct RateListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the limits, and what they allow now."
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
    /// What has a rate besides a delivery.
    enum Scope: String, ExpressibleByArgument, CaseIterable {
        case application, account, project
    }

    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Limit an application, an external account or a project of FCM.",
        discussion: """
            The rate holds for all hosts together and is felt within half a second. A project is named by project_id of its service \
            account, and has 10,000 messages a second unless another rate is set: set what Google has given you. `pushmta delivery rate` \
            limits a delivery.
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
            "Messages a second, from 0.001 to 1000000; none, or default, for no limit of its own; unlimited for a project without any."
    )
    var rate: RateArgument

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) {
            try await $0.setRate(scope.rawValue, name, messagesPerSecond: rate.value)
        }
        StandardOutput.line("The rate of \(scope.rawValue) \(name) is set. `pushmta rate list` shows all.")
    }
}

/// `pushmta delivery rate ID RATE`.
struct DeliveryRateCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "rate",
        abstract: "Limit how many messages of a delivery leave a second, also while it is sent."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Argument(help: "Messages a second on all hosts together, from 0.001 to 1000000; none for no limit.")
    var rate: RateArgument

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.setDeliveryRate(id, messagesPerSecond: rate.value) }
        StandardOutput.line(
            rate.value.flatMap { $0.isFinite ? "Delivery \(id) goes at \($0) messages a second at most." : nil }
                ?? "Delivery \(id) goes without a limit of its own."
        )
    }
}

/// `pushmta delivery weight ID WEIGHT`.
struct DeliveryWeightCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "weight",
        abstract: "Give a delivery more or fewer shares of what leaves with its priority."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Argument(help: "From 1, which all have at first, to 10.")
    var weight: Int

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.setDeliveryWeight(id, weight) }
        StandardOutput.line("Delivery \(id) has weight \(weight) among those of its priority.")
    }
}
