/// A type that a file declares outside of any other declaration.
struct TopLevelType: Equatable {
    /// Which files may use it.
    enum Visibility {
        case file, target, package
    }

    let name: String
    let visibility: Visibility
    /// The number of lines from its keyword to its closing brace.
    let lines: Int

    /// The types in a file's code. Extensions declare none, and types inside others do not count.
    static func all(in code: String) -> [TopLevelType] {
        var types: [TopLevelType] = []
        var begun: (name: String, visibility: Visibility, line: Int)?
        var depth = 0
        for (number, line) in code.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if depth == 0, begun == nil, let (name, visibility) = declaration(line) {
                begun = (name, visibility, number)
            }
            for byte in line.utf8 {
                if byte == UInt8(ascii: "{") { depth += 1 }
                guard byte == UInt8(ascii: "}") else { continue }
                depth -= 1
                guard depth == 0, let type = begun else { continue }
                types.append(TopLevelType(name: type.name, visibility: type.visibility, lines: number - type.line + 1))
                begun = nil
            }
        }
        return types
    }

    /// What a line declares; nil unless it is a type.
    private static func declaration(_ line: Substring) -> (name: String, visibility: Visibility)? {
        var visibility = Visibility.target
        let words = line.split(whereSeparator: \.isWhitespace)
        for (place, word) in words.enumerated() {
            switch word {
            case "struct", "class", "enum", "protocol", "actor":
                guard place + 1 < words.count else { return nil }
                return (String(words[place + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }), visibility)
            case "private", "fileprivate": visibility = .file
            case "package", "public", "open": visibility = .package
            case "internal", "final", "indirect", "nonisolated": break
            default: if !word.hasPrefix("@") { return nil }
            }
        }
        return nil
    }
}
