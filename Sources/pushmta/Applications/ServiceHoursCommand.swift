import Administration
import ArgumentParser
import PushCore
import Store

extension SendingHours.Policy: ExpressibleByArgument {}

/// `pushmta service hours NAME`: shows or changes when messages of a service may leave.
struct ServiceHoursCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "hours",
        abstract: "Show or set when messages of a service may leave, in each recipient's time zone.",
        discussion: """
            Without an option it shows them. --hours "mon-fri 09:00-18:00" --hours "sat 10:00-24:00" replaces all hours; hours \
            that cross midnight are two. Messages that are due outside of them wait (postpone) or end (drop); one-time codes, \
            single messages and continuous deliveries leave at any hour. A change counts at once, except for messages that \
            are being sent. A delivery whose service got its first hours after its start keeps sending at any hour.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The service's name.")
    var name: String

    @Option(
        name: .customLong("hours"),
        help: "Weekdays and hours, such as \"mon-fri 09:00-18:00\"; repeat it for others."
    )
    var lines: [HoursLineArgument] = []

    @Flag(help: "No hours: messages leave at any time.")
    var noHours = false

    @Option(
        name: .customLong("day-off"),
        help: "A day without hours, such as 2026-12-25, in place of the previous ones; may be repeated."
    )
    var daysOff: [String] = []

    @Flag(help: "No days off.")
    var noDaysOff = false

    @Option(help: "What happens to messages outside of the hours: postpone or drop.")
    var outside: SendingHours.Policy?

    @Option(help: "The time zone of recipients whose subscription has none, such as Europe/Paris.")
    var timeZone: String?

    @Flag(help: "Print JSON.")
    var json = false

    private var changes: Bool {
        !lines.isEmpty || noHours || !daysOff.isEmpty || noDaysOff || outside != nil || timeZone != nil
    }

    func validate() throws {
        guard lines.isEmpty || !noHours else { throw ValidationError("Give either --hours or --no-hours.") }
        guard daysOff.isEmpty || !noDaysOff else { throw ValidationError("Give either --day-off or --no-days-off.") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let hours = try await StoreSession.run(loaded.values) { store in
            var hours = try await store.sendingHours(ofService: name)
            guard changes else { return hours }
            if noHours || !lines.isEmpty { hours.hours = lines.map(\.line) }
            if noDaysOff || !daysOff.isEmpty { hours.daysOff = daysOff }
            hours.outside = outside ?? hours.outside
            hours.timeZone = timeZone ?? hours.timeZone
            try await store.setSendingHours(ofService: name, hours)
            return try await store.sendingHours(ofService: name)
        }
        StandardOutput.line(json ? Self.cell(hours).json : text(hours))
    }

    private func text(_ hours: SendingHours) -> String {
        var lines = hours.hours.map { "\(HoursLineArgument.words($0.weekdays)) \($0.opens)-\($0.closes)" }
        if lines.isEmpty {
            lines.append("Messages of service \(name) leave at any hour.")
        } else {
            lines.append("Outside of these hours: \(hours.outside.rawValue).")
        }
        if !hours.daysOff.isEmpty { lines.append("Days off: \(hours.daysOff.joined(separator: ", ")).") }
        lines.append("Time zone of recipients without one: \(hours.timeZone).")
        return lines.joined(separator: "\n")
    }

    private static func cell(_ hours: SendingHours) -> Cell {
        let lines = hours.hours.map { line -> Cell in
            .object([
                ("weekdays", .list(line.weekdays.map { .integer(Int64($0)) })), ("opens", .text(line.opens)),
                ("closes", .text(line.closes)),
            ])
        }
        return .object([
            ("hours", .list(lines)), ("days_off", .list(hours.daysOff.map { .text($0) })),
            ("outside", .text(hours.outside.rawValue)), ("time_zone", .text(hours.timeZone)),
        ])
    }
}

/// Hours of some weekdays in words: `mon-fri 09:00-18:00`, `sat,sun 10:00-24:00`, `daily 08:00-20:00`.
struct HoursLineArgument: ExpressibleByArgument {
    let line: SendingHours.Line

    private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let daily = "daily"

    init?(argument: String) {
        let parts = argument.split(separator: " ")
        guard parts.count == 2, let weekdays = Self.weekdays(parts[0]) else { return nil }
        let times = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard times.count == 2, times.allSatisfy(Self.isTime) else { return nil }
        line = SendingHours.Line(weekdays: weekdays, opens: times[0], closes: times[1])
    }

    private static func weekdays(_ text: Substring) -> [Int]? {
        if text == daily { return Array(1...names.count) }
        var days: Set<Int> = []
        for range in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = range.split(separator: "-", omittingEmptySubsequences: false).map {
                names.firstIndex(of: String($0))
            }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last
            else {
                return nil
            }
            days.formUnion(first + 1...last + 1)
        }
        return days.sorted()
    }

    private static func isTime(_ text: String) -> Bool {
        let digits = Array(text.utf8)
        guard digits.count == 5, digits[2] == UInt8(ascii: ":"), let hour = Int(text.prefix(2)),
            let minute = Int(text.suffix(2))
        else { return false }
        return (0..<24).contains(hour) && (0..<60).contains(minute) || hour == 24 && minute == 0
    }

    /// The weekdays as the option takes them.
    static func words(_ weekdays: [Int]) -> String {
        let days = weekdays.filter { (1...names.count).contains($0) }
        if days == Array(1...names.count) { return daily }
        guard let first = days.first, let last = days.last, days.count > 2, last - first == days.count - 1 else {
            return days.map { names[$0 - 1] }.joined(separator: ",")
        }
        return "\(names[first - 1])-\(names[last - 1])"
    }
}
