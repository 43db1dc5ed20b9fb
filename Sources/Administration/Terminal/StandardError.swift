import Foundation

/// Standard error, for messages to people.
package enum StandardError {
    /// Writes `text` at once. Terminal control characters are escaped.
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(TerminalText.lines(text).utf8))
    }

    /// Replaces the current line of the terminal with `text`.
    package static func rewrite(_ text: String) {
        // The escape clears what remains of a longer line.
        try? FileHandle.standardError.write(contentsOf: Data("\r\(TerminalText.line(text))\u{1B}[K".utf8))
    }

    /// Replaces the last `count` lines in one write, so that nothing flickers.
    package static func rewrite(_ lines: [String], over count: Int) {
        // The escapes move up to the first of the old lines, and clear everything below.
        let start = count > 0 ? "\u{1B}[\(count)A\r\u{1B}[J" : ""
        let text = lines.map { TerminalText.line($0) + "\n" }.joined()
        try? FileHandle.standardError.write(contentsOf: Data((start + text).utf8))
    }
}

extension StandardError {
    /// Whether standard error is a terminal.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The columns and lines of the terminal on standard error; nil if it is not a terminal, or does not report them.
    package static var size: (columns: Int, lines: Int)? {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}
