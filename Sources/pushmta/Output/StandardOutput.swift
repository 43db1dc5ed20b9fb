import Foundation

/// Standard output, for results.
enum StandardOutput {
    /// Writes a line at once, also into a file or a pipe, so that a program that waits for it sees it.
    static func line(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}
