import Foundation
import Synchronization

/// Standard output, for results.
package enum StandardOutput {
    /// Writes a line at once, also to a file or a pipe, so that a program waiting for it sees it.
    ///
    /// If the reader has gone or the disk is full, the line is lost, but the process goes on. Terminal control
    /// characters are escaped; JSON has them escaped already.
    ///
    /// - Parameter facts: the named facts of the line, for `--json`.
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

    /// From now on, lines are kept instead of written.
    static func gather() {
        gathered.withLock { $0 = Gathered() }
    }

    /// Writes what was kept as one object: the facts under their names, and the lines as `messages`. A later fact
    /// replaces an earlier one of the same name. If the command failed before its first line, nothing is written.
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

    /// Writes a line as ``line(_:)`` does. Returns whether it was written, for callers that continue only while there
    /// is a reader.
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
