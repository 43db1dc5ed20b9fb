import Administration
import ArgumentParser
import Store

/// `pushmta host`: the hosts in the status tables.
struct HostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host",
        abstract: "Remove hosts that are permanently gone.",
        subcommands: [HostRemoveCommand.self]
    )
}

/// `pushmta host remove`: removes a host from the status tables.
struct HostRemoveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a host that is permanently gone from the status tables.",
        discussion: """
            `pushmta status` shows the hosts, and with --wide their ids. The command is refused if the host had a \
            heartbeat within the last 15 s, if it holds parts, or if the end of one of its children is not recorded, \
            as the child's journal may hold outcomes that are not stored. In that case, start its supervisor once more \
            with its folder. Nothing is removed from messages. The feedback worker removes hosts on its own after some \
            time (feedback.retention.broadLogDays).
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The host's name or id; if several have the name, the id.")
    var host: String

    @Flag(
        help: """
            The journals of its children were lost with its disk, and will never be read. What was under way becomes \
            ambiguous, as if the host had lost its disk while sending.
            """
    )
    var journalsLost = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (host, journalsLost) = (host, journalsLost)
        let removed = try await StoreSession.run(loaded.values) {
            try await $0.removeHost(host, journalsLost: journalsLost)
        }
        StandardOutput.line("Host \(removed.name) (\(removed.id)) was removed, with \(removed.children) children.")
    }
}
