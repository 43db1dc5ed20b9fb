import Administration
import ArgumentParser
import Foundation
import PushCore
import Store
import Supervisor

struct DeliveryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delivery",
        abstract: "Create, change, approve, inspect, start, pause, stop, recall and archive deliveries.",
        subcommands: [
            DeliveryCreateCommand.self, DeliveryUpdateCommand.self, DeliveryCopyCommand.self,
            DeliveryCountCommand.self, DeliveryAnalyzeCommand.self,
            DeliveryApproveCommand.self, DeliveryRejectCommand.self,
            DeliveryStartCommand.self, DeliveryRescheduleCommand.self, DeliveryRecurCommand.self,
            DeliveryExperimentCommand.self,
            DeliveryStatusCommand.self,
            DeliveryWatchCommand.self, DeliveryListCommand.self, DeliveryPauseCommand.self,
            DeliveryResumeCommand.self, DeliveryStopCommand.self, DeliveryRecallCommand.self,
            DeliveryArchiveCommand.self, DeliveryCompareCommand.self,
            DeliveryRateCommand.self,
            DeliveryFollowCommand.self, DeliveryWeightCommand.self, DeliveryPlanCommand.self,
            DeliveryPreviewCommand.self,
            DeliveryProofCommand.self, DeliveryTargetCommand.self,
        ]
    )
}

struct DeliveryListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the newest deliveries.",
        discussion: "Archived deliveries are listed only with --archived."
    )

    @OptionGroup var global: GlobalOptions

    @OptionGroup var limit: RowLimit

    @Flag(help: "List archived deliveries, too.")
    var archived = false

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) {
            try await $0.deliveries(limit: limit.rows, withArchived: archived)
        }
        DeliveryTable.table(rows).show(json: json)
    }
}

/// `pushmta delivery status ID`: its counts, and its outcomes by reason.
struct DeliveryStatusCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show a delivery's counts and its outcomes by reason."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (progress, outcomes, exclusions, target, notices, days, refusals) = try await StoreSession.run(
            loaded.values
        ) {
            store in
            (
                try await store.deliveryProgress(id), try await store.outcomeCounts(delivery: id),
                try await store.exclusionCounts(delivery: id), try await store.targeting(ofDelivery: id),
                try await store.alarms(delivery: id),
                try await store.days(ofDelivery: id), try await store.refusals(ofDeliveryAndDays: id)
            )
        }
        let reasons = DeliveryReport.outcomes(outcomes, exclusions)
        guard json else {
            DeliveryTable.table([progress]).show(json: false)
            if !reasons.rows.isEmpty { StandardOutput.line("\n" + reasons.text) }
            for refusal in refusals { StandardOutput.line("\nThe gateway says (\(refusal.reason)): \(refusal.words)") }
            for alarm in notices { StandardOutput.line("\nAlarm: \(alarm.sentence)") }
            if let words = Self.words(target, progress) { StandardOutput.line("\n" + words) }
            if !days.isEmpty { StandardOutput.line("\n" + DeliveryTable.table(days).text) }
            return
        }
        let counts = Array(zip(DeliveryTable.columns, DeliveryTable.row(progress)))
        let list = Cell.list(reasons.rows.map { .object(Array(zip(reasons.columns, $0))) })
        let lists = Cell.list(target.excludedLists.map { .text($0) })
        let alarms = Cell.list(notices.map { .text($0.sentence) })
        let chosen: [(String, Cell)] = [
            ("alarms", alarms), ("filter", Cell(target.filter)),
            ("audience", Cell(target.audience.isEmpty ? nil : target.audience)), ("exclusion_lists", lists),
            (
                "refusals",
                .list(refusals.map { .object([("reason", .text($0.reason)), ("words", .text($0.words))]) })
            ), ("category", Cell(progress.category)), ("one_time_code", .flag(progress.isOneTimeCode)),
            ("seeds", .integer(progress.seeds)),
            ("parent", Cell(progress.parentID)),
            ("days", DeliveryTable.table(days).cell),
        ]
        StandardOutput.line(Cell.object(counts + [("outcomes", list)] + chosen).json)
    }

    /// The target of the delivery, in words; nil for all subscribers.
    private static func words(_ target: DeliveryTargeting, _ progress: DeliveryProgress) -> String? {
        var words: [String] = []
        if let whole = progress.parentID {
            words.append("It is one day of the continuous delivery \(whole).")
        } else if progress.kind == .continuous {
            words.append("It is continuous: its messages are counted with their days.")
        }
        if let category = progress.category { words.append("Category: \(category)") }
        if progress.isOneTimeCode { words.append("It sends one-time codes, also to people who have opted out.") }
        if target.isExplicit, progress.kind == .batch { words.append("It goes to explicit targets.") }
        if let filter = target.filter {
            words.append("Filter: \(filter)" + (target.audience.isEmpty ? "" : ", from audience \(target.audience)"))
        }
        if target.hasRawSQL { words.append("A condition in SQL applies, too.") }
        if !target.excludedLists.isEmpty {
            words.append("Exclusion lists: \(target.excludedLists.joined(separator: ", "))")
        }
        if target.seeds?.isEmpty != true {
            let names = target.seeds?.joined(separator: ", ") ?? "all of its applications"
            words.append("Seed addresses: \(names)" + (progress.prepared ? "; \(progress.seeds) of its messages" : ""))
        }
        return words.isEmpty ? nil : words.joined(separator: "\n")
    }
}

/// `pushmta delivery start ID`.
struct DeliveryStartCommand: SentenceCommand {
    static let configuration = CommandConfiguration(commandName: "start", abstract: "Start a delivery.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            // Check first: a started delivery would fail later, where no one sees it. If the job cannot be read, the
            // start reports that.
            if let job = try? await store.job(id), let problem = PreparationCheck.problem(with: job) {
                throw CommandFailure(.data, "Delivery \(id) was not started: \(problem)")
            }
            try await store.startDelivery(id)
        }
        StandardOutput.line(
            "Delivery \(id) was started. `pushmta delivery watch \(id)` shows its progress.",
            [("id", .integer(id))]
        )
    }
}

/// `pushmta delivery pause ID`.
struct DeliveryPauseCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause a delivery: it sends nothing until it is resumed.",
        discussion: """
            The pause takes effect within a second; messages on the wire are resolved and recorded. The validity keeps \
            running. Ctrl-C ends the wait, not the pause.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Flag(help: "Return only when none of its messages is on the wire.")
    var wait = false

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            try await store.pauseDelivery(id)
            let control = DeliveryControl(store: store, id: id)
            try await control.tell("Delivery \(id) is paused. `pushmta delivery resume \(id)` resumes it.")
            if wait { try await control.waitUntilQuiet(.paused) }
        }
    }
}

/// `pushmta delivery resume ID`.
struct DeliveryResumeCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume a paused delivery."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        let progress = try await StoreSession.run(loaded.values) { store in
            try await store.resumeDelivery(id)
            return try await store.deliveryProgress(id)
        }
        StandardOutput.line(
            "Delivery \(id) was resumed: it is \(progress.state.rawValue), with \(progress.pending) messages pending. "
                + "`pushmta delivery watch \(id)` shows its progress."
        )
    }
}

/// `pushmta delivery stop ID`.
struct DeliveryStopCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop a delivery permanently: messages that have not been sent never will be.",
        discussion: """
            The stop takes effect within a second; messages on the wire are resolved and recorded, all others are \
            canceled. Ctrl-C ends the wait, not the stop.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Flag(help: "Return only when none of its messages is on the wire.")
    var wait = false

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            try await store.stopDelivery(id)
            let control = DeliveryControl(store: store, id: id)
            try await control.tell("Delivery \(id) is stopped.")
            if wait { try await control.waitUntilQuiet(.stopped) }
        }
    }
}

/// `pushmta delivery proof ID`.
struct DeliveryProofCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "proof",
        abstract: "Send a proof of a delivery to seed addresses; prints the proof's id.",
        discussion: """
            The proof is a delivery of its own, with the current content, and is counted separately. The original \
            delivery need not be started. Without --to, the proof goes to all seed addresses of the delivery's \
            applications.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Option(help: "Seed addresses, and ids or push tokens of subscriptions, separated by commas.")
    var to: String?

    @Option(help: "A variant of the delivery's experiment, from 1 to 8.")
    var variant: VariantNumber?

    @Flag(help: "Return when it is over; exit status 1 if a message was not sent.")
    var wait = false

    func execute(_ loaded: LoadedSettings) async throws {
        let words = to.map { list in
            list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        if words?.isEmpty == true { throw CommandFailure(.usage, "--to names no one.") }
        let complete = try await StoreSession.run(loaded.values) { store in
            // Report problems here rather than in the proof's state a moment later.
            let content = try await store.deliveryForPreview(id, variant: variant?.number ?? 0).content
            _ = try ContentText(text: content).content()
            var addresses: ProofAddresses?
            if let words { addresses = try await store.proofAddresses(words) }
            let proof = try await store.createProof(of: id, variant: variant.map { Int32($0.number) }, to: addresses)
            StandardOutput.line(String(proof), [("id", .integer(proof))])
            guard wait else { return true }
            let progress = try await DeliveryWatch(store: store, id: proof).untilOver()
            let outcomes = try await store.outcomeCounts(delivery: proof)
            let reasons = DeliveryReport.outcomes(outcomes, try await store.exclusionCounts(delivery: proof))
            StandardError.write("Proof \(proof): \(progress.state.rawValue) \(progress.stateReason)\n\(reasons.text)\n")
            return progress.state == .finished && progress.sent == progress.target && progress.excluded == 0
        }
        guard complete else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
    }
}

/// The reports and the wait of the commands that hold a delivery back.
struct DeliveryControl: Sendable {
    /// The interval between two reads.
    private static let interval = Duration.milliseconds(100)

    /// The store that holds the counts.
    let store: Store
    let id: Int64

    /// Reports what happened, with the delivery's counts.
    func tell(_ what: String) async throws {
        StandardOutput.line("\(what) \(Self.words(try await store.deliveryProgress(id)))")
    }

    /// Waits until no child holds a part of the delivery: then none of its messages is on the wire, and all responses
    /// are stored.
    ///
    /// - Throws: `CommandFailure` if the delivery leaves the state because another user resumed or ended it; exit
    ///   status 130 if a signal ends the wait.
    func waitUntilQuiet(_ state: DeliveryState) async throws {
        let resolved = try await UntilSignal.run { try await quiet(state) }
        guard let resolved else {
            StandardError.write("\nThe wait was ended; delivery \(id) stays \(state.rawValue).\n")
            throw ExitCode(CommandFailure.interruptedStatus)
        }
        StandardOutput.line("Nothing of delivery \(id) is on the wire. \(Self.words(resolved))")
    }

    private func quiet(_ state: DeliveryState) async throws -> DeliveryProgress {
        var display = WaitDisplay()
        defer { display.finish() }
        while true {
            let progress = try await store.deliveryProgress(id)
            // A paused delivery whose last messages were on the wire ends with their responses.
            guard progress.state == state || progress.state.isFinal else {
                throw CommandFailure(
                    .negative,
                    "Delivery \(id) is \(progress.state.rawValue) again: another user changed it while this command waited."
                )
            }
            guard try await isHeld(progress) else { return progress }
            display.show("Waiting for delivery \(id): \(Self.words(progress))")
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Whether a child holds a part of the delivery, or of one of its days.
    private func isHeld(_ progress: DeliveryProgress) async throws -> Bool {
        if progress.partsClaimed > 0 { return true }
        guard progress.kind == .continuous else { return false }
        for day in try await store.days(ofDelivery: id) where day.state != .finished {
            if try await store.deliveryProgress(day.id).partsClaimed > 0 { return true }
        }
        return false
    }

    /// The relevant counts.
    private static func words(_ progress: DeliveryProgress) -> String {
        var words = "Sent \(progress.sent), pending \(progress.pending)"
        if progress.canceled > 0 { words += ", canceled \(progress.canceled)" }
        words += " of \(progress.target)"
        words += progress.partsClaimed > 0 ? "; parts being resolved: \(progress.partsClaimed)." : "."
        return words
    }
}

/// The outcomes of a delivery's messages, by reason.
enum DeliveryReport {
    /// The outcomes of messages and, as `excluded`, the people left out by the preparation.
    static func outcomes(_ outcomes: [OutcomeCount], _ exclusions: [OutcomeCount]) -> Table {
        var table = Table(["outcome", "reason", "messages", "failure_type", "failure_reason"])
        for count in outcomes + exclusions {
            table.add([
                .text(count.status?.name ?? "excluded"), .text(count.reason), .integer(count.count),
                Cell(count.failure?.type.name), Cell(count.failure?.reason.name),
            ])
        }
        return table
    }
}
