import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta audience`: named filters of services.
struct AudienceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audience",
        abstract: "Saved audiences: named filters of services.",
        discussion: """
            `delivery create --audience NAME` gives a delivery a copy of the filter. Later changes of the audience do not \
            change the delivery, so what was analysed and approved stays what is sent.
            """,
        subcommands: [
            AudienceListCommand.self, AudienceSaveCommand.self, AudienceCountCommand.self, AudienceRemoveCommand.self,
        ]
    )

    fileprivate static func table(_ rows: [AudienceRow]) -> Table {
        var table = Table([
            "service", "name", "filter", "subscriptions", "excluded", "margin", "counted_at", "problem", "changed_by",
            "changed_at",
        ])
        for row in rows {
            table.add([
                .text(row.service), .text(row.name), .text(row.filter), Cell(row.subscriptions), Cell(row.excluded),
                Cell(row.margin), Cell(row.countedAt?.internetText), Cell(row.problem.isEmpty ? nil : row.problem),
                .text(row.changedBy), .text(row.changedAt.internetText),
            ])
        }
        return table
    }
}

/// `pushmta audience list`.
struct AudienceListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the saved audiences with their last counts."
    )

    @OptionGroup var global: GlobalOptions

    @Option(help: "Only those of this service.")
    var service: String?

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { store in
            // An unknown name would look like one without audiences.
            if let service { _ = try await store.service(named: service) }
            return try await store.audiences(ofService: service)
        }
        AudienceCommand.table(rows).show(json: json)
    }
}

/// `pushmta audience save SERVICE NAME FILTER`.
struct AudienceSaveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Save a filter as an audience of a service, or replace the audience of that name.",
        discussion: """
            `pushmta delivery create --help` describes filters. If the filter changes, the count of the audience is \
            dropped. Deliveries that were given the audience keep the filter that they copied.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The service.")
    var service: String

    @Argument(help: "The name of the audience.")
    var name: String

    @Argument(help: ArgumentHelp("The filter.", valueName: "expression"))
    var filter: String

    func execute(_ loaded: LoadedSettings) async throws {
        let isChanged = try await StoreSession.run(loaded.values) { store in
            try await store.saveAudience(name, ofService: service, filter: filter)
        }
        StandardOutput.line(
            isChanged
                ? "Audience \(name) of service \(service) was saved."
                : "Audience \(name) of service \(service) has this filter.",
            [("changed", .flag(isChanged))]
        )
    }
}

/// `pushmta audience remove SERVICE NAME`.
struct AudienceRemoveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a saved audience.",
        discussion: "Deliveries that were given it keep the filter that they copied."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The service.")
    var service: String

    @Argument(help: "The audience.")
    var name: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.removeAudience(name, ofService: service) }
        StandardOutput.line("Audience \(name) of service \(service) was removed.")
    }
}

/// `pushmta audience count SERVICE NAME`.
struct AudienceCountCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Count how many subscriptions an audience selects now.",
        discussion: """
            Within ten seconds; what is not counted by then is estimated, and margin is the error. A count of the last \
            minute is shown again. Opt-outs from a category, control groups and frequency caps are left to the delivery.
            """
    )

    /// How long another process may take that has begun to count it.
    private static let timeout = Duration.seconds(30)
    private static let pause = Duration.milliseconds(200)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The service.")
    var service: String

    @Argument(help: "The audience.")
    var name: String

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let row = try await StoreSession.run(loaded.values) { store -> AudienceRow in
            try await store.askAudienceCount(name, ofService: service)
            let deadline = ContinuousClock.now + Self.timeout
            while true {
                // A supervisor may be first.
                while try await store.countAskedAudience() {}
                guard let row = try await store.audiences(ofService: service).first(where: { $0.name == name }) else {
                    throw CommandFailure(.data, "Audience \(name) of service \(service) was removed meanwhile.")
                }
                guard row.isBeingCounted else { return row }
                guard ContinuousClock.now < deadline else {
                    throw CommandFailure(.unavailable, "Audience \(name) was not counted within 30 s: try again.")
                }
                try await Task.sleep(for: Self.pause)
            }
        }
        AudienceCommand.table([row]).show(json: json)
    }
}
