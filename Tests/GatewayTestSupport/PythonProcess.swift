import Foundation
import Synchronization

/// A Python script whose output is read line by line; it ends with the test that started it.
package final class PythonProcess: Sendable {
    package struct NotSeen: Error, CustomStringConvertible {
        package var description: String
    }

    private let process: Process
    private let output = Mutex<(text: String, isComplete: Bool)>(("", false))
    /// The end of standard input ends the script, however the tests end.
    private let lifeline: FileHandle

    private static let guardian = """
        import os, sys, threading
        def watch():
            sys.stdin.buffer.read()
            os._exit(0)
        threading.Thread(target=watch, daemon=True).start()

        """

    package init(_ script: String, _ arguments: [String]) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", Self.guardian + script] + arguments
        let (input, output) = (Pipe(), Pipe())
        for end in [input.fileHandleForWriting, output.fileHandleForReading] {
            _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        lifeline = input.fileHandleForWriting
        try process.run()
        let handle = output.fileHandleForReading
        Thread.detachNewThread { [self] in
            while true {
                let data = handle.availableData
                if data.isEmpty { break }
                self.output.withLock { $0.text += String(decoding: data, as: UTF8.self) }
            }
            self.output.withLock { $0.isComplete = true }
        }
    }

    /// Waits for a number of lines that begin with a word, and returns the rest of each. A separate thread reads a
    /// script's output, so lines printed before an answer may be read after it.
    package func lines(_ word: String, count: Int) async throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let (text, isComplete) = output.withLock { $0 }
            // Only complete lines: the last one may be cut.
            let whole = text[..<(text.lastIndex(of: "\n") ?? text.startIndex)]
            let found = whole.split(separator: "\n").filter { $0.hasPrefix(word + " ") }
            if found.count >= count { return found.map { String($0.dropFirst(word.count + 1)) } }
            if isComplete || ContinuousClock.now >= deadline {
                throw NotSeen(description: "\(found.count) of \(count) lines \"\(word) …\" in: \(text)")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Waits for the first line that begins with a word, and returns the rest of it.
    package func line(_ word: String) async throws -> String {
        try await lines(word, count: 1)[0]
    }

    package func terminate() {
        try? lifeline.close()
    }
}
