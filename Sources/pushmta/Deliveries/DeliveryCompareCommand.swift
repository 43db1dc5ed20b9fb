import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta delivery compare ID ID`.
struct DeliveryCompareCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Show two deliveries side by side.",
        discussion: """
            Shares are in percent: sent and failed of the target, received and clicked of the sent messages. low and high \
            are the ends of the 95 percent interval of the difference. The two went to different people at different \
            times: an experiment shows what comes from the content.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The first delivery's id.")
    var first: Int64

    @Argument(help: "The second delivery's id.")
    var second: Int64

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.compareDeliveries(first, second) }
        var table = Table([
            "measure", "first", "of_first", "first_percent", "second", "of_second", "second_percent", "difference",
            "low",
            "high", "clear",
        ])
        for row in rows {
            table.add([
                .text(row.measure.rawValue), .integer(row.first.count), .integer(row.first.whole),
                Self.percent(row.first.rate), .integer(row.second.count), .integer(row.second.whole),
                Self.percent(row.second.rate), Self.percent(row.difference), Self.percent(row.low),
                Self.percent(row.high), .flag(row.isClear),
            ])
        }
        table.show(json: json)
    }

    private static func percent(_ share: Double?) -> Cell { share.map { .number($0 * 100) } ?? .none }
}
