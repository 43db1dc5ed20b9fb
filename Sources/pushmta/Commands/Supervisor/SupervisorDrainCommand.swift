import ArgumentParser
import PushCore

/// `pushmta supervisor drain`: lets a supervisor end in order and waits for it.
struct SupervisorDrainCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Let a supervisor end in order, and wait until it has.",
        discussion: """
            Its children claim nothing new, settle what they hold and end; the other hosts go on with the rest. Without --host it \
            is the supervisor that has the folder mta.workingPath of this machine; asked a second time, that one hurries: what \
            has not left is given back. Ctrl-C ends the wait and not the drain.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(
        help: """
            The host whose supervisor is meant, by name or id as `pushmta status` shows them; it is asked through the database.
            """
    )
    var host: String?

    func execute(_ loaded: LoadedSettings) async throws {
        let settings = loaded.values
        let host = host
        let isOver: Bool? = try await UntilSignal.run {
            if let host {
                try await RemoteDrain(host: host, settings: settings).run()
            } else {
                try await LocalDrain(settings: settings).run()
            }
            return true
        }
        guard isOver != nil else {
            StandardError.write("\nThe wait is over, the drain goes on.\n")
            throw ExitCode(CommandFailure.interruptedStatus)
        }
    }
}
