import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta delivery approve ID`.
struct DeliveryApproveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve an analysed or scheduled delivery that others made.",
        discussion: """
            It holds for the content, target, settings, start and counted size of now; any change ends it. Who made or \
            changed the delivery cannot approve it. `pushmta approval list` shows what waits, --withdraw ends an approval.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Option(help: "What others should know about the decision.")
    var comment = ""

    @Option(
        name: .customLong("at"),
        help: "The start for which it holds, a time with its zone (default: the delivery's, or the first one)."
    )
    var moment: String?

    @Flag(help: "End the approval instead.")
    var withdraw = false

    func validate() throws {
        if withdraw, moment != nil { throw ValidationError("--at has no meaning with --withdraw.") }
        if let moment, ZonedTime(moment) == nil { throw ValidationError("--at \(ZonedTime.words).") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let approval = try await StoreSession.run(loaded.values) { store in
            if withdraw {
                try await store.withdrawApproval(ofDelivery: id, reason: comment)
            } else {
                try await store.approveDelivery(id, comment: comment, startAt: moment)
            }
            return try await store.approval(ofDelivery: id)
        }
        let messages = approval.messages ?? 0
        let next =
            approval.startsApproved
            ? "It starts now."
            : approval.startsAt.map { "It starts at \($0.internetText), or now if that is over." }
                ?? "`pushmta delivery start \(id)` starts it."
        StandardOutput.line(
            withdraw
                ? "The approval of delivery \(id) is withdrawn."
                : "Delivery \(id) is approved, with \(messages) messages. \(next)",
            [("id", .integer(id)), ("target", .integer(messages))]
        )
    }
}

/// `pushmta delivery reject ID`.
struct DeliveryRejectCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "reject",
        abstract: "Return an analysed or scheduled delivery to its author."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Option(help: "What its author should change.")
    var reason: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.rejectDelivery(id, reason: reason) }
        StandardOutput.line("Delivery \(id) is editing again.", [("id", .integer(id))])
    }
}
