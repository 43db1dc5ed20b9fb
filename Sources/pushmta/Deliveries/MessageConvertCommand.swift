import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta message convert ID`.
struct MessageConvertCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Record that the recipient of a message did what it was sent for.",
        discussion: "The first of a name counts for each message, and at most ten names."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Any id of the message, as for `pushmta message show`.")
    var id: String

    @Option(help: "What the person did.")
    var name = "conversion"

    @Option(help: "A number such as the amount of an order.")
    var value: DecimalArgument?

    @Option(help: "The delivery of the message, if the id is a number that messages of several may have.")
    var delivery: Int64?

    func execute(_ loaded: LoadedSettings) async throws {
        let counts = try await StoreSession.run(loaded.values) { store in
            try await store.recordConversion(message: id, name: name, value: value?.number, delivery: delivery)
        }
        StandardOutput.line(
            counts ? "The conversion counts." : "The conversion does not count: the message has it, or ten others.",
            [("counts", .flag(counts))]
        )
    }
}
