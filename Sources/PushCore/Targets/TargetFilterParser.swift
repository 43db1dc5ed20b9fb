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
