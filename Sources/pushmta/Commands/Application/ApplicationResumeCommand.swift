import ArgumentParser
import PushCore
import Store

/// `pushmta app resume NAME`: closes an application's circuit.
struct ApplicationResumeCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let an application whose circuit is open send again, at once.",
        discussion: """
            A circuit opens when every message of an application would fail; no message is failed for it. It closes by itself \
            when a probe succeeds, so that this command only saves the time until the next one. If the cause is still there, the \
            circuit opens again.

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
        let (wasOpen, before) = try await StoreSession.run(loaded.values) { store in
            let application = try await store.application(named: name)
            let health = try await store.applicationHealth().first { $0.applicationID == application.id }
            return (try await store.resumeApplication(named: name, believingRefusals: believeRefusals), health)
        }
        guard wasOpen else {
            StandardOutput.line("The circuit of application \(name) was closed already; nothing is held back for it.")
            return
        }
        StandardOutput.line("The circuit of application \(name) is closed, its messages are sent again.")
        guard !believeRefusals else {
            return StandardOutput.line(
                "Messages whose push token is refused fail, in the deliveries that are under way."
            )
        }
        guard let before else { return }
        StandardOutput.line("It was open because: \(before.reason)")
        if !before.remedy.isEmpty { StandardOutput.line("If that is not mended yet: \(before.remedy)") }
    }
}
