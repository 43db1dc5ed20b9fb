/// Makes a filter's tree of its text, by recursive descent with a limit of depth.
struct TargetFilterParser {
    private var lexer: TargetFilterLexer
    private(set) var token: TargetFilterToken
    private var tests = 0

    init(_ text: String) throws(TargetFilterError) {
        lexer = try TargetFilterLexer(text)
        token = try lexer.next()
    }

    mutating func parse() throws(TargetFilterError) -> TargetFilter {
        guard token.kind != .end else {
            throw error("it is empty", "write a test such as locale = 'fr', or leave the filter out")
        }
        let filter = try disjunction(depth: 0)
        guard token.kind == .end else {
            throw error(
                "\(token.words) stands where \"and\", \"or\" or the end is expected",
                "join tests with and or or"
            )
        }
        return filter
    }

    mutating func advance() throws(TargetFilterError) {
        token = try lexer.next()
    }

    /// Whether the token is this keyword, in whatever case; takes it then.
    mutating func take(_ keyword: String) throws(TargetFilterError) -> Bool {
        guard isKeyword(keyword) else { return false }
        try advance()
        return true
    }

    func isKeyword(_ keyword: String) -> Bool {
        if case .word(let word) = token.kind { word.lowercased() == keyword } else { false }
    }

    mutating func take(_ kind: TargetFilterToken.Kind) throws(TargetFilterError) -> Bool {
        guard token.kind == kind else { return false }
        try advance()
        return true
    }

    func error(_ cause: String, _ remedy: String) -> TargetFilterError {
        TargetFilterError(.syntax, at: token.position, cause, remedy)
    }

    private mutating func disjunction(depth: Int) throws(TargetFilterError) -> TargetFilter {
        var filters = [try conjunction(depth: depth)]
        while try take("or") { filters.append(try conjunction(depth: depth)) }
        return filters.count == 1 ? filters[0] : .any(filters)
    }

    private mutating func conjunction(depth: Int) throws(TargetFilterError) -> TargetFilter {
        var filters = [try negation(depth: depth)]
        while try take("and") { filters.append(try negation(depth: depth)) }
        return filters.count == 1 ? filters[0] : .all(filters)
    }

    private mutating func negation(depth: Int) throws(TargetFilterError) -> TargetFilter {
        guard depth < TargetFilter.maximumDepth else {
            throw TargetFilterError(
                .limit,
                at: token.position,
                "it is nested more than \(TargetFilter.maximumDepth) deep",
                "use fewer parentheses"
            )
        }
        if try take("not") { return .not(try negation(depth: depth + 1)) }
        guard try take(.open) else { return try test() }
        let inner = try disjunction(depth: depth + 1)
        guard try take(.close) else {
            throw error("\(token.words) stands where \")\" is expected", "close the parenthesis")
        }
        return inner
    }

    private mutating func test() throws(TargetFilterError) -> TargetFilter {
        tests += 1
        guard tests <= TargetFilter.maximumTests else {
            throw TargetFilterError(
                .limit,
                at: token.position,
                "it has more than \(TargetFilter.maximumTests) tests",
                "use in (…), explicit targets or an exclusion list"
            )
        }
        return try test(of: try field())
    }
}

/// Fields, and what a filter asks of one.
extension TargetFilterParser {
    mutating func field() throws(TargetFilterError) -> TargetField {
        guard case .word(let word) = token.kind else {
            throw error(
                "\(token.words) stands where a field is expected",
                "write the field first, as in locale = 'fr'; fields are \(TargetField.known.joined(separator: ", "))"
            )
        }
        let position = token.position
        try advance()
        guard try take(.dot) else {
            if let column = TargetColumn(rawValue: word) { return .column(column) }
            throw Self.unknown(word, at: position)
        }
        let name: String
        switch token.kind {
        case .word(let word), .quotedName(let word): name = word
        default:
            throw error(
                "\(token.words) stands where the name of a field is expected",
                "write \(word).NAME, or \(word).\"any NAME\""
            )
        }
        guard let field = TargetField.named(word, name) else { throw Self.unknown(word, at: position) }
        try advance()
        return field
    }

    private static func unknown(_ word: String, at position: Int) -> TargetFilterError {
        // What resembles no field is most probably one of the person's or of the app's.
        let nearest = NearestName.nearest(to: word, among: TargetField.known, within: max(1, word.utf8.count / 3))
        let meant = nearest ?? "parameters.\(word) or recipient.\(word)"
        let needsName = TargetField.named(word, "") != nil
        return TargetFilterError(
            .unknownField,
            at: position,
            needsName ? "\"\(word)\" needs a name behind it" : "there is no field \"\(word)\"",
            needsName
                ? "write \(word).NAME"
                : "did you mean \(meant)? Fields are \(TargetField.known.joined(separator: ", ")); those of the recipient are "
                    + "recipient.NAME, what the app registers is parameters.NAME"
        )
    }

    /// What stands behind a field.
    mutating func test(of field: TargetField) throws(TargetFilterError) -> TargetFilter {
        if case .comparison(let comparison) = token.kind {
            try advance()
            return try compare(field, comparison)
        }
        if try take("is") {
            let isNegated = try take("not")
            guard try take("null") else {
                throw error("\(token.words) stands where \"null\" is expected", "write is null or is not null")
            }
            return isNegated ? .not(.isNull(field)) : .isNull(field)
        }
        let isNegated = try take("not")
        let filter = try setOrTextTest(of: field)
        return isNegated ? .not(filter) : filter
    }

    private mutating func setOrTextTest(of field: TargetField) throws(TargetFilterError) -> TargetFilter {
        if try take("in") { return .isIn(field, try list(field)) }
        if try take("contains") { return .contains(field, try text(field)) }
        if try take("starts") {
            guard try take("with") else {
                throw error("\(token.words) stands where \"with\" is expected", "write starts with 'text'")
            }
            return .startsWith(field, try text(field))
        }
        throw error(
            "\(token.words) stands where a comparison is expected",
            "write =, !=, <, <=, >, >=, in (…), contains '…', starts with '…', is null or is not null"
        )
    }

    private mutating func compare(
        _ field: TargetField,
        _ comparison: TargetComparison
    ) throws(TargetFilterError) -> TargetFilter {
        let position = token.position
        let literal = try fitting(try literal(), field, at: position)
        if comparison.isOrder, literal.kind == .boolean {
            throw TargetFilterError(.kind, at: position, "booleans have no order", "compare them with = or !=")
        }
        return .compare(field, comparison, literal)
    }

    /// Checks a literal against a field whose kind is known already.
    private func fitting(
        _ literal: TargetLiteral,
        _ field: TargetField,
        at position: Int
    ) throws(TargetFilterError) -> TargetLiteral {
        guard let kind = field.kind else { return literal }
        guard let fitting = literal.fitting(kind) else { throw .mismatch(field, kind, literal, at: position) }
        if case .column(let column) = field, let words = column.words {
            guard case .text(let word) = fitting, words.contains(word) else {
                throw .unknownWord(column, fitting, words, at: position)
            }
        }
        return fitting
    }

    private mutating func list(_ field: TargetField) throws(TargetFilterError) -> [TargetLiteral] {
        guard try take(.open) else {
            throw error("\(token.words) stands where \"(\" is expected", "write in ('a', 'b')")
        }
        var literals: [TargetLiteral] = []
        repeat {
            let position = token.position
            let literal = try fitting(try literal(), field, at: position)
            if let first = literals.first, first.kind != literal.kind {
                throw TargetFilterError(
                    .kind,
                    at: position,
                    "the list has \(first.kind.words) and \(literal.kind.words)",
                    "give values of one kind"
                )
            }
            literals.append(literal)
            guard literals.count <= TargetFilter.maximumListLength else {
                throw TargetFilterError(
                    .limit,
                    at: position,
                    "the list has more than \(TargetFilter.maximumListLength) values",
                    "use explicit targets or an exclusion list"
                )
            }
        } while try take(.comma)
        guard try take(.close) else {
            throw error("\(token.words) stands where a comma or \")\" is expected", "write in ('a', 'b')")
        }
        return literals
    }

    private mutating func text(_ field: TargetField) throws(TargetFilterError) -> String {
        guard case .text(let text) = token.kind else {
            throw error("\(token.words) stands where a text is expected", "put it into single quotes")
        }
        if let kind = field.kind, kind != .text {
            throw TargetFilterError(
                .kind,
                at: token.position,
                "\(field) is \(kind.words), which contains no text",
                "compare it with =, <, > or in"
            )
        }
        try advance()
        return text
    }
}

extension TargetFilterError {
    /// A column of few words is compared with another one: nothing would equal it, and with != everybody would be chosen.
    static func unknownWord(_ column: TargetColumn, _ literal: TargetLiteral, _ words: [String], at position: Int)
        -> TargetFilterError
    {
        var nearest: String?
        if case .text(let text) = literal { nearest = NearestName.nearest(to: text, among: words) }
        return TargetFilterError(
            .kind,
            at: position,
            "\(column.rawValue) is never that",
            (nearest.map { "did you mean '\($0)'? " } ?? "")
                + "It is \(words.dropLast().map { "'\($0)'" }.joined(separator: ", ")) or '\(words.last ?? "")'"
        )
    }

    /// A field is compared with a literal of a kind that it cannot have.
    public static func mismatch(
        _ field: TargetField,
        _ kind: TargetKind,
        _ literal: TargetLiteral,
        at position: Int? = nil
    ) -> TargetFilterError {
        let example =
            switch kind {
            case .text: "'text'"
            case .number: "12.5"
            case .boolean: "true or false"
            case .time: "'2026-01-31', '2026-01-31T10:00Z' or now - 7 days"
            }
        return TargetFilterError(
            .kind,
            at: position,
            "\(field) is \(kind.words) and is compared with \(literal.kind.words)",
            "compare it with \(example)"
        )
    }
}

/// Values of a filter.
extension TargetFilterParser {
    /// `now` is the delivery's start; a hundred years from there is as good as never.
    static let furthestSeconds: Int64 = 100 * 366 * 86_400

    mutating func literal() throws(TargetFilterError) -> TargetLiteral {
        switch token.kind {
        case .text(let text):
            try advance()
            return .text(text)
        case .number(let digits):
            try advance()
            return .number(digits.hasPrefix("+") ? String(digits.dropFirst()) : digits)
        case .word(let word):
            switch word.lowercased() {
            case "true":
                try advance()
                return .boolean(true)
            case "false":
                try advance()
                return .boolean(false)
            case "date", "timestamp": return .time(try calendarMoment())
            case "now": return .time(try distance())
            case "null":
                throw error("nothing equals null", "write is null or is not null")
            default: break
            }
        default: break
        }
        throw error(
            "\(token.words) stands where a value is expected",
            "write a text in single quotes, a number, true, false, date '2026-01-31' or now - 7 days"
        )
    }

    /// `date '2026-01-31'`.
    private mutating func calendarMoment() throws(TargetFilterError) -> TargetMoment {
        try advance()
        guard case .text(let text) = token.kind, let moment = TargetMoment(text) else {
            throw error(
                "\(token.words) is no day or time",
                "write date '2026-01-31' or date '2026-01-31T10:00:00Z'"
            )
        }
        try advance()
        return moment
    }

    /// `now`, `now - 7 days`, `now + 2 hours`.
    private mutating func distance() throws(TargetFilterError) -> TargetMoment {
        try advance()
        let isLater: Bool
        let digits: String
        switch token.kind {
        case .plus, .minus:
            isLater = token.kind == .plus
            try advance()
            guard case .number(let text) = token.kind else { throw noDistance() }
            digits = text
        // The lexer takes a sign that stands before a digit with the number.
        case .number(let text) where text.hasPrefix("-") || text.hasPrefix("+"):
            isLater = text.hasPrefix("+")
            digits = String(text.dropFirst())
        default: return .beforeStart(seconds: 0)
        }
        guard let amount = Int64(digits), (0...Self.furthestSeconds).contains(amount) else { throw noDistance() }
        try advance()
        guard case .word(let word) = token.kind, let unit = Self.units[word.lowercased()] else { throw noDistance() }
        let (seconds, overflow) = amount.multipliedReportingOverflow(by: unit)
        guard !overflow, seconds <= Self.furthestSeconds else { throw noDistance() }
        try advance()
        return .beforeStart(seconds: isLater ? -seconds : seconds)
    }

    private func noDistance() -> TargetFilterError {
        error(
            "\(token.words) makes no distance from now of at most a hundred years",
            "write now - 7 days; units are seconds, minutes, hours, days and weeks"
        )
    }

    /// The units of a distance, in seconds.
    static let units: [String: Int64] = [
        "second": 1, "seconds": 1, "minute": 60, "minutes": 60, "hour": 3_600, "hours": 3_600, "day": 86_400,
        "days": 86_400, "week": 604_800, "weeks": 604_800,
    ]
}
