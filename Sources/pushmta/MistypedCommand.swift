import Administration
import ArgumentParser
import PushCore

/// A command that there is none of: what the command line says of it, with the one that was probably meant.
struct MistypedCommand: Sendable, Equatable {
    /// What is wrong, and what to type.
    let text: String

    /// Looks at the words of a command line; nil if they name a command, right or wrong in what stands behind it.
    init?(_ arguments: [String], of root: any ParsableCommand.Type) {
        var command = root
        var words = [root.configuration.commandName ?? "pushmta"]
        for argument in arguments {
            let configuration = command.configuration
            guard !configuration.subcommands.isEmpty, !argument.hasPrefix("-") else { return nil }
            // The parser's own.
            if words.count == 1, argument == "help" { return nil }
            if let next = configuration.subcommands.first(where: { Self.names($0).contains(argument) }) {
                command = next
                words.append(argument)
                continue
            }
            let known = configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap(Self.names)
            let nearest = NearestName.nearest(to: argument, among: known)
            // Behind a command that does something by itself the word may be that one's.
            guard configuration.defaultSubcommand == nil || nearest != nil else { return nil }
            let place = words.joined(separator: " ")
            let hint = nearest.map { " Did you mean \(place) \($0)?" } ?? ""
            text =
                "There is no command \(place) \(TerminalText.cut(TerminalText.line(argument), to: NameRule.longestName)).\(hint) "
                + "`\(place) --help` lists the commands."
            return
        }
        return nil
    }

    private static func names(_ command: any ParsableCommand.Type) -> [String] {
        [command.configuration.commandName].compactMap(\.self) + command.configuration.aliases
    }
}
