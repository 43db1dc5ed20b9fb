/// Counts the stored properties of the types in a file's code (comments dropped, string literals empty).
///
/// A scanner of words and brackets, no parser: a `let` or `var` directly in a type's body is stored, unless it is static or a block
/// that is no observer follows its type. Both branches of an `#if` count.
struct StoredPropertyCounter {
    /// A type that the file defines, with the names of those around it.
    struct CountedType: Equatable {
        let name: String
        var count: Int
    }

    private enum Scope: Equatable {
        /// The index of a type in ``types``.
        case type(Int)
        /// An extension or a protocol: it stores nothing, but types in it may.
        case namespace(String)
        /// A function, a closure, an accessor, or round and square brackets.
        case other
    }

    private enum Token: Equatable {
        case word(String)
        case sign(UInt8)
        case newLine
    }

    private(set) var types: [CountedType] = []
    private let tokens: [Token]
    private var scopes: [Scope] = []

    init(code: String) {
        tokens = Self.tokens(of: code)
        count()
    }

    private static func tokens(of code: String) -> [Token] {
        var tokens: [Token] = []
        var word: [UInt8] = []
        for byte in code.utf8 {
            let isWord =
                byte == UInt8(ascii: "_") || byte >= 128 || (48...57).contains(byte) || (65...90).contains(byte)
                || (97...122).contains(byte)
            if isWord {
                word.append(byte)
                continue
            }
            if !word.isEmpty { tokens.append(.word(String(decoding: word, as: UTF8.self))) }
            word.removeAll(keepingCapacity: true)
            if byte == UInt8(ascii: "\n") {
                tokens.append(.newLine)
            } else if byte != UInt8(ascii: " ") {
                tokens.append(.sign(byte))
            }
        }
        if !word.isEmpty { tokens.append(.word(String(decoding: word, as: UTF8.self))) }
        return tokens
    }

    private mutating func count() {
        var pending: Scope?
        var index = 0
        while index < tokens.count {
            switch tokens[index] {
            case .word(let word):
                if let scope = declaration(word, at: index) { pending = scope }
                if word == "let" || word == "var", case .type(let type)? = scopes.last, !isStatic(index) {
                    types[type].count += stored(after: index)
                }
            case .sign(UInt8(ascii: "{")):
                scopes.append(pending ?? .other)
                pending = nil
            case .sign(UInt8(ascii: "(")), .sign(UInt8(ascii: "[")): scopes.append(.other)
            case .sign(UInt8(ascii: "}")), .sign(UInt8(ascii: ")")), .sign(UInt8(ascii: "]")): _ = scopes.popLast()
            case .sign, .newLine: break
            }
            index += 1
        }
    }

    /// What the next block is the body of, if a word begins the head of a type.
    private mutating func declaration(_ word: String, at index: Int) -> Scope? {
        guard ["struct", "class", "actor", "enum", "extension", "protocol"].contains(word), index + 1 < tokens.count,
            case .word(let name) = tokens[index + 1], !["func", "var", "let", "subscript"].contains(name)
        else { return nil }
        // A member or an argument that has such a name.
        if index > 0, tokens[index - 1] == .sign(UInt8(ascii: ".")) { return nil }
        if word == "extension" || word == "protocol" { return .namespace(name) }
        let outer = scopes.compactMap { scope in
            switch scope {
            case .type(let type): types[type].name.split(separator: ".").last.map(String.init)
            case .namespace(let name): name
            case .other: nil
            }
        }
        types.append(CountedType(name: (outer + [name]).joined(separator: "."), count: 0))
        return .type(types.count - 1)
    }

    /// Whether the property belongs to the type itself: its modifiers stand on its own line, or on the one above.
    private func isStatic(_ index: Int) -> Bool {
        var before = index - 1
        while before >= 0, case .word(let word) = tokens[before] {
            if word == "static" || word == "class" { return true }
            before -= 1
        }
        return false
    }

    /// How many stored properties a `let` or `var` declares: none if it is computed, several if names are separated by commas.
    private func stored(after keyword: Int) -> Int {
        var depth = 0
        var names = 1
        var hasValue = false
        var index = keyword + 1
        // `let (a, b) = …`: a name a place.
        var isTuple = index < tokens.count && tokens[index] == .sign(UInt8(ascii: "("))
        while index < tokens.count {
            switch tokens[index] {
            case .sign(UInt8(ascii: "{")) where depth == 0 && !hasValue:
                return isObserver(index) ? names : 0
            case .sign(UInt8(ascii: "{")), .sign(UInt8(ascii: "(")), .sign(UInt8(ascii: "[")): depth += 1
            case .sign(UInt8(ascii: "}")), .sign(UInt8(ascii: ")")), .sign(UInt8(ascii: "]")):
                depth -= 1
                if depth < 0 { return names }
                // What follows is the tuple's type.
                if depth == 0 { isTuple = false }
            case .sign(UInt8(ascii: "=")) where depth == 0: hasValue = true
            case .sign(UInt8(ascii: ",")) where depth == 0 && startsName(index + 1): names += 1
            case .sign(UInt8(ascii: ",")) where depth == 1 && isTuple: names += 1
            case .newLine where depth == 0 && ends(index): return names
            case .word, .sign, .newLine: break
            }
            index += 1
        }
        return names
    }

    /// Whether a block has observers of a stored property, and not the accessors of a computed one.
    private func isObserver(_ brace: Int) -> Bool {
        let first = tokens[(brace + 1)...].first { $0 != .newLine }
        return first == .word("didSet") || first == .word("willSet")
    }

    /// Whether another name follows a comma, and not an argument of a generic type.
    private func startsName(_ index: Int) -> Bool {
        guard index + 1 < tokens.count, case .word = tokens[index] else { return false }
        return tokens[index + 1] == .sign(UInt8(ascii: ":")) || tokens[index + 1] == .sign(UInt8(ascii: "="))
    }

    /// Whether a declaration ends with its line: it goes on after a colon, an equals sign, or before a block or a value.
    private func ends(_ newLine: Int) -> Bool {
        let open = [UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: "&"), UInt8(ascii: ">")]
        if case .sign(let last) = tokens[newLine - 1], open.contains(last) {
            // `Set<Int>` at the end of a line is whole; `->` is not.
            if last != UInt8(ascii: ">") || tokens[newLine - 2] == .sign(UInt8(ascii: "-")) { return false }
        }
        let next = tokens[newLine...].first { $0 != .newLine }
        let continued = [UInt8(ascii: "{"), UInt8(ascii: "="), UInt8(ascii: "?"), UInt8(ascii: ":")]
        if case .sign(let sign)? = next { return !continued.contains(sign) }
        return true
    }
}
