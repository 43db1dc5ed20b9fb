import Administration
import ArgumentParser
import Store

/// `pushmta delivery count ID`: how many messages a delivery would make now.
struct DeliveryCountCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Count how many messages a delivery would make now.",
        discussion: """
            By application, within ten seconds, without seed addresses; frequency caps are not asked. A large target is \
            estimated from a sample: 19 of 20 times, the number of messages is off by at most the error. `pushmta delivery \
            analyze` makes the messages, and counts every target.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let counts = try await StoreSession.run(loaded.values) { try await $0.countTarget(ofDelivery: id) }
        var table = Table(["application", "messages", "excluded", "estimate", "error"])
        for count in counts {
            table.add([
                .text(count.application), .integer(count.messages), .integer(count.excluded), .flag(count.estimate),
                Cell(count.error),
            ])
        }
        table.show(json: json)
    }
}
