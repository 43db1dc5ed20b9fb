/// Makes reasons from outside storable.
package enum ReasonText {
    /// Longer reasons are cut to this many bytes; the longest documented one has 31.
    static let maxBytes = 200

    /// The text cut to a storable length. NUL bytes, which PostgreSQL does not store, are left out, and control
    /// characters, which would move a terminal's cursor, are replaced.
    package static func storable(_ text: String) -> String {
        if text.utf8.count <= maxBytes, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        var result = ""
        for character in text where character != "\0" {
            let shown = shown(character)
            if result.utf8.count + shown.utf8.count > maxBytes { break }
            result.append(shown)
        }
        return result
    }

    /// Replaces control characters by their pictures; in a log, ESC would begin a sequence that a terminal obeys.
    private static func shown(_ character: Character) -> Character {
        guard let scalar = character.unicodeScalars.first, scalar.properties.generalCategory == .control else {
            return character
        }
        // U+2400 is the picture of NUL, and the others follow in order. DEL has its own; characters from U+0080 on have
        // none.
        if scalar.value < 0x20 { return Character(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}") }
        return scalar.value == 0x7F ? "\u{2421}" : "\u{FFFD}"
    }
}
