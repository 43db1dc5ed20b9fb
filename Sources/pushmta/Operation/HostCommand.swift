import Administration
import ArgumentParser
import Store

/// `pushmta host`: the hosts that the status tables know.
struct HostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host",
        abstract: "Remove hosts that are gone for good.",
        subcommands: [HostRemoveCommand.self]
    )
}

/// `pushmta host remove`: takes a host out of the status tables.
struct HostRemoveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a host that is gone for good from the status tables.",
        discussion: """
            `pushmta status` shows the hosts, with --wide their ids. Refused while the host was heard of within 15 s, while it holds \
            parts, and while the end of one of its children is not on record, as the child's journal may have answers that are not \
            stored: start its supervisor once more with its folder. Nothing of messages is removed. The feedback worker removes hosts \
            by itself after a time (feedback.retention.broadLogDays).
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The host's name or id; of several with one name, its id.")
    var host: String

    @Flag(
        help: """
            The journals of its children are lost with its disk, and nobody will ever read them. What was under way then is ambiguous, as \
            if the host had lost its disk while it sent.
            """
    )
    var journalsLost = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (host, journalsLost) = (host, journalsLost)
        let removed = try await StoreSession.run(loaded.values) {
            try await $0.removeHost(host, journalsLost: journalsLost)
        }
        StandardOutput.line("Host \(removed.name) (\(removed.id)) is removed, with \(removed.children) children.")
    }
}
