import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta delivery rate ID RATE`.
struct DeliveryRateCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "rate",
        abstract: "Limit the messages per second of a delivery, also while it is being sent."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Argument(
        help: "Messages per second on all hosts together, \(DeliverySetting.rate.expectation); none for no limit."
    )
    var rate: RateArgument

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.setDeliveryRate(id, messagesPerSecond: rate.value) }
        StandardOutput.line(
            rate.value.flatMap { $0.isFinite ? "Delivery \(id) sends at most \($0) messages a second." : nil }
                ?? "Delivery \(id) has no limit of its own."
        )
    }
}
