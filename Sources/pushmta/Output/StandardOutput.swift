import Foundation

/// Standard output, for results.
enum StandardOutput {
    /// Writes a line at once, also into a file or a pipe, so that a program that waits for it sees it.
    ///
    /// A reader that is gone or a full disk loses the line and not the process. What a terminal would obey is written as an escape;
    /// JSON has such characters as escapes already.
    static func line(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((TerminalText.lines(text) + "\n").utf8))
    }

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}
