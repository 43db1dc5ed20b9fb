/// The number of terminal columns that a text takes: two for Chinese, Japanese and Korean characters and for emoji,
/// none for combining marks.
package enum DisplayWidth {
    /// The columns of a text without control characters.
    package static func of(_ text: String) -> Int {
        // Nearly all texts are ASCII, where bytes equal columns.
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

    /// Cuts a text to at most `columns` columns. If something was cut off, the last one is an ellipsis.
    package static func cut(_ text: String, to columns: Int) -> String {
        // A text never has more columns than bytes.
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

    /// Pads a text with blanks, on the right or on the left, to `columns` columns.
    package static func padded(_ text: String, to columns: Int, alignsRight: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, columns - of(text)))
        return alignsRight ? blanks + text : text + blanks
    }

    /// Breaks a text at blanks into lines of at most `columns` columns. A word longer than a line is broken anywhere.
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

    /// The blocks of wide or full-width characters in Unicode's EastAsianWidth.txt. Unassigned code points among them
    /// count as wide, as that file says.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x1B000...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]
}
