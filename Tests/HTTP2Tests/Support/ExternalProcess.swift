import Foundation
import Synchronization

/// An external program that the tests talk to; its output is read line by line.
///
/// It runs under a shell that kills the program when the shell's input ends, which happens however the tests end. (A
/// signal would not work: the program inherits a mask that blocks nearly all signals.)
final class ExternalProcess: Sendable {
    struct Output: Sendable {
        var lines: [String] = []
        var isComplete = false
    }

    let output = Observed(Output())
    private let process: Process
    private let lifeline: FileHandle
    /// One start at a time: a program that inherited another one's input pipe would keep it alive.
    private static let starting = Mutex(())

    private static let guardian = """
        "$@" </dev/null & child=$!
        exec >/dev/null 2>&1
        cat
        kill -KILL $child
        """

    /// Starts a program from Debian's usual folders.
    init(_ program: String, _ arguments: [String]) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.guardian, "guardian", try Self.find(program)] + arguments
        let (input, output) = try Self.starting.withLock { [process] _ in
            let pipes = (input: Pipe(), output: Pipe())
            for end in [pipes.input.fileHandleForWriting, pipes.output.fileHandleForReading] {
                _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
            }
            process.standardInput = pipes.input
            process.standardOutput = pipes.output
            process.standardError = pipes.output
            try process.run()
            return pipes
        }
        lifeline = input.fileHandleForWriting
        let handle = output.fileHandleForReading
        let lines = self.output
        Thread.detachNewThread { Self.read(handle, lines) }
    }

    deinit {
        terminate()
    }

    private static func find(_ program: String) throws -> String {
        let folders = ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        let found = folders.map { "\($0)/\(program)" }.first(where: FileManager.default.isExecutableFile(atPath:))
        guard let found else { throw Missing(program: program) }
        return found
    }

    private static func read(_ handle: FileHandle, _ output: Observed<Output>) {
        var rest: [UInt8] = []
        while true {
            let data = handle.availableData
            if data.isEmpty { break }
            rest.append(contentsOf: data)
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeSubrange(...end)
                output.update { $0.lines.append(line) }
            }
        }
        let last = String(decoding: rest, as: UTF8.self)
        output.update {
            if !last.isEmpty { $0.lines.append(last) }
            $0.isComplete = true
        }
    }

    /// Waits for the first line that begins with a word, and returns the rest of it.
    func line(_ word: String) async throws -> String {
        let seen = try await output.wait(for: "a line \"\(word) …\"") { output in
            output.isComplete || output.lines.contains { $0.hasPrefix(word + " ") }
        }
        guard let line = seen.lines.first(where: { $0.hasPrefix(word + " ") }) else {
            throw NotSeen(what: "a line \"\(word) …\"", last: seen.lines.joined(separator: "\n"))
        }
        return String(line.dropFirst(word.count + 1))
    }

    /// Waits for the end of the program, and returns its whole output.
    func end() async throws -> [String] {
        try await output.wait(for: "the end of the program") { $0.isComplete }.lines
    }

    /// Ends the program if it is still running.
    func terminate() {
        try? lifeline.close()
    }

    /// Runs a program to completion.
    static func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try find(program))
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try starting.withLock { _ in try process.run() }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(program: program, status: process.terminationStatus) }
    }

    struct Missing: Error, CustomStringConvertible {
        var program: String
        var description: String { "\(program) is not installed: Deploy/test installs what the tests need" }
    }

    struct Failed: Error, CustomStringConvertible {
        var program: String
        var status: Int32
        var description: String { "\(program) ended with status \(status)" }
    }
}
