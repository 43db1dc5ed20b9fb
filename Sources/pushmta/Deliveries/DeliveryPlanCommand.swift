import Administration
import ArgumentParser
import PushCore
import Store

extension DeliveryPlan.PastRule: ExpressibleByArgument {}
extension DeliveryPlan.HoursRule: ExpressibleByArgument {}

/// `pushmta delivery plan ID`: shows or changes when the messages of a delivery may leave.
struct DeliveryPlanCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show or set when the messages of a delivery may leave: waves, the recipient's time, sending hours.",
        discussion: """
            Without an option it shows the plan, and how far its waves are. Only what is named changes, and only before the \
            delivery has begun. An analysis is dropped.

            A wave has a size (5%, 1000 or rest), an optional beginning and optional guards: --wave "5% failed 2%" \
            --wave "1000 after 1h" --wave "rest at 2026-12-01T10:00:00+01:00". A wave without a beginning begins when each \
            message of the one before was tried. If a wave does not keep to its guards, the delivery is paused and says why; \
            `pushmta delivery resume` begins the next wave.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Option(help: "The moment on each recipient's clock, a date and a time without a zone such as 2026-12-01T09:00.")
    var localTime: String?

    @Option(help: "Where that moment has passed: send now, on the next_day at that time, or skip the message.")
    var onPast: DeliveryPlan.PastRule?

    @Flag(help: "Not at a local time: at its start.")
    var noLocalTime = false

    @Option(
        help: "What happens outside of the sending hours: postpone, drop or ignore; service for what the service says."
    )
    var hours: HoursArgument?

    @Option(name: .customLong("wave"), help: "A wave; repeat it for each. The last one is the rest.")
    var waves: [WaveArgument] = []

    @Flag(help: "No waves.")
    var noWaves = false

    @Option(
        help:
            "The pause before each wave without a beginning of its own, from the beginning of the wave before: 1h, 30min."
    )
    var after: PauseArgument?

    @Option(help: "The guard of each wave without one of its own: the greatest share of failures, such as 2%.")
    var guardFailed: PercentArgument?

    @Option(help: "The same for bad push tokens; by default 20% for the first wave.")
    var guardTokens: PercentArgument?

    @Option(help: "The same for opt-outs.")
    var guardOptOuts: PercentArgument?

    @Flag(help: "Print JSON.")
    var json = false

    /// A rule for sending hours on the command line.
    enum HoursArgument: ExpressibleByArgument, Hashable {
        case rule(DeliveryPlan.HoursRule)
        case service

        init?(argument: String) {
            if argument == "service" {
                self = .service
            } else if let rule = DeliveryPlan.HoursRule(rawValue: argument) {
                self = .rule(rule)
            } else {
                return nil
            }
        }
    }

    private var hasDefaults: Bool { after != nil || guardFailed != nil || guardTokens != nil || guardOptOuts != nil }

    private var changes: Bool { localTime != nil || noLocalTime || hours != nil || !waves.isEmpty || noWaves }

    func validate() throws {
        if let localTime, !DeliveryPlan.isLocalTime(localTime) {
            throw ValidationError(
                "--local-time is not a date and a time without a zone, such as 2026-12-01T09:00: \"\(localTime)\"."
            )
        }
        guard (localTime == nil) == (onPast == nil) else {
            throw ValidationError(
                "--local-time and --on-past go together: say what happens where that time has passed."
            )
        }
        guard localTime == nil || !noLocalTime else {
            throw ValidationError("Give either --local-time or --no-local-time.")
        }
        guard waves.isEmpty || !noWaves else { throw ValidationError("Give either --wave or --no-waves.") }
        guard !waves.isEmpty || !hasDefaults else {
            throw ValidationError("--after and the guards are those of waves: give --wave for each.")
        }
        guard waves.isEmpty || DeliveryPlan.waveCounts.contains(waves.count) else {
            throw ValidationError("A delivery has from 2 to \(DeliveryPlan.waveCounts.upperBound) waves, or none.")
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let row = try await StoreSession.run(loaded.values) { store in
            _ = try await store.deliveryProgress(id)
            let row = try await store.plan(ofDelivery: id)
            guard changes else { return row }
            try await store.setPlan(ofDelivery: id, changed(row?.plan ?? DeliveryPlan()))
            return try await store.plan(ofDelivery: id)
        }
        let report = PlanReport(id: id, row: row)
        StandardOutput.line(json ? report.cell.json : report.text)
    }

    private func changed(_ plan: DeliveryPlan) -> DeliveryPlan {
        var plan = plan
        if localTime != nil || noLocalTime {
            plan.localTime = localTime
            plan.onPast = onPast
        }
        switch hours {
        case .rule(let rule)?: plan.hours = rule
        case .service?: plan.hours = nil
        case nil: break
        }
        if noWaves { plan.waves = [] }
        if !waves.isEmpty { plan.waves = waves.enumerated().map { wave($0.element.wave, isFirst: $0.offset == 0) } }
        return plan
    }

    /// A wave with the options that stand for all waves.
    private func wave(_ given: DeliveryPlan.Wave, isFirst: Bool) -> DeliveryPlan.Wave {
        var wave = given
        if wave.startsAt == nil, !isFirst { wave.afterSeconds = wave.afterSeconds ?? after?.seconds }
        wave.maxFailed = wave.maxFailed ?? guardFailed?.share
        wave.maxTokenErrors = wave.maxTokenErrors ?? guardTokens?.share
        wave.maxOptOuts = wave.maxOptOuts ?? guardOptOuts?.share
        return wave
    }
}

/// The plan of a delivery, for people or programs.
struct PlanReport {
    let id: Int64
    /// Nil if it has none.
    let row: DeliveryPlanRow?

    var text: String {
        guard let row else { return "Delivery \(id) has no plan: its messages leave at its start." }
        var lines: [String] = []
        if let localTime = row.localTime, let rule = row.onPast {
            lines.append(
                "Each recipient gets it at \(localTime) on the recipient's clock; where that has passed: \(rule.rawValue)."
            )
        }
        if let hours = row.hours { lines.append("Outside of the sending hours: \(hours.rawValue).") }
        if row.plannedMessages > 0 {
            let next = row.nextAt.map { "; the next leave at \($0.internetText)" } ?? ""
            lines.append("\(row.plannedMessages) messages wait for their time\(next).")
        }
        if row.unknownZones > 0 {
            lines.append("\(row.unknownZones) messages have the service's time zone because theirs is unknown.")
        }
        if lines.isEmpty, row.waves.isEmpty { lines.append("Its messages keep to the sending hours of their service.") }
        if !row.waves.isEmpty { lines.append(table(row.waves).text) }
        return lines.joined(separator: "\n")
    }

    private func table(_ waves: [DeliveryWaveRow]) -> Table {
        var table = Table(["wave", "size", "begins", "guards", "state", "messages", "sent", "failed", "unknown"])
        for wave in waves {
            table.add([
                Cell(wave.number), .text(Self.size(wave)), .text(Self.beginning(wave)), .text(Self.guards(wave)),
                .text(wave.state.rawValue), .integer(wave.messages), .integer(wave.sent), .integer(wave.failed),
                .integer(wave.unknown),
            ])
        }
        return table
    }

    private static func size(_ wave: DeliveryWaveRow) -> String {
        wave.percent.map { "\(number($0))%" } ?? wave.count.map { "\($0)" } ?? "rest"
    }

    private static func beginning(_ wave: DeliveryWaveRow) -> String {
        if let opened = wave.openedAt { return "began at \(opened.internetText)" }
        if let start = wave.startsAt { return "at \(start.internetText)" }
        if let pause = wave.afterSeconds { return "\(AgeWords.text(pause)) after the one before" }
        return wave.number == 1 ? "at the start" : "when the one before was tried"
    }

    private static func guards(_ wave: DeliveryWaveRow) -> String {
        let all = [("failed", wave.maxFailed), ("tokens", wave.maxTokenErrors), ("opt-outs", wave.maxOptOuts)]
        let words = all.compactMap { name, share in share.map { "\(name) \(number($0 * 100))%" } }
        return words.isEmpty ? "none" : words.joined(separator: ", ")
    }

    /// A number with at most three digits after the point.
    private static func number(_ value: Double) -> String {
        let text = "\((value * 1_000).rounded() / 1_000)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    var cell: Cell {
        .object([
            ("id", .integer(id)), ("local_time", Cell(row?.localTime)), ("on_past", Cell(row?.onPast?.rawValue)),
            ("hours", Cell(row?.hours?.rawValue)), ("planned_messages", .integer(row?.plannedMessages ?? 0)),
            ("next_at", Cell(row?.nextAt?.internetText)), ("unknown_zones", .integer(row?.unknownZones ?? 0)),
            ("waves", .list((row?.waves ?? []).map(Self.cell))),
        ])
    }

    private static func cell(_ wave: DeliveryWaveRow) -> Cell {
        .object([
            ("number", Cell(wave.number)), ("percent", share(wave.percent)), ("count", Cell(wave.count)),
            ("starts_at", Cell(wave.startsAt?.internetText)), ("after_seconds", share(wave.afterSeconds)),
            ("max_failed", share(wave.maxFailed)), ("max_token_errors", share(wave.maxTokenErrors)),
            ("max_opt_outs", share(wave.maxOptOuts)), ("state", .text(wave.state.rawValue)),
            ("opened_at", Cell(wave.openedAt?.internetText)), ("held_at", Cell(wave.heldAt?.internetText)),
            ("messages", .integer(wave.messages)),
            ("sent", .integer(wave.sent)), ("failed", .integer(wave.failed)), ("unknown", .integer(wave.unknown)),
        ])
    }

    private static func share(_ value: Double?) -> Cell { value.map { .number($0) } ?? .none }
}
