import Foundation

/// Standard error, for messages to people.
enum StandardError {
    /// Writes `text` at once. What a terminal would obey is written as an escape.
    static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(TerminalText.lines(text).utf8))
    }

    /// Writes `text` over the line in which the terminal's cursor is.
    static func rewrite(_ text: String) {
        // The escape clears what a longer line left behind.
        try? FileHandle.standardError.write(contentsOf: Data("\r\(TerminalText.line(text))\u{1B}[K".utf8))
    }
}

extension StandardError {
    /// Whether standard error is a terminal.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}
