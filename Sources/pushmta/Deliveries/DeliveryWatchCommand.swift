import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta delivery watch ID`: a delivery's history and progress, live until it is over.
struct DeliveryWatchCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show a delivery live until it is over.",
        discussion: """
            Each line shows what a period added: every 5 s at first, and less often in a long delivery. A terminal \
            also shows the current counts below, with a line for each application. Exit status 1 if the delivery did \
            not finish.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        let finished = try await StoreSession.run(loaded.values) { store in
            var display = HistoryDisplay()
            let progress = try await DeliveryWatch(store: store, id: id, isQuiet: true).untilOver { progress in
                try await display.show(progress, at: .now) { try await store.applicationProgress(delivery: id) }
            }
            let outcomes = try await store.outcomeCounts(delivery: id)
            let reasons = DeliveryReport.outcomes(outcomes, try await store.exclusionCounts(delivery: id))
            StandardOutput.line(
                "Delivery \(id): \(progress.state.rawValue) \(progress.stateReason)\n\(reasons.text)",
                [
                    ("id", .integer(id)), ("state", .text(progress.state.rawValue)),
                    ("target", .integer(progress.target)),
                    ("sent", .integer(progress.sent)), ("failed", .integer(progress.failed)),
                ]
            )
            return progress.state == .finished
        }
        guard finished else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
    }
}

/// Writes a delivery's history to standard error; a terminal also shows the current progress below it.
struct HistoryDisplay {
    /// The minimum interval between reads of the applications' counts: for a large delivery each read visits
    /// thousands of parts.
    private static let applicationsInterval = Duration.seconds(1)

    private let isTerminal = StandardError.isTerminal
    private var history = DeliveryHistory()
    private var applicationsReadAt: ContinuousClock.Instant?
    /// The number of lines below the history.
    private var below = 0

    init() {}

    /// Shows counts that were read at `now`. Asks for those of the applications when it needs them.
    mutating func show(
        _ progress: DeliveryProgress,
        at now: ContinuousClock.Instant,
        applications: () async throws -> [ApplicationProgress]
    ) async throws {
        let added = history.add(progress, at: now)
        guard isTerminal else {
            if !added.isEmpty { StandardError.write(added.map { $0 + "\n" }.joined()) }
            return
        }
        let isDue = applicationsReadAt.map { now - $0 >= Self.applicationsInterval } ?? true
        if isDue || progress.state.isFinal {
            history.set(try await applications())
            applicationsReadAt = now
        }
        let size = StandardError.size ?? (columns: 80, lines: 24)
        // The last column stays free, as some terminals wrap there. Lines that have scrolled off the screen cannot be
        // rewritten.
        let width = min(size.columns - 1, StatusText.width)
        let current = history.current(width: width).prefix(size.lines - 1)
        StandardError.rewrite(added.map { DisplayWidth.cut($0, to: width) } + current, over: below)
        below = current.count
    }
}
