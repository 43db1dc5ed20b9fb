/// A source file, split into code and string literals; comments are dropped.
struct SourceFile {
    let target: String
    let path: String
    let text: String
    /// The code, without comments and with empty string literals, line for line.
    let code: String
    /// The contents of string literals, one per line.
    let literals: String

    init(target: String, path: String, text: String) {
        self.target = target
        self.path = path
        self.text = text
        var splitter = SourceSplitter(Array(text.utf8))
        splitter.split()
        code = String(decoding: splitter.code, as: UTF8.self)
        literals = String(decoding: splitter.literals, as: UTF8.self)
    }

    /// The number of lines.
    var lineCount: Int { text.utf8.count { $0 == UInt8(ascii: "\n") } }

    /// The words that begin with a capital letter, as the names of types do.
    var capitalisedWords: Set<String> {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        let words = code.utf8.split { byte in
            switch byte {
            case capitals, UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"):
                false
            default: true
            }
        }
        var found: Set<String> = []
        for word in words {
            if let first = word.first, capitals.contains(first) { found.insert(String(Substring(word))) }
        }
        return found
    }

    /// The modules that the file imports.
    var imports: [String] {
        code.split(separator: "\n").compactMap { line in
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let keyword = words.firstIndex(of: "import"), words.count > keyword + 1 else { return nil }
            let isImport = words[..<keyword].allSatisfy {
                $0.hasPrefix("@") || ["public", "package", "internal", "private"].contains($0)
            }
            let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
            let module =
                kinds.contains(words[keyword + 1]) && words.count > keyword + 2
                ? words[keyword + 2] : words[keyword + 1]
            return isImport ? module.split(separator: ".").first.map(String.init) : nil
        }
    }
}
