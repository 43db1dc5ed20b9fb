/// Cuts a filter's text into tokens.
struct TargetFilterLexer {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    /// A number has at most so many digits: PostgreSQL's own limit is far above, and no measure needs more.
    static let maximumDigits = 100

    init(_ text: String) throws(TargetFilterError) {
        guard text.utf8.count <= TargetFilter.maximumBytes else {
            throw TargetFilterError(
                .limit,
                at: nil,
                "it has \(text.utf8.count) bytes, \(TargetFilter.maximumBytes) are allowed",
                "use explicit targets or an exclusion list for long lists"
            )
        }
        scalars = Array(text.unicodeScalars)
    }

    static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || (scalar.isASCII ? isASCIILetter(scalar) : scalar.properties.isAlphabetic)
    }

    static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
        isNameStart(scalar) || isDigit(scalar)
            || (!scalar.isASCII && scalar.properties.generalCategory == .nonspacingMark)
    }

    private static func isASCIILetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    /// The next token; `end` again and again at the end.
    mutating func next() throws(TargetFilterError) -> TargetFilterToken {
        while let scalar = peek, scalar.properties.isWhitespace { index += 1 }
        let position = index + 1
        guard let scalar = peek else { return TargetFilterToken(kind: .end, position: position) }
        if Self.isNameStart(scalar) { return TargetFilterToken(kind: .word(word()), position: position) }
        if Self.isDigit(scalar) { return TargetFilterToken(kind: .number(try number("")), position: position) }
        index += 1
        return TargetFilterToken(kind: try sign(scalar, position), position: position)
    }

    private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        index += 1
        return true
    }

    private mutating func sign(_ scalar: Unicode.Scalar, _ position: Int) throws(TargetFilterError)
        -> TargetFilterToken.Kind
    {
        switch scalar {
        case "'": return .text(try quoted("'", position))
        case "\"": return .quotedName(try quoted("\"", position))
        case "(": return .open
        case ")": return .close
        case ",": return .comma
        case ".": return .dot
        case "=": return .comparison(.equal)
        case "<":
            if take("=") { return .comparison(.lessOrEqual) }
            return .comparison(take(">") ? .notEqual : .less)
        case ">": return .comparison(take("=") ? .greaterOrEqual : .greater)
        case "!":
            guard take("=") else { break }
            return .comparison(.notEqual)
        case "+", "-":
            guard let next = peek, Self.isDigit(next) else { return scalar == "+" ? .plus : .minus }
            return .number(try number(String(scalar)))
        case "\u{2018}", "\u{2019}", "\u{201C}", "\u{201D}":
            throw TargetFilterError(
                .syntax,
                at: position,
                "a quotation mark is a typographic one",
                "put texts into straight single quotes"
            )
        default: break
        }
        throw TargetFilterError(
            .syntax,
            at: position,
            "the character \(Self.shown(scalar)) has no meaning here",
            "put texts into single quotes"
        )
    }

    /// A character by itself if it can be seen, and by its number.
    private static func shown(_ scalar: Unicode.Scalar) -> String {
        let number = "U+" + String(scalar.value, radix: 16, uppercase: true)
        return scalar.isASCII && scalar.value > 0x20 && scalar.value < 0x7F ? "\(scalar)" : number
    }

    private mutating func word() -> String {
        var text = String.UnicodeScalarView()
        while let scalar = peek, Self.isNamePart(scalar) {
            text.append(scalar)
            index += 1
        }
        return String(text)
    }

    /// What stands in quotes; a quote that is written twice is one.
    private mutating func quoted(_ quote: Unicode.Scalar, _ position: Int) throws(TargetFilterError) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = peek {
            index += 1
            if scalar == quote, !take(quote) { return String(text) }
            guard scalar.value != 0 else {
                throw TargetFilterError(
                    .syntax,
                    at: index,
                    "it has the character U+0000, which no database stores",
                    "leave it out"
                )
            }
            text.append(scalar)
        }
        throw TargetFilterError(
            .syntax,
            at: position,
            "a quote is not closed",
            "close it; a quote inside is written twice"
        )
    }

    private mutating func number(_ sign: String) throws(TargetFilterError) -> String {
        let position = index + 1
        var text = sign + digits()
        if peek == ".", index + 1 < scalars.count, Self.isDigit(scalars[index + 1]) {
            index += 1
            text += "." + digits()
        }
        if let next = peek, Self.isNameStart(next) {
            throw TargetFilterError(
                .syntax,
                at: position,
                "a number is followed by letters",
                "write numbers as 12 or 12.5, and texts in single quotes"
            )
        }
        guard text.utf8.count <= Self.maximumDigits else {
            throw TargetFilterError(
                .limit,
                at: position,
                "a number has \(text.utf8.count) characters, \(Self.maximumDigits) are allowed",
                "write a shorter one"
            )
        }
        return text
    }

    private mutating func digits() -> String {
        var text = String.UnicodeScalarView()
        while let scalar = peek, Self.isDigit(scalar) {
            text.append(scalar)
            index += 1
        }
        return String(text)
    }
}

/// A word of a filter's text.
struct TargetFilterToken: Sendable, Hashable {
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
