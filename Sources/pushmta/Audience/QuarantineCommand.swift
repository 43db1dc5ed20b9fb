import Administration
import ArgumentParser
import PushCore
import Store

struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "What gateways said about push tokens: see it, and take it back where it was a mistake.",
        subcommands: [
            QuarantineListCommand.self, QuarantineUndoCommand.self, QuarantineDoubtedCommand.self,
            QuarantineLiftCommand.self,
        ]
    )
}

struct QuarantineListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what gateways said about tokens, by delivery and reason, newest deliveries first.",
        discussion: """
            invalid: the token is dead. canonical: the gateway wants another token instead. soft_error: a message failed for a reason \
            that may pass; several of them, days apart, put the subscription into quarantine. success: a message got through after such.

            pending: applied in a moment. held: kept back while the application's circuit is open, because too many tokens were \
            refused at once. doubted: the gateway called far more tokens dead at once than the application has ever lost; `pushmta \
            quarantine doubted` decides about them. applied: done to the subscription. undone: taken back. outdated: the device has registered since, or the \
            same was said too soon before to count again.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(help: "Only those of this delivery.")
    var delivery: Int64?

    @OptionGroup var limit: RowLimit

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { store in
            try await store.tokenEventCounts(delivery: delivery, limit: limit.rows)
        }
        var table = Table([
            "delivery", "application", "kind", "reason", "pending", "held", "doubted", "applied", "undone", "outdated",
        ])
        for row in rows {
            table.add([
                Cell(row.deliveryID), .text(row.application), .text(row.kind.rawValue), .text(row.reason),
                .integer(row.pending),
                .integer(row.held), .integer(row.doubted), .integer(row.applied), .integer(row.undone),
                .integer(row.outdated),
            ])
        }
        guard json || !rows.isEmpty else {
            StandardOutput.line("No gateway has said anything about a token.")
            return
        }
        table.show(json: json)
    }
}

/// `pushmta quarantine undo --delivery ID`.
struct QuarantineUndoCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Take back what a delivery's answers did to push tokens.",
        discussion: """
            For a delivery that went out with the wrong environment, key or topic: its answers said that good tokens are bad. What \
            they did to subscriptions is taken back and what they were about to do is not done: dead tokens live again, replaced ones \
            come back, soft errors are not counted. A subscription whose device has registered since is left as it is. A token that is \
            really dead is reported again by the next message to it.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Option(help: "The delivery's id.")
    var delivery: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        let count = try await StoreSession.run(loaded.values) { try await $0.undoTokenEvents(delivery: delivery) }
        StandardOutput.line(
            count == 0
                ? "Delivery \(delivery) has no token events to undo. `pushmta quarantine list` shows which deliveries have."
                : "Token events of delivery \(delivery) undone: \(count)."
        )
    }
}

/// `pushmta quarantine doubted APPLICATION --undo | --confirm`.
struct QuarantineDoubtedCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "doubted",
        abstract: "Decide about an application's doubted tokens.",
        discussion: """
            When a gateway calls far more tokens dead at once than the application has ever lost, the messages fail and the \
            tokens stay as they are. --undo: the gateway, or the credential, was wrong, and the answers are void. --confirm: the tokens \
            are dead, except those whose devices have registered or got a message since. Without a decision a token is dead once the gateway \
            says so again at least six hours later; the rest are decided after mta.quarantine.doubtDays, as \
            mta.quarantine.believesDoubted says.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The application's name.")
    var application: String

    @Flag(help: "The gateway was wrong: the tokens live.")
    var undo = false

    @Flag(help: "The tokens are dead.")
    var confirm = false

    func validate() throws {
        if undo == confirm { throw ValidationError("Give either --undo or --confirm.") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let count = try await StoreSession.run(loaded.values) { store in
            try await store.resolveDoubtedTokens(application: application, confirmed: confirm)
        }
        StandardOutput.line(
            count == 0
                ? "No refusal of a token of \(application) is in doubt."
                : "Refusals of tokens of \(application) \(confirm ? "confirmed" : "undone"): \(count)."
        )
    }
}

/// `pushmta quarantine lift SUBSCRIPTION`.
struct QuarantineLiftCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "lift",
        abstract: "Take one subscription out of quarantine.",
        discussion: """
            It gets messages again, and what gateways have said of its token so far counts no more. A token that is really dead is \
            reported again by the next message to it. For all that one delivery did: `pushmta quarantine undo`.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The subscription's id.")
    var subscription: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.liftQuarantine(subscription) }
        StandardOutput.line("Subscription \(subscription) is out of quarantine.")
    }
}
