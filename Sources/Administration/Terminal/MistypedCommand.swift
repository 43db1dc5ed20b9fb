import ArgumentParser
import PushCore

/// A command that does not exist: the error message, with the command that was probably meant.
struct MistypedCommand: Sendable, Equatable {
    /// What is wrong, and what to type.
    let text: String

    /// Checks the words of a command line; nil if they name a command, whatever its arguments.
    init?(_ arguments: [String], of root: any ParsableCommand.Type) {
        var command = root
        var words = [root.configuration.commandName ?? "pushmta"]
        for argument in arguments {
            let configuration = command.configuration
            guard !configuration.subcommands.isEmpty, !argument.hasPrefix("-") else { return nil }
            // The parser's own command.
            if words.count == 1, argument == "help" { return nil }
            if let next = configuration.subcommands.first(where: { Self.names($0).contains(argument) }) {
                command = next
                words.append(argument)
                continue
            }
            let known = configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap(Self.names)
            let within = Self.maxLetters(argument)
            let near = NearestName.nearest(to: argument, among: known, within: within)
            let safe = known.filter { !Self.irrevocable.contains($0) }
            let nearest = NearestName.nearest(to: argument, among: safe, within: within)
            // After a command with a default subcommand, the word may be an argument of that subcommand.
            guard configuration.defaultSubcommand == nil || near != nil else { return nil }
            let place = words.joined(separator: " ")
            let hint = nearest.map { " Did you mean \(place) \($0)?" } ?? ""
            text =
                "There is no command \(place) \(TerminalText.cut(TerminalText.line(argument), to: NameRule.maxNameLength)).\(hint) "
                + "`\(place) --help` lists the commands."
            return
        }
        return nil
    }

    /// Commands that cannot be undone: a user who types what a hint suggests may not read what it does. A sent
    /// message cannot be recalled either.
    private static let irrevocable: Set<String> = [
        "stop", "forget", "delete", "remove", "revoke", "migrate", "start", "resume", "send", "proof",
    ]

    /// A third of the letters, or two for transposed ones. With more, one word becomes another.
    private static func maxLetters(_ word: String) -> Int {
        word.utf8.count < 4 ? 1 : max(2, word.utf8.count / 3)
    }

    /// The parser's message about an unknown option, without its suggestion if that is a different word: the parser
    /// takes any three letters for a slip.
    static func sober(_ message: String) -> String {
        let proposal = #/'--(?<given>[^']+)'(?<hint>\. Did you mean '--(?<near>[^']+)'\?)/#
        guard let match = message.firstMatch(of: proposal) else { return message }
        let given = String(match.given)
        guard NearestName.nearest(to: given, among: [String(match.near)], within: maxLetters(given)) == nil else {
            return message
        }
        var sober = message
        sober.removeSubrange(match.hint.startIndex..<match.hint.endIndex)
        return sober
    }

    private static func names(_ command: any ParsableCommand.Type) -> [String] {
        [command.configuration.commandName].compactMap(\.self) + command.configuration.aliases
    }
}
