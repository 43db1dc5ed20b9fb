/// Separates a Swift or C file's code from its comments and string literals. The code keeps every line end.
struct SourceSplitter {
    private(set) var code: [UInt8] = []
    private(set) var literals: [UInt8] = []
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func split() {
        while position < bytes.count { step() }
    }

    private mutating func step() {
        // Most bytes begin nothing, and a closer look at each takes long.
        let byte = bytes[position]
        guard byte == UInt8(ascii: "/") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "\"") else {
            code.append(byte)
            position += 1
            return
        }
        if starts("//") {
            while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
        } else if starts("/*") {
            blockComment()
        } else if let quote = openingQuote() {
            code.append(contentsOf: Array("\"\"".utf8))
            literal(quote)
            literals.append(UInt8(ascii: "\n"))
        } else {
            code.append(byte)
            position += 1
        }
    }

    private func starts(_ text: String) -> Bool {
        bytes[position...].starts(with: text.utf8)
    }

    private mutating func blockComment() {
        var depth = 0
        repeat {
            if starts("/*") {
                depth += 1
                position += 2
            } else if starts("*/") {
                depth -= 1
                position += 2
            } else {
                keepLineEnd(at: position)
                position += 1
            }
        } while depth > 0 && position < bytes.count
    }

    /// The number of `#` and whether there are three quotes, if a string literal begins here.
    private func openingQuote() -> (hashes: Int, isLong: Bool)? {
        var index = position
        while index < bytes.count, bytes[index] == UInt8(ascii: "#") { index += 1 }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return nil }
        return (index - position, bytes[index...].starts(with: "\"\"\"".utf8))
    }

    private mutating func literal(_ quote: (hashes: Int, isLong: Bool)) {
        let hashes = String(repeating: "#", count: quote.hashes)
        let end = (quote.isLong ? "\"\"\"" : "\"") + hashes
        position += end.utf8.count
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\""), starts(end) { break }
            if byte != UInt8(ascii: "\\"), byte != UInt8(ascii: "\n") {
                literals.append(byte)
                position += 1
            } else if starts("\\\(hashes)(") {
                position += 2 + quote.hashes
                interpolation()
            } else if starts("\\" + hashes) {
                keepLineEnd(at: position + 1 + quote.hashes)
                position += 2 + quote.hashes
            } else if !quote.isLong, starts("\n") {
                return
            } else {
                keepLineEnd(at: position)
                literals.append(bytes[position])
                position += 1
            }
        }
        position += end.utf8.count
    }

    private mutating func keepLineEnd(at place: Int) {
        if place < bytes.count, bytes[place] == UInt8(ascii: "\n") { code.append(bytes[place]) }
    }

    /// An interpolation contains code.
    private mutating func interpolation() {
        var depth = 1
        while position < bytes.count, depth > 0 {
            if bytes[position] == UInt8(ascii: "(") { depth += 1 }
            if bytes[position] == UInt8(ascii: ")") { depth -= 1 }
            if depth > 0 { step() } else { position += 1 }
        }
        code.append(UInt8(ascii: " "))
    }
}
