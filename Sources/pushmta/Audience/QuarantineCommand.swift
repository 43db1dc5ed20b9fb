import Administration
import ArgumentParser
import PushCore
import Store

struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "What gateways reported about push tokens: list it, and undo it if it was a mistake.",
        subcommands: [
            QuarantineListCommand.self, QuarantineUndoCommand.self, QuarantineDoubtedCommand.self,
            QuarantineLiftCommand.self,
        ]
    )
}

struct QuarantineListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what gateways reported about tokens, by delivery and reason, newest deliveries first.",
        discussion: """
            Effects. invalid: the token is dead. canonical: the gateway wants another token instead. soft_error: a \
            message failed for a reason that may pass; several of these, days apart, put the subscription into \
            quarantine. success: a message got through after soft errors.

            States. pending: about to be applied. held: kept back while the application's circuit is open, because too \
            many tokens were refused at once. doubted: the gateway called far more tokens dead at once than the \
            application has ever lost; `pushmta quarantine doubted` decides about them. applied: the subscription was \
            changed. undone: reverted. outdated: the device has registered since, or the same report came too soon \
            after an earlier one to count again.
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
            StandardOutput.line("No gateway has reported anything about a token.")
            return
        }
        table.show(json: json)
    }
}

/// `pushmta quarantine undo --delivery ID`.
struct QuarantineUndoCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Undo what a delivery's responses did to push tokens.",
        discussion: """
            For a delivery that was sent with the wrong environment, key or topic, so that gateways called good tokens \
            bad. Effects on subscriptions are undone, and pending ones are dropped: dead tokens are valid again, \
            replaced ones are restored, and soft errors do not count. A subscription whose device has registered since \
            is not changed. A token that is really dead is reported again by the next message to it.
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
                ? "Delivery \(delivery) has no token events to undo. `pushmta quarantine list` shows which deliveries have some."
                : "Token events of delivery \(delivery) undone: \(count)."
        )
    }
}

/// `pushmta quarantine doubted APPLICATION --undo | --confirm`.
struct QuarantineDoubtedCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "doubted",
        abstract: "Decide whether an application's doubted tokens are dead.",
        discussion: """
            When a gateway calls far more tokens dead at once than the application has ever lost, the messages fail, \
            but the tokens are kept. --undo: the gateway or the credential was wrong, and the reports are void. \
            --confirm: the tokens are dead, except those whose devices have registered or received a message since. \
            Without a decision, a token is dead once the gateway reports it again at least six hours later; the others \
            are decided after mta.quarantine.doubtDays, according to mta.quarantine.believesDoubted.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The application's name.")
    var application: String

    @Flag(help: "The gateway was wrong: the tokens are valid.")
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
                ? "No token of \(application) is in doubt."
                : "Token refusals of \(application) \(confirm ? "confirmed" : "undone"): \(count)."
        )
    }
}

/// `pushmta quarantine lift SUBSCRIPTION`.
struct QuarantineLiftCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "lift",
        abstract: "Take one subscription out of quarantine.",
        discussion: """
            It gets messages again, and earlier reports about its token no longer count. A token that is really dead \
            is reported again by the next message to it. To revert everything that a delivery did, use `pushmta \
            quarantine undo`.
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
