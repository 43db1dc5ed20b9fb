import Administration
import ArgumentParser
import PushCore
import Store

struct AlarmCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alarm",
        abstract: "Alarms: active and past ones, and who acknowledged them.",
        subcommands: [AlarmListCommand.self, AlarmAcknowledgeCommand.self]
    )
}

struct AlarmListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the active alarms, then those that ended last.",
        discussion: """
            Begin and end are as seen by the supervisors and the feedback worker, which check every ten seconds. The \
            list says so if no process has checked for more than 30 s. `pushmta status` shows what is wrong right now. \
            The rights of pushmta_monitoring suffice.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var limit: RowLimit

    @Flag(help: "Only active alarms.")
    var open = false

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (records, seconds) = try await StoreSession.run(loaded.values) { store in
            (try await store.alarmHistory(openOnly: open, limit: limit.rows), try await store.secondsSinceAlarmLook())
        }
        let notice = Self.notice(secondsSinceLook: seconds)
        guard json else {
            if let notice { StandardOutput.line(notice + "\n") }
            return StandardOutput.line(Self.text(records, width: StatusText.width))
        }
        if let notice { StandardError.write("warning: \(notice)\n") }
        var table = Table([
            "id", "severity", "code", "subject", "alarm", "remedy", "began_at", "ended_at", "acknowledged_at",
            "acknowledged_by",
        ])
        for record in records {
            table.add([
                .integer(record.id), .text(record.alarm.severity.rawValue), .text(record.alarm.code),
                .text(record.alarm.fullSubject), .text(record.alarm.text), .text(record.alarm.remedy),
                .text(record.beganAt.internetText), Cell(record.endedAt?.internetText),
                Cell(record.acknowledgement?.at.internetText), Cell(record.acknowledgement?.by),
            ])
        }
        table.show(json: true)
    }

    /// Three missed checks are more than a delay.
    private static let maxSilence = 30.0

    /// A notice that the list may be incomplete because no process has checked for a while; nil if one has.
    static func notice(secondsSinceLook seconds: Double?) -> String? {
        guard let seconds else {
            return "No process has checked for alarms yet. pushmta status shows what is wrong now."
        }
        guard seconds > maxSilence else { return nil }
        return
            "No process has checked for alarms for \(Int64(min(seconds, 1e15))) s: some may be missing, others may be over. "
            + "pushmta status shows what is wrong now; supervisors and pushmta feedback check every ten seconds."
    }

    /// The list for people.
    static func text(_ records: [AlarmRecord], width: Int) -> String {
        guard !records.isEmpty else { return "No active alarms, and none in the last 180 days." }
        var table = FittedTable([
            .number("id"), .text("severity"), .text("subject"), .text("code"), .text("began"), .text("ended"),
            .text("seen by"),
        ])
        for record in records {
            table.add(
                [
                    String(record.id), record.alarm.severity.rawValue, record.alarm.fullSubject, record.alarm.code,
                    StatusText.second(record.beganAt), record.endedAt.map(StatusText.second) ?? "active",
                    record.acknowledgement?.by ?? "",
                ],
                notes: [
                    record.alarm.text,
                    record.endedAt == nil && !record.alarm.remedy.isEmpty ? "To do: \(record.alarm.remedy)" : "",
                ]
            )
        }
        return table.text(width: width)
    }
}

/// `pushmta alarm acknowledge ID`.
struct AlarmAcknowledgeCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge",
        abstract: "Acknowledge an alarm: you have seen it and are dealing with it.",
        discussion: "It stays active until its cause is gone, but the console no longer counts it next to *Alarms*."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The alarm's id, as pushmta alarm list shows it.")
    var id: Int64

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.acknowledgeAlarm(id, by: .commandLine) }
        StandardOutput.line("Alarm \(id) was acknowledged.", [("id", .integer(id))])
    }
}
