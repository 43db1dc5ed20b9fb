import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta cap`: how many messages a person may get in a time.
struct CapCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cap",
        abstract: "Frequency caps: how many messages a person of a service may get in a time.",
        subcommands: [CapSetCommand.self, CapListCommand.self, CapDropCommand.self]
    )
}

/// `pushmta cap set SERVICE NAME MAX`.
struct CapSetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Add a frequency cap to a service, or replace it.",
        discussion: """
            A delivery leaves out those who have had as many messages as a cap allows; they are in the exclusions of \
            the delivery, as frequency_cap. All devices of a user are one person, and a delivery counts once for a \
            person. A prepared message counts until it ends without having been sent. Days are those of the service: \
            the day of the delivery is the last one. Without --category, a cap is for all categories that are not \
            transactional. It counts the messages of deliveries that were subject to some cap.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The service.")
    var service: String

    @Argument(help: "The name of the cap.")
    var name: String

    @Argument(help: "The maximum number of messages, from 1 to 1000.")
    var max: Int32

    @Option(help: "In this many hours, up to 72.")
    var hours: Int32?

    @Option(help: "In this many days, up to 180.")
    var days: Int32?

    @Flag(help: "On the day of the recipient, in the time zone of the device.")
    var recipientDay = false

    @Option(name: .customLong("category"), help: "A category that it is for, and counts. Repeat it for several.")
    var categories: [String] = []

    func validate() throws {
        guard [hours != nil, days != nil, recipientDay].filter(\.self).count == 1 else {
            throw ValidationError("Give exactly one of --hours, --days and --recipient-day.")
        }
    }

    private var cap: FrequencyCapRow {
        FrequencyCapRow(
            service: service,
            name: name,
            maxMessages: max,
            unit: hours != nil ? .hours : days != nil ? .days : .recipientDay,
            length: hours ?? days ?? 1,
            categories: categories.isEmpty ? nil : categories
        )
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let cap = cap
        try await StoreSession.run(loaded.values) { try await $0.setFrequencyCap(cap) }
        StandardOutput.line("Frequency cap \(name) of service \(service) was set. `pushmta cap list` shows all caps.")
    }
}

struct CapListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the frequency caps.")

    @OptionGroup var global: GlobalOptions

    @Option(help: "Only those of this service.")
    var service: String?

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.frequencyCaps(ofService: service) }
        var table = Table(["service", "name", "max_messages", "length", "per", "categories"])
        for row in rows {
            table.add([
                .text(row.service), .text(row.name), .integer(Int64(row.maxMessages)), .integer(Int64(row.length)),
                .text(row.unit.rawValue), Cell(row.categories?.joined(separator: ", ")),
            ])
        }
        table.show(json: json)
    }
}

/// `pushmta cap drop SERVICE NAME`.
struct CapDropCommand: SentenceCommand {
    static let configuration = CommandConfiguration(commandName: "drop", abstract: "Remove a frequency cap.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The service.")
    var service: String

    @Argument(help: "The name of the cap.")
    var name: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.dropFrequencyCap(name, ofService: service) }
        StandardOutput.line("Frequency cap \(name) of service \(service) was removed.")
    }
}
