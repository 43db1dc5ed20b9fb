import Administration
import ArgumentParser
import PushCore
import Store

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Events for other systems, and their consumers.",
        discussion: "Nothing is recorded until a consumer wants it. Deploy/guide/events.md describes events.",
        subcommands: [
            EventsCreateCommand.self, EventsDropCommand.self, EventsListCommand.self, EventsKindsCommand.self,
            EventsReadCommand.self,
        ]
    )
}

/// `pushmta events create NAME`.
struct EventsCreateCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a consumer, which gets what happens from now on."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The consumer's name.")
    var name: String

    @Option(
        name: .customLong("kind"),
        help:
            "A kind of events, or all kinds of message, device or delivery; may be given several times (default: all)."
    )
    var kinds: [String] = []

    @Option(help: "Only the events of this service.")
    var service: String?

    @Option(help: "For how many hours it may be away without losing events, from 1 to 720.")
    var maxAgeHours: Int64 = 72

    @Option(help: "How many MiB of events it may be behind without losing some.")
    var maxMebibytes: Int64 = 10_240

    @Option(
        help:
            "Who alone reads it: a role of the database, or key: and the name of an API key (default: all who may read events)."
    )
    var reader: String?

    func validate() throws {
        guard (1...720).contains(maxAgeHours) else {
            throw ValidationError("--max-age-hours is \(maxAgeHours): give a number from 1 to 720.")
        }
        guard (1...1_000_000).contains(maxMebibytes) else {
            throw ValidationError("--max-mebibytes is \(maxMebibytes): give a number from 1 to 1000000.")
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let consumer = NewConsumer(
            name: name,
            kinds: kinds.isEmpty ? nil : kinds,
            service: service,
            maxAgeSeconds: maxAgeHours * 3_600,
            maxBytes: maxMebibytes << 20,
            reader: reader
        )
        try await StoreSession.run(loaded.values) { try await $0.createConsumer(consumer) }
        StandardOutput.line(
            "Consumer \(name) was created. Next: pushmta events read \(name)",
            [("consumer", .text(name))]
        )
    }
}

/// `pushmta events drop NAME`.
struct EventsDropCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Remove a consumer, with its position. Kinds that no other wants are no longer recorded."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The consumer's name.")
    var name: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.dropConsumer(name) }
        StandardOutput.line("Consumer \(name) was removed.", [("consumer", .text(name))])
    }
}

/// `pushmta events list`.
struct EventsListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the consumers: what each wants, how far it is behind, and what it lost.",
        discussion: "The rights of pushmta_monitoring suffice."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let consumers = try await StoreSession.run(loaded.values) { try await $0.consumers() }
        var table = Table([
            "consumer", "service", "reader", "behind_seconds", "given", "lost", "read_at", "max_age_seconds",
            "max_bytes", "kinds",
        ])
        for consumer in consumers {
            table.add([
                .text(consumer.name), Cell(consumer.service), Cell(consumer.reader),
                .integer(Int64(consumer.lagSeconds)), .integer(consumer.given), .integer(consumer.lost),
                Cell(consumer.readAt?.internetText), .integer(consumer.maxAgeSeconds), .integer(consumer.maxBytes),
                json ? .list(consumer.kinds.map { .text($0) }) : .text(consumer.kinds.joined(separator: " ")),
            ])
        }
        guard json || !consumers.isEmpty else {
            return StandardOutput.line("There are no consumers, so no events are recorded.")
        }
        table.show(json: json)
    }
}

/// `pushmta events kinds`.
struct EventsKindsCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "kinds",
        abstract: "List the kinds of events.",
        discussion: "message, device and delivery stand for all of theirs."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let kinds = try await StoreSession.run(loaded.values) { try await $0.eventKinds() }
        var table = Table(["kind", "meaning"])
        for kind in kinds { table.add([.text(kind.name), .text(kind.meaning)]) }
        table.show(json: json)
    }
}

/// `pushmta events read NAME`.
struct EventsReadCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Print a consumer's next events. They count as read once they are printed.",
        discussion: """
            If the program that reads the output ends first, or the command is killed, the events are given again. With \
            --follow it goes on until Ctrl-C and prints a JSON object a line. The rights of pushmta_events suffice.
            """
    )

    /// How often it looks for new events.
    private static let interval = Duration.seconds(1)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var limit: RowLimit

    @Argument(help: "The consumer's name.")
    var name: String

    @Flag(help: "Go on, with a JSON object a line.")
    var follow = false

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (name, rows, isJSON) = (name, limit.rows, json)
        guard follow else {
            _ = try await StoreSession.run(loaded.values) { store in
                try await store.readEvents(of: name, limit: rows) { try Self.show($0, json: isJSON) }
            }
            return
        }
        let store = try await StoreSession.open(loaded.values)
        do {
            _ = try await UntilSignal.run {
                while !Task.isCancelled {
                    let count = try await store.readEvents(of: name, limit: rows) { try Self.write($0) }
                    if count < rows { try await Task.sleep(for: Self.interval) }
                }
            }
            await store.close()
        } catch {
            await store.close()
            throw error
        }
    }

    private static let columns = [
        "id", "kind", "occurred_at", "service", "application", "delivery", "sequence", "subscription", "user_key",
        "reason", "http_status", "state",
    ]

    private static func cells(_ event: EventRow) -> [Cell] {
        [
            .text(event.id), .text(event.kind), .text(event.occurredAt.internetText), Cell(event.service),
            Cell(event.application), Cell(event.delivery), Cell(event.sequence), Cell(event.subscription),
            Cell(event.userKey), Cell(event.reason), Cell(event.httpStatus), Cell(event.state),
        ]
    }

    /// Throws if the output has no reader, so that the events are given again.
    private static func show(_ events: [EventRow], json: Bool) throws {
        guard json || !events.isEmpty else { return try write("No new events.") }
        var table = Table(columns)
        for event in events { table.add(cells(event)) }
        try write(json ? table.json : table.text)
    }

    private static func write(_ events: [EventRow]) throws {
        for event in events {
            try write(Cell.object(Array(zip(columns, cells(event)))).json)
        }
    }

    private static func write(_ text: String) throws {
        guard StandardOutput.hasWritten(text) else {
            throw CommandFailure(.unavailable, "The output cannot be written, so the events count as not read.")
        }
    }
}
