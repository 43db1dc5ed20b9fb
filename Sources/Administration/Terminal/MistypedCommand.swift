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
            let within = Self.mostLetters(argument)
            let near = NearestName.nearest(to: argument, among: known, within: within)
            let safe = known.filter { !Self.irrevocable.contains($0) }
            let nearest = NearestName.nearest(to: argument, among: safe, within: within)
            // Behind a command that does something by itself the word may be that one's.
            guard configuration.defaultSubcommand == nil || near != nil else { return nil }
            let place = words.joined(separator: " ")
            let hint = nearest.map { " Did you mean \(place) \($0)?" } ?? ""
            text =
                "There is no command \(place) \(TerminalText.cut(TerminalText.line(argument), to: NameRule.longestName)).\(hint) "
                + "`\(place) --help` lists the commands."
            return
        }
        return nil
    }

    /// Commands that nobody can undo: who types what a hint says does not always read what it does.
    /// A message that was sent is not called back either.
    private static let irrevocable: Set<String> = [
        "stop", "forget", "delete", "remove", "revoke", "migrate", "start", "resume", "send", "proof",
    ]

    /// A third of the letters, and two if they may have changed places: with more, one word becomes another.
    private static func mostLetters(_ word: String) -> Int {
        word.utf8.count < 4 ? 1 : max(2, word.utf8.count / 3)
    }

    /// What the parser says of an unknown option, without the name that it proposes if that is another word: it takes any three letters for a
    /// slip.
    static func sober(_ message: String) -> String {
        let proposal = #/'--(?<given>[^']+)'(?<hint>\. Did you mean '--(?<near>[^']+)'\?)/#
        guard let match = message.firstMatch(of: proposal) else { return message }
        let given = String(match.given)
        guard NearestName.nearest(to: given, among: [String(match.near)], within: mostLetters(given)) == nil else {
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
