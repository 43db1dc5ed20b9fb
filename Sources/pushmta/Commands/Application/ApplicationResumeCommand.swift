import ArgumentParser
import PushCore
import Store

/// `pushmta app resume NAME`: ends what an application's messages wait for.
struct ApplicationResumeCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let an application send again at once, and say what it waited for.",
        discussion: """
            A circuit opens when every message of an application would fail; no message is failed for it. It closes by itself \
            when a probe succeeds, so that this command only saves the time until the next one. If the cause is still there, the \
            circuit opens again.

            The rest that its messages may wait for ends as well, on all hosts: the pause before a child is started after one that died, \
            the pauses between attempts to reach a gateway, and the time until what could not be loaded or prepared is tried again. \
            What a gateway has asked for stays.

            When it opened because push tokens were refused, and the application and its credential are right, the tokens are bad: \
            with --believe-refusals messages to them fail, and the subscriptions are disabled, in all deliveries that are under way.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The application's name.")
    var name: String

    @Flag(help: "The refused push tokens are really bad: fail their messages instead of opening the circuit again.")
    var believeRefusals = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (ended, before) = try await StoreSession.run(loaded.values) { store in
            let application = try await store.application(named: name)
            let health = try await store.applicationHealth().first { $0.applicationID == application.id }
            return (try await store.resumeApplication(named: name, believingRefusals: believeRefusals), health)
        }
        for line in Self.report(name, ended, before, believesRefusals: believeRefusals) { StandardOutput.line(line) }
    }

    /// What to say of it, line by line.
    static func report(
        _ name: String,
        _ ended: ApplicationResumption,
        _ before: ApplicationHealthRow?,
        believesRefusals: Bool = false
    ) -> [String] {
        guard ended.hasEnded else {
            return ["The circuit of application \(name) was closed already; nothing is held back for it."]
        }
        var lines: [String] = []
        if ended.wasOpen {
            lines.append("The circuit of application \(name) is closed, its messages are sent again.")
            if believesRefusals {
                lines.append("Messages whose push token is refused fail, in the deliveries that are under way.")
            } else if let before {
                lines.append("It was open because: \(before.reason)")
                if !before.remedy.isEmpty { lines.append("If that is not fixed yet: \(before.remedy)") }
            }
        }
        for host in ended.hosts {
            let words = host.lastWords.isEmpty ? "" : ": \(host.lastWords)"
            lines.append(
                "Host \(TerminalText.line(host.name)) starts children for it at once; the last one there died before its first "
                    + "message (\(host.exitReason))\(TerminalText.line(words))"
            )
        }
        if ended.troubledChildren > 0 {
            lines.append("Running children in trouble that try again at once: \(ended.troubledChildren)")
        }
        if !ended.accounts.isEmpty {
            lines.append(
                "Accounts whose gateway took nothing and is tried at once: \(ended.accounts.joined(separator: ", "))"
            )
        }
        if ended.parts > 0 {
            lines.append(
                "Parts that could not be loaded and are tried again at once: \(ended.parts) "
                    + "(\(TerminalText.line(ended.loadProblem)))"
            )
        }
        if !ended.preparations.isEmpty {
            let ids = ended.preparations.sorted().map(String.init).joined(separator: ", ")
            lines.append("Deliveries whose preparation is tried again at once: \(ids)")
        }
        return lines
    }
}
