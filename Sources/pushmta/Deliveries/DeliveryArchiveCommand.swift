import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta delivery archive ID`.
struct DeliveryArchiveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive",
        abstract: "Hide a delivery that has ended from lists.",
        discussion: """
            Nothing else changes: its page, its statistics and its retention stay as they are. With --undo, lists show it \
            again.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Flag(help: "Show it in lists again.")
    var undo = false

    func execute(_ loaded: LoadedSettings) async throws {
        let isChanged = try await StoreSession.run(loaded.values) { try await $0.archiveDelivery(id, !undo) }
        let words = undo ? "is not archived" : "is archived"
        StandardOutput.line(
            isChanged ? "Delivery \(id) \(words)." : "Delivery \(id) \(words) already.",
            [("id", .integer(id))]
        )
    }
}
