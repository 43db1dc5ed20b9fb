import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta behaviour`: whether services keep what people did.
struct BehaviourCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "behaviour",
        abstract: "The history of what people did, for filters.",
        subcommands: [BehaviourKeepCommand.self, BehaviourListCommand.self, BehaviourDropCommand.self]
    )
}

/// `pushmta behaviour keep SERVICE`.
struct BehaviourKeepCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "keep",
        abstract: "Keep a history of who was sent a service's deliveries, received and clicked them.",
        discussion: """
            For 180 days, from now on: what was before is not in it. Filters then ask for it, such as "sent label 'Spring' \
            within 30 days and not clicked label 'Spring'".
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The service.")
    var service: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.keepBehaviour(ofService: service) }
        StandardOutput.line("Service \(service) keeps a history of what people did from now on.")
    }
}

struct BehaviourListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List which services keep a history, and since when."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.behaviour() }
        var table = Table(["service", "kept", "since", "deliveries"])
        for row in rows {
            table.add([
                .text(row.service), .flag(row.isKept), Cell(row.since?.internetText), .integer(row.deliveries),
            ])
        }
        table.show(json: json)
    }
}

/// `pushmta behaviour drop SERVICE`.
struct BehaviourDropCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "End the history of a service and delete it.",
        discussion: "The feedback worker deletes it. Deliveries whose filter asks for it return to editing."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The service.")
    var service: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.keepBehaviour(ofService: service, false) }
        StandardOutput.line(
            "Service \(service) no longer keeps what people did. The feedback worker deletes its history."
        )
    }
}
