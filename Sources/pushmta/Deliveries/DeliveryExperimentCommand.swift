import Administration
import ArgumentParser
import PushCore
import Store

extension ExperimentRule.Metric: ExpressibleByArgument {}
extension ExperimentRule.Undecided: ExpressibleByArgument {}

/// `pushmta delivery experiment`: variants of a delivery, and which of them the rest gets.
struct DeliveryExperimentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "experiment",
        abstract: "Try variants of a delivery, and send the best one to the rest.",
        subcommands: [
            DeliveryExperimentSetCommand.self, DeliveryExperimentShowCommand.self,
            DeliveryExperimentWinnerCommand.self, DeliveryExperimentRemoveCommand.self,
        ],
        defaultSubcommand: DeliveryExperimentSetCommand.self
    )
}

/// `pushmta delivery experiment set ID`.
struct DeliveryExperimentSetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Make a delivery an experiment, in place of what it was before.",
        discussion: """
            A person stays in one variant, on all devices. What the variants leave of the people is the rest, which gets \
            the winner. Nothing is sent before `pushmta delivery start`.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Option(
        name: .customLong("variant"),
        help: ArgumentHelp(
            "A variant: its share of the people, as in 10%, after = the file of its content (by default the delivery's own), before : its label. Given 2 to 8 times.",
            valueName: "label:percent%=file"
        )
    )
    var variants: [VariantArgument] = []

    @Option(help: "What the winner has most of: clicks, receipts or conversions.")
    var metric: ExperimentRule.Metric = .clicks

    @Option(help: "Seconds after the start at which the winner is decided at the latest; needed if there is a rest.")
    var decideAfter: Int64?

    @Flag(inversion: .prefixedNo, help: "Decide earlier if a variant is surely better.")
    var early = true

    @Option(help: "How sure a winner is, in percent; by default 95.")
    var certainty: DecimalArgument?

    @Option(help: "The least number of messages sent to each variant.")
    var leastSample: Int64 = 1_000

    @Option(help: "The percentage of the people who get nothing; by default 0.")
    var holdOut: DecimalArgument?

    @Option(
        help:
            "What the rest gets if no variant is surely better: the first one, or nothing until a person chooses (wait)."
    )
    var ifUndecided: ExperimentRule.Undecided = .first

    func validate() throws {
        guard ExperimentRule.variantCounts.contains(variants.count) else {
            throw ValidationError("Give 2 to 8 variants, such as --variant 10% --variant 10%=other.json.")
        }
        if let decideAfter, !ExperimentRule.decisionSeconds.contains(decideAfter) {
            throw ValidationError("--decide-after is a number of seconds, a year at most.")
        }
        guard ExperimentRule.samples.contains(leastSample) else {
            throw ValidationError("--least-sample is a number of messages, at least 1.")
        }
        if let certainty, !ExperimentRule.certainties.contains(certainty.number) {
            throw ValidationError("--certainty is a percentage from 50 to 99.99.")
        }
        if let holdOut, !ExperimentRule.holdOuts.contains(holdOut.number) {
            throw ValidationError("--hold-out is a percentage from 0 to 99.")
        }
    }

    private func rule() throws -> ExperimentRule {
        var rule = ExperimentRule(
            variants: try variants.map { variant in
                let text = try variant.file.map { try ContentText(file: $0) }
                _ = try text?.content()
                return ExperimentRule.Variant(label: variant.label, percent: variant.percent, content: text?.text)
            }
        )
        rule.metric = metric
        rule.decideAfterSeconds = decideAfter
        rule.isEarly = early
        if let certainty { rule.certaintyPercent = certainty.number }
        rule.leastSample = leastSample
        if let holdOut { rule.holdOutPercent = holdOut.number }
        rule.ifUndecided = ifUndecided
        return rule
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let rule = try self.rule()
        let rest = try await StoreSession.run(loaded.values) { store in
            try await store.setExperiment(id, rule)
            return try await store.experimentVariants(ofDelivery: id).first(where: \.isRest)
        }
        let words = rest.map { "\($0.percent) % are the rest, which gets the winner." } ?? "There is no rest."
        StandardOutput.line(
            "Delivery \(id) has \(rule.variants.count) variants. \(words) `pushmta delivery start \(id)` starts it.",
            [("id", .integer(id)), ("rest_percent", .number(rest?.percent ?? 0))]
        )
    }
}

/// `pushmta delivery experiment show ID`.
struct DeliveryExperimentShowCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the variants of a delivery, their results, and the conclusion."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (row, variants) = try await StoreSession.run(loaded.values) { store in
            (try await store.experiment(ofDelivery: id), try await store.experimentVariants(ofDelivery: id))
        }
        guard let row else {
            throw CommandFailure(
                .data,
                "Delivery \(id) is no experiment (pushmta delivery experiment set makes it one)"
            )
        }
        let table = Self.table(variants)
        guard !json else { return StandardOutput.line(Self.cell(row, table).json) }
        StandardOutput.line(Self.words(row))
        StandardOutput.line("\n" + table.text)
        for words in variants.compactMap(\.againstFirst) { StandardOutput.line(words) }
    }

    private static func words(_ row: ExperimentRow) -> String {
        let latest = row.decidesAt.map { ", and decided at \($0.internetText) at the latest" } ?? ""
        let state =
            switch row.state {
            case .waiting: "waits for its start"
            case .running: "is running\(latest)"
            case .decided: "has the winner \(row.winnerLabel ?? ""): \(row.decision)"
            case .undecided: "is undecided: \(row.decision)"
            }
        return "The experiment of delivery \(row.deliveryID), by \(row.metric.rawValue), \(state)."
    }

    private static func table(_ variants: [ExperimentVariantRow]) -> Table {
        var table = Table(["variant", "label", "percent", "messages", "sent", "received", "clicked", "converted"])
        for row in variants {
            table.add([
                row.isRest ? .none : Cell(Int32(row.variant)), .text(row.label), .number(row.percent),
                .integer(row.messages), .integer(row.sent), .integer(row.received), .integer(row.clicked),
                .integer(row.converted),
            ])
        }
        return table
    }

    private static func cell(_ row: ExperimentRow, _ table: Table) -> Cell {
        .object([
            ("id", .integer(row.deliveryID)), ("state", .text(row.state.rawValue)),
            ("metric", .text(row.metric.rawValue)), ("decide_after_seconds", Cell(row.decideAfterSeconds)),
            ("early", .flag(row.isEarly)), ("certainty_percent", .number(row.certaintyPercent)),
            ("least_sample", .integer(row.leastSample)), ("hold_out_percent", .number(row.holdOutPercent)),
            ("if_undecided", .text(row.ifUndecided.rawValue)), ("winner", Cell(row.winner.map { Int32($0) })),
            ("decides_at", Cell(row.decidesAt?.internetText)), ("decided_at", Cell(row.decidedAt?.internetText)),
            ("decision", .text(row.decision)), ("counted_at", Cell(row.countedAt?.internetText)),
            ("variants", table.cell),
        ])
    }
}

/// `pushmta delivery experiment winner ID VARIANT`.
struct DeliveryExperimentWinnerCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "winner",
        abstract: "End the experiment of a delivery: its rest gets this variant."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Argument(help: "The number of the variant, as `pushmta delivery experiment show` prints it.")
    var variant: Int32

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.chooseWinner(id, variant: variant) }
        StandardOutput.line(
            "The rest of delivery \(id) gets variant \(variant).",
            [("id", .integer(id)), ("winner", Cell(variant))]
        )
    }
}

/// `pushmta delivery experiment remove ID`.
struct DeliveryExperimentRemoveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Make an experiment an ordinary delivery."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.removeExperiment(id) }
        StandardOutput.line("Delivery \(id) has no variants.", [("id", .integer(id))])
    }
}
