/// How many columns of a terminal texts take: two for Chinese, Japanese and Korean characters and for emoji, none for marks that
/// stand on others.
package enum DisplayWidth {
    /// The columns of a text without control characters.
    package static func of(_ text: String) -> Int {
        // Nearly all texts are ASCII, whose bytes are their columns.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// The columns of a character.
    package static func of(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.isASCII { return character.unicodeScalars.contains("\u{FE0F}") ? 2 : 1 }
        if isMark(first) { return 0 }
        return isWide(first) || character.unicodeScalars.contains("\u{FE0F}") ? 2 : 1
    }

    /// At most so many columns of a text, the last an ellipsis where something was cut off.
    package static func cut(_ text: String, to columns: Int) -> String {
        // Bytes are never fewer than columns.
        guard text.utf8.count > columns, of(text) > columns else { return text }
        guard columns > 0 else { return "" }
        var shown = ""
        var used = 0
        for character in text {
            let width = of(character)
            guard used + width < columns else { break }
            shown.append(character)
            used += width
        }
        return shown + "…"
    }

    /// A text with blanks behind it, or before it, so that it takes so many columns.
    package static func padded(_ text: String, to columns: Int, alignsRight: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, columns - of(text)))
        return alignsRight ? blanks + text : text + blanks
    }

    /// A text as lines of at most so many columns, broken at blanks; what is longer than a line is broken anywhere.
    package static func wrapped(_ text: String, to columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in text.split(separator: " ").flatMap({ pieces(String($0), columns) }) {
            let width = of(word)
            if used > 0, used + 1 + width > columns {
                lines.append(line)
                (line, used) = ("", 0)
            }
            if used > 0 {
                line += " "
                used += 1
            }
            line += word
            used += width
        }
        if used > 0 { lines.append(line) }
        return lines
    }

    private static func pieces(_ word: String, _ columns: Int) -> [String] {
        guard of(word) > columns else { return [word] }
        var pieces = [""]
        var used = 0
        for character in word {
            let width = of(character)
            if used > 0, used + width > columns {
                pieces.append("")
                used = 0
            }
            pieces[pieces.count - 1].append(character)
            used += width
        }
        return pieces
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) }
    }

    /// The blocks whose characters are wide or full-width by Unicode's EastAsianWidth.txt; the unassigned ones among them are taken
    /// as wide, as that file says.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x1B000...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]
}
