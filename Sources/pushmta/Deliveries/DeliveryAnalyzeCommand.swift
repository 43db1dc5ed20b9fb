import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta delivery analyze ID`: prepares a delivery without sending it, and shows its numbers.
struct DeliveryAnalyzeCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "analyze",
        abstract: "Prepare a delivery without sending it, and show its numbers.",
        discussion: """
            A supervisor makes the messages, holds them, and renders a sample. `pushmta delivery start` then sends them \
            at once. Exit status 1 if the delivery cannot be sent as it is. Ctrl-C ends the wait, not the analysis.
            """
    )

    /// The interval between two looks at the delivery.
    private static let interval = Duration.milliseconds(200)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Flag(help: "Show the last analysis instead of making a new one.")
    var last = false

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (analysis, counts, exclusions, problems) = try await StoreSession.run(loaded.values) { store in
            if !last {
                try await store.analyzeDelivery(id)
                while try await store.deliveryProgress(id).state == .analysing {
                    try await Task.sleep(for: Self.interval)
                }
            }
            return (
                try await store.analysis(ofDelivery: id), try await store.counts(ofDelivery: id),
                try await store.exclusionCounts(delivery: id), try await store.problems(ofDelivery: id)
            )
        }
        let report = AnalysisReport(
            id: id,
            analysis: analysis,
            counts: counts,
            exclusions: exclusions,
            problems: problems
        )
        StandardOutput.line(json ? report.cell.json : report.text)
        guard problems.isEmpty else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
    }
}

/// The analysis of a delivery, for people or programs.
struct AnalysisReport {
    let id: Int64
    let analysis: DeliveryAnalysisRow
    let counts: [DeliveryCountRow]
    let exclusions: [OutcomeCount]
    let problems: [DeliveryProblem]

    var text: String {
        var lines = [
            "Delivery \(id) is \(analysis.state.rawValue): \(analysis.messages) messages, \(analysis.excluded) excluded."
        ]
        lines +=
            by("application", \.application) + by("locale", \.locale) + by("time zone", \.timeZone)
            + by("wave", \.waveName) + by("variant", \.variantName)
        lines += exclusions.map { "Excluded: \($0.count) (\($0.reason))" }
        if let smallest = analysis.smallest, let largest = analysis.largest {
            lines.append("Rendered \(analysis.rendered) messages: \(smallest) to \(largest) bytes.")
        }
        if analysis.refused > 0 { lines.append("\(analysis.refused) of them would not be sent.") }
        for sizes in analysis.sizesByVariant {
            guard let variant = sizes.variant, let smallest = sizes.smallest, let largest = sizes.largest else {
                continue
            }
            lines.append("Variant \(variant): \(smallest) to \(largest) bytes, \(sizes.refused) would not be sent.")
        }
        if let seconds = analysis.seconds, let end = analysis.endsAt, let limit = analysis.limitedBy {
            let until = end.internetText.prefix { $0 != "." }
            lines.append("Sending takes at least \(Int64(seconds.rounded(.up))) s, until \(until)Z (\(limit)).")
        }
        if !analysis.remadeBecause.isEmpty { lines.append("It was made again: \(analysis.remadeBecause).") }
        lines += problems.map { "Problem (\($0.subject)\($0.pointer)): \($0.problem); \($0.remedy)" }
        return lines.joined(separator: "\n")
    }

    /// The numbers of one kind, the largest first.
    private func by(_ name: String, _ key: KeyPath<DeliveryCountRow, String>) -> [String] {
        let sums = counts.sums(by: key)
        guard sums.count > 1 || name == "application" else { return [] }
        return sums.prefix(10).map { "By \(name): \($0.messages) \($0.name.isEmpty ? "(none)" : $0.name)" }
    }

    var cell: Cell {
        .object([
            ("id", .integer(id)), ("state", .text(analysis.state.rawValue)),
            ("messages", .integer(analysis.messages)), ("excluded", .integer(analysis.excluded)),
            ("rendered", .integer(analysis.rendered)), ("smallest", Cell(analysis.smallest)),
            ("largest", Cell(analysis.largest)), ("refused", .integer(analysis.refused)),
            ("seconds", analysis.seconds.map { .number($0) } ?? .none),
            ("ends_at", Cell(analysis.endsAt?.internetText)), ("limited_by", Cell(analysis.limitedBy)),
            ("bound", Cell(analysis.bound?.kind.rawValue)),
            ("remade_because", .text(analysis.remadeBecause)), ("variants", .text(analysis.variants)),
            ("samples", .text(analysis.samples)),
            ("counts", .list(counts.map(Self.cell))),
            (
                "exclusions",
                .list(exclusions.map { .object([("reason", .text($0.reason)), ("messages", .integer($0.count))]) })
            ),
            ("problems", .list(problems.map(Self.cell))),
        ])
    }

    private static func cell(_ count: DeliveryCountRow) -> Cell {
        .object([
            ("application", .text(count.application)), ("locale", .text(count.locale)),
            ("time_zone", .text(count.timeZone)), ("wave", .integer(Int64(count.wave))),
            ("variant", .text(count.variantName)), ("messages", .integer(count.messages)),
        ])
    }

    private static func cell(_ problem: DeliveryProblem) -> Cell {
        .object([
            ("subject", .text(problem.subject)), ("pointer", .text(problem.pointer)),
            ("problem", .text(problem.problem)), ("remedy", .text(problem.remedy)),
        ])
    }
}
