import ArgumentParser
import Testing

@testable import pushmta

/// Every command's output can be read by programs.
@Suite struct JSONFlagTests {
    /// The exceptions: processes, whose log has its own format (log.format); the screen, whose figures are those of
    /// status; commands of the sample site and the laboratory; and commands that always print JSON.
    private static let others: Set<String> = [
        "supervisor run", "feedback", "web", "console serve", "mta-child", "top", "quickstart run", "quickstart stop",
        "content schema",
    ]

    private func leaves(_ command: any ParsableCommand.Type, _ path: [String]) -> [(String, any ParsableCommand.Type)] {
        let subcommands = command.configuration.subcommands
        guard !subcommands.isEmpty else { return [(path.joined(separator: " "), command)] }
        return subcommands.flatMap { leaves($0, path + [$0.configuration.commandName ?? ""]) }
    }

    @Test func everyCommandTakesIt() {
        let commands = leaves(PushMTA.self, [])
        #expect(commands.count > 80)
        for (name, command) in commands where !Self.others.contains(name) {
            #expect(PushMTA.helpMessage(for: command).contains("--json"), "pushmta \(name)")
        }
    }
}
