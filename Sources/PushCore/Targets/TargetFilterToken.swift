/// A word of a filter's text.
struct TargetFilterToken: Sendable, Hashable {
    /// What a token is.
    enum Kind: Sendable, Hashable {
        /// A name or a keyword.
        case word(String)
        /// A name in double quotes, which is never a keyword.
        case quotedName(String)
        case text(String)
        /// A decimal number, with its sign if it was written.
        case number(String)
        case comparison(TargetComparison)
        case open, close, comma, dot, plus, minus
        case end
    }

    let kind: Kind
    /// Where it begins, 1 for the first character.
    let position: Int

    /// What it is, for messages: names as they are, values only by their kind.
    var words: String {
        switch kind {
        case .word(let word): "\"\(word)\""
        case .quotedName(let name): "\"\(name)\""
        case .text: "a text"
        case .number: "a number"
        case .comparison(let comparison): "\"\(comparison.rawValue)\""
        case .open: "\"(\""
        case .close: "\")\""
        case .comma: "\",\""
        case .dot: "\".\""
        case .plus: "\"+\""
        case .minus: "\"-\""
        case .end: "the end"
        }
    }
}
