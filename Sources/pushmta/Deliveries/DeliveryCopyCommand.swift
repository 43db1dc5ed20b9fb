import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta delivery copy ID`.
struct DeliveryCopyCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Create a delivery with the content, target, settings and rate of another one; prints its id.",
        discussion: """
            The original may be in any state. Its explicit targets and exclusions are copied as far as they are still kept.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Option(help: "The name of the copy (default: that of the original).")
    var label: String?

    func validate() throws {
        guard let label else { return }
        guard !label.isEmpty else { throw ValidationError("--label is empty: \(NameRule.labelWords).") }
        if let problem = NameRule.problem(label: label) {
            throw ValidationError("--label \(problem): \(NameRule.labelWords).")
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let copy = try await StoreSession.run(loaded.values) { try await $0.copyDelivery(id, label: label) }
        StandardOutput.line(String(copy), [("id", .integer(copy))])
    }
}
