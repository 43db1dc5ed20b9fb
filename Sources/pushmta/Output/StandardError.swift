import Foundation

/// Standard error, for messages to people.
enum StandardError {
    /// Writes `text` at once.
    static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

extension StandardError {
    /// Whether standard error is a terminal.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}
