import Administration
import ArgumentParser
import Foundation
import PushCore
import Store

/// `pushmta delivery approve ID`.
struct DeliveryApproveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve an analysed or scheduled delivery that others made.",
        discussion: """
            It shows the delivery, asks at a terminal, and approves the version that it has shown, or the one of \
            --expected: if the delivery has changed meanwhile, nothing is approved. Any later change of content, target, \
            settings or start ends the approval. Who made or changed the delivery cannot approve it. `pushmta approval \
            list` shows what waits, --withdraw ends an approval.
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

    @Option(help: "Approve only this version, as `pushmta approval list` shows it, and do not ask.")
    var expected: String?

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "End the approval instead.")
    var withdraw = false

    func validate() throws {
        if withdraw, moment != nil { throw ValidationError("--at has no meaning with --withdraw.") }
        if withdraw, expected != nil { throw ValidationError("--expected has no meaning with --withdraw.") }
        if let moment, ZonedTime(moment) == nil { throw ValidationError("--at \(ZonedTime.words).") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        var version = expected
        if !withdraw, version == nil { version = try await shownVersion(loaded) }
        let seen = version
        let (delivery, approval) = try await StoreSession.run(loaded.values) { store in
            if withdraw {
                try await store.withdrawApproval(ofDelivery: id, reason: comment)
            } else {
                try await store.approveDelivery(id, comment: comment, startAt: moment, expected: seen)
            }
            return (try await store.deliveryProgress(id), try await store.approval(ofDelivery: id))
        }
        let messages = approval.messages ?? 0
        let start = delivery.startAt.map { $0 <= delivery.now ? "It starts now." : "It starts at \($0.internetText)." }
        let next =
            approval.startsApproved
            ? "It starts as soon as its messages are counted."
            : start ?? "`pushmta delivery start \(id)` starts it."
        StandardOutput.line(
            withdraw
                ? "The approval of delivery \(id) is withdrawn."
                : "Delivery \(id) is approved, with \(messages) messages. \(next)",
            [("id", .integer(id)), ("target", .integer(messages))]
        )
    }

    /// Shows what is approved, and asks at a terminal whether it should be. Returns the version that was shown.
    private func shownVersion(_ loaded: LoadedSettings) async throws -> String {
        let (delivery, approval) = try await StoreSession.run(loaded.values) { store in
            (try await store.deliveryProgress(id), try await store.approval(ofDelivery: id))
        }
        let size = approval.messages.map { "\($0) messages" } ?? "not counted"
        let start = delivery.startAt.map { "starts at \($0.internetText)" } ?? "no start yet"
        let makers = approval.makers.joined(separator: ", ")
        StandardError.write(
            "Delivery \(id), \"\(delivery.label)\": \(size), \(start), made by \(makers), version \(approval.version).\n"
        )
        guard !yes, isatty(STDIN_FILENO) == 1 else { return approval.version }
        StandardError.write("Approve it? Write yes: ")
        guard readLine()?.trimmingCharacters(in: .whitespaces) == "yes" else {
            throw CommandFailure(.negative, "Delivery \(id) was not approved.")
        }
        return approval.version
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
