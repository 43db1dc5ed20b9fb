import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta delivery reschedule ID`.
struct DeliveryRescheduleCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "reschedule",
        abstract: "Move the start of a delivery that has not begun, or take it back.",
        discussion: """
            A start cannot be moved to a time that is more than a minute in the past. After --edit the delivery is editing \
            again: change it, and start it again.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Option(name: .customLong("at"), help: "The new start, a time with its zone such as 2026-11-28T18:00:00+01:00.")
    var moment: String?

    @Flag(help: "Take the start back.")
    var edit = false

    func validate() throws {
        guard (moment != nil) != edit else { throw ValidationError("Give --at or --edit, one of them.") }
        if let moment, ZonedTime(moment) == nil { throw ValidationError("--at \(ZonedTime.words).") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.rescheduleDelivery(id, to: moment) }
        StandardOutput.line(
            moment.map { "Delivery \(id) starts at \($0)." } ?? "Delivery \(id) is editing again.",
            [("id", .integer(id))]
        )
    }
}
