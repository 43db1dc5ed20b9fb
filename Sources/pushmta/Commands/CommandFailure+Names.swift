import PushCore

extension CommandFailure {
    /// No thing of this kind has the name; says which one is nearest and how to list them.
    static func unknownName(_ kind: String, _ name: String, among known: [String], list: String) -> CommandFailure {
        let hint = NearestName.nearest(to: name, among: known).map { " Did you mean \(shown($0))?" } ?? ""
        return CommandFailure(.data, "There is no \(kind) \(shown(name)).\(hint) `pushmta \(list)` lists them.")
    }

    /// A name in a sentence; one that was typed can be anything.
    private static func shown(_ name: String) -> String {
        TerminalText.cut(TerminalText.line(name), to: NameRule.longestName)
    }
}
