import Foundation
import PushCore
import Synchronization

/// Texts of others as a terminal may show them: names, reasons and what processes say must not move its cursor, clear it or pretend to be lines
/// of ours.
package enum TerminalText {
    /// One line: control characters are written as JSON writes them, such as `\u001b`, and line ends too.
    package static func line(_ text: String) -> String {
        escaped(text) { $0.isControl || $0.isLineSeparator }
    }

    /// The same with its own line ends and tabs.
    package static func lines(_ text: String) -> String {
        escaped(text) { $0.isControl && $0 != "\n" && $0 != "\t" }
    }

    /// At most so many characters, the last an ellipsis where something was cut off.
    package static func cut(_ text: String, to most: Int) -> String {
        // Bytes are counted without a look at the text, and are as many as the characters or more.
        guard text.utf8.count > most, text.count > most else { return text }
        return text.prefix(max(most - 1, 0)) + "…"
    }

    /// A control character as an escape of JSON.
    package static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            let hex = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
        }
    }

    private static func escaped(_ text: String, _ isUnfit: (Unicode.Scalar) -> Bool) -> String {
        guard mayHaveUnfit(text), text.unicodeScalars.contains(where: isUnfit) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if isUnfit(scalar) { shown += escape(scalar) } else { shown.unicodeScalars.append(scalar) }
        }
        return shown
    }

    /// Whether a text needs a closer look. Its bytes say so at once: those below the blank, DEL, and the leads of U+0080 and U+2000
    /// upwards in UTF-8. Tables of megabytes come by here.
    private static func mayHaveUnfit(_ text: String) -> Bool {
        text.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 || $0 == 0xE2 }
    }
}

/// Standard output, for results.
package enum StandardOutput {
    /// Writes a line at once, also into a file or a pipe, so that a program that waits for it sees it.
    ///
    /// A reader that is gone or a full disk loses the line and not the process. What a terminal would obey is written as an escape;
    /// JSON has such characters as escapes already.
    ///
    /// - Parameter facts: what it is about, by name, for `--json`.
    package static func line(_ text: String, _ facts: [(String, Cell)] = []) {
        let isGathered = gathered.withLock { gathered in
            gathered?.messages.append(text)
            gathered?.facts += facts
            return gathered != nil
        }
        if !isGathered { _ = hasWritten(text) }
    }

    /// What is written as one object at the end.
    private struct Gathered {
        var messages: [String] = []
        var facts: [(String, Cell)] = []
    }

    private static let gathered = Mutex<Gathered?>(nil)

    /// From now on lines are kept.
    static func gather() {
        gathered.withLock { $0 = Gathered() }
    }

    /// Writes what was kept as an object: facts under their names, a later one of a name in the place of an earlier, and
    /// the lines as `messages`. Of a command that failed before it said anything nothing is written.
    static func writeGathered(isWhole: Bool) {
        let taken = gathered.withLock { gathered in
            defer { gathered = nil }
            return gathered
        }
        guard let taken, isWhole || !taken.messages.isEmpty else { return }
        var facts: [(String, Cell)] = []
        for fact in taken.facts { facts = facts.filter { $0.0 != fact.0 } + [fact] }
        let messages = Cell.list(taken.messages.flatMap { $0.split(separator: "\n").map { Cell.text(String($0)) } })
        _ = hasWritten(Cell.object(facts + [("messages", messages)]).json)
    }

    /// Writes a line as ``line(_:)`` does; says whether it was written, for who goes on only as long as there is a reader.
    package static func hasWritten(_ text: String) -> Bool {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((TerminalText.lines(text) + "\n").utf8))
            return true
        } catch {
            return false
        }
    }

    /// Whether standard output is a terminal.
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}

/// Standard error, for messages to people.
package enum StandardError {
    /// Writes `text` at once. What a terminal would obey is written as an escape.
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(TerminalText.lines(text).utf8))
    }

    /// Writes `text` over the line in which the terminal's cursor is.
    package static func rewrite(_ text: String) {
        // The escape clears what a longer line left behind.
        try? FileHandle.standardError.write(contentsOf: Data("\r\(TerminalText.line(text))\u{1B}[K".utf8))
    }

    /// Writes lines over the last `count` ones, in one piece so that nothing flickers.
    package static func rewrite(_ lines: [String], over count: Int) {
        // The escapes go up to the first of the old lines, and clear all below.
        let start = count > 0 ? "\u{1B}[\(count)A\r\u{1B}[J" : ""
        let text = lines.map { TerminalText.line($0) + "\n" }.joined()
        try? FileHandle.standardError.write(contentsOf: Data((start + text).utf8))
    }
}

extension StandardError {
    /// Whether standard error is a terminal.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The columns and lines of the terminal that standard error is; nil where it is none, or does not know them.
    package static var size: (columns: Int, lines: Int)? {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}
