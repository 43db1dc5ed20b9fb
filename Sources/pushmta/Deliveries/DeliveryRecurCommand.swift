import Administration
import ArgumentParser
import PushCore
import Store

extension RecurrenceRule.Unit: ExpressibleByArgument {}
extension RecurrenceRule.Missed: ExpressibleByArgument {}

/// `pushmta delivery recur`: deliveries that are sent again and again.
struct DeliveryRecurCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recur",
        abstract: "Send a delivery again and again: say when, start, pause, make a run now.",
        subcommands: [
            DeliveryRecurSetCommand.self, DeliveryRecurStartCommand.self, DeliveryRecurShowCommand.self,
            DeliveryRecurPauseCommand.self, DeliveryRecurRunCommand.self, DeliveryRecurRemoveCommand.self,
        ]
    )
}

/// `pushmta delivery recur set ID`.
struct DeliveryRecurSetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Say when a delivery recurs, in place of what was said before.",
        discussion: """
            Nothing is sent before `pushmta delivery recur start`. Each run is a delivery of its own, with the content \
            and the target of its moment. Around a change of the clock, a time that is skipped is read with the offset \
            before it, and of one that occurs twice the first is meant.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Option(help: "What --every counts. Hours are counted as they pass, whatever the clock shows.")
    var unit: RecurrenceRule.Unit

    @Option(help: "2 is every second one: at most 720 hours, 366 days, 52 weeks or 12 months.")
    var every: Int32 = 1

    @Option(help: "The zone of its times, such as Europe/Berlin.")
    var timeZone: String

    @Option(help: "Its times, separated by commas, such as 09:00,18:30. With hours, the first of the first day.")
    var times: String?

    @Option(help: "With weeks: 1 (Monday) to 7 (Sunday), separated by commas; by default that of the first day.")
    var weekdays: String?

    @Option(
        help:
            "With months: 1 to 31, separated by commas, or from the end, as in --month-days=-1; by default that of the first day. A month without a day has no run on it."
    )
    var monthDays: String?

    @Option(help: "The first date, such as 2026-12-01; by default today.")
    var startsOn: String?

    @Option(help: "The last date; by default there is none.")
    var endsOn: String?

    @Option(help: "Dates without a run, separated by commas.")
    var exceptDates: String?

    @Option(help: "What follows if no run could be made at its moment: skip it, or make one run as soon as possible.")
    var missed: RecurrenceRule.Missed = .skip

    func validate() throws {
        guard RecurrenceRule.everyRange.contains(every) else {
            throw ValidationError(
                "--every is a number from \(RecurrenceRule.everyRange.lowerBound) to \(RecurrenceRule.everyRange.upperBound)."
            )
        }
        if let times, !Self.list(times).allSatisfy(RecurrenceRule.isTime) {
            throw ValidationError("--times are times such as 09:00,18:30.")
        }
        for (name, numbers) in [("--weekdays", weekdays), ("--month-days", monthDays)] {
            if let numbers, Self.list(numbers).contains(where: { Int32($0) == nil }) {
                throw ValidationError("\(name) are numbers, separated by commas.")
            }
        }
        let dates = [startsOn, endsOn].compactMap(\.self) + Self.list(exceptDates ?? "")
        if let wrong = dates.first(where: { !RecurrenceRule.isDate($0) }) {
            throw ValidationError("\(wrong) is no date such as 2026-12-01.")
        }
    }

    /// The elements of a list that is separated by commas.
    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { String($0.drop { $0 == " " }) }
    }

    private var rule: RecurrenceRule {
        var rule = RecurrenceRule(unit: unit, timeZone: timeZone)
        rule.every = every
        rule.times = times.map(Self.list)
        rule.weekdays = weekdays.map { Self.list($0).compactMap { Int32($0) } }
        rule.monthDays = monthDays.map { Self.list($0).compactMap { Int32($0) } }
        rule.startsOn = startsOn
        rule.endsOn = endsOn
        rule.exceptDates = Self.list(exceptDates ?? "")
        rule.missed = missed
        return rule
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let rule = self.rule
        let (next, state) = try await StoreSession.run(loaded.values) { store in
            (try await store.setRecurrence(id, rule), try await store.recurrence(ofDelivery: id)?.state)
        }
        let more = state == .active ? "" : " `pushmta delivery recur start \(id)` starts it."
        StandardOutput.line(
            "Delivery \(id) recurs, next at \(next.internetText).\(more)",
            [("id", .integer(id)), ("next_run", .text(next.internetText))]
        )
    }
}

/// `pushmta delivery recur start ID`.
struct DeliveryRecurStartCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Start or continue the recurrence of a delivery.",
        discussion: "Moments that passed before it are not missed: no run is made for them."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        let next = try await StoreSession.run(loaded.values) { try await $0.startRecurrence(id) }
        StandardOutput.line(
            "Delivery \(id) recurs, next at \(next.internetText). `pushmta delivery recur show \(id)` shows its runs.",
            [("id", .integer(id)), ("next_run", .text(next.internetText))]
        )
    }
}

/// `pushmta delivery recur pause ID`.
struct DeliveryRecurPauseCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Make no further runs of a delivery; a run under way goes on."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.pauseRecurrence(id) }
        StandardOutput.line(
            "Delivery \(id) makes no further runs. `pushmta delivery recur start \(id)` continues it.",
            [("id", .integer(id))]
        )
    }
}

/// `pushmta delivery recur run ID`.
struct DeliveryRecurRunCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Make a run of a recurring delivery now; its planned moments stay as they are."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        let run = try await StoreSession.run(loaded.values) { try await $0.runRecurrence(id) }
        StandardOutput.line(
            "Run \(run) of delivery \(id) was started. `pushmta delivery watch \(run)` shows its progress.",
            [("id", .integer(id)), ("run", .integer(run))]
        )
    }
}

/// `pushmta delivery recur remove ID`.
struct DeliveryRecurRemoveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Make a recurring delivery an ordinary one; its runs stay."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.removeRecurrence(id) }
        StandardOutput.line("Delivery \(id) no longer recurs.", [("id", .integer(id))])
    }
}
