/// libpq's words on a connection that was not made, in its verbose form.
///
/// Only that form tells the SQLSTATE, between severity and message: `… failed: FATAL:  53300: sorry, too many clients
/// already`, and then a line with the place in the server's source.
struct RefusalText {
    /// The server's SQLSTATE; nil when none answered.
    let sqlState: String?
    /// The words on one line, without SQLSTATE and source.
    let text: String

    init(_ words: String) {
        var state: String?
        let lines = words.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
            // "LOCATION:  InitProcess, proc.c:353", with its first word in the user's language.
            .filter { $0.wholeMatch(of: #/[^:]+:  \S+, [\w.]+:\d+/#) == nil }
            .map { line -> String in
                guard let match = line.firstMatch(of: #/:  ([0-9A-Z]{5}): /#) else { return String(line) }
                state = String(match.1)
                return String(line.replacing(#/:  [0-9A-Z]{5}: /#, with: ":  ", maxReplacements: 1))
            }
        sqlState = state
        text = lines.joined(separator: " ")
    }
}
