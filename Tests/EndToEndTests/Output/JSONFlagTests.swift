import ArgumentParser
import Testing

@testable import pushmta

/// Programs read every command's output.
@Suite struct JSONFlagTests {
    /// Processes, whose log has a form of its own (log.format); the screen, whose figures are those of status; what belongs to the sample
    /// site and the laboratory; and what prints JSON in any case.
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
