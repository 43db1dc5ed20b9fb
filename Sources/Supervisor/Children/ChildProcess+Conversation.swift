import ProcessProtocol
import Subprocess
import Synchronization

extension ChildProcess {
    typealias Running = Execution<CustomWriteInput, SequenceOutput, SequenceOutput>

    /// Exchanges messages with the process until both its outputs have ended, at the latest when it dies.
    func converse(with execution: Running, _ reader: ChildOutputReader) async {
        await withTaskGroup { group in
            group.addTask { await write(to: execution) }
            group.addTask { await signal(execution) }
            async let output: Void = Self.copy(execution.standardOutput, to: reader.output)
            async let error: Void = Self.copy(execution.standardError, to: reader.error)
            _ = await (output, error)
            group.cancelAll()
        }
        await endSilentProcess(execution)
    }

    /// Ends a process that has closed its outputs but has not exited, as it can no longer be watched.
    ///
    /// The first signal is harmless to a process that is exiting, the usual reason for closed outputs.
    private func endSilentProcess(_ execution: Running) async {
        await execution.teardown(using: [
            .send(signal: .resume, allowedDurationToNextStep: launch.drainTime),
            .send(signal: .terminate, allowedDurationToNextStep: launch.killDelay),
        ])
    }

    private static func copy(_ output: SubprocessOutputSequence, to take: @Sendable ([UInt8]) -> Void) async {
        do {
            for try await buffer in output {
                take(buffer.withUnsafeBytes { [UInt8]($0) })
            }
        } catch {
            // A pipe that cannot be read has ended; the exit of the process says the rest.
        }
        take([])
    }

    private func write(to execution: Running) async {
        for await message in inbox.commands {
            do {
                _ = try await execution.standardInputWriter.write(LineEncoder.line(message))
            } catch {
                // The child has closed its standard input or is gone; its exit says why.
                return
            }
        }
    }

    private func signal(_ execution: Running) async {
        for await number in inbox.signals {
            // A process that is already gone needs no signal.
            try? execution.send(signal: Signal(rawValue: number))
        }
    }
}

/// Reads a child's output: status lines from its standard output, log lines from its standard error.
final class ChildOutputReader: Sendable {
    private let words = Mutex(StderrTail())
    private let parser = Mutex(LineParser<ChildMessage>())
    private let heard: @Sendable (ChildStatus) -> Void
    private let traced: @Sendable (TraceReport) -> Void
    private let forward: @Sendable ([UInt8]) -> Void

    init(
        heard: @escaping @Sendable (ChildStatus) -> Void,
        traced: @escaping @Sendable (TraceReport) -> Void,
        forward: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.heard = heard
        self.traced = traced
        self.forward = forward
    }

    /// Takes the next bytes of standard output; an empty array is its end.
    func output(_ bytes: [UInt8]) {
        let messages = parser.withLock { parser in
            if bytes.isEmpty { parser.finish() }
            return parser.parse(bytes)
        }
        for message in messages {
            if let status = message.status { heard(status) }
            if let trace = message.trace { traced(trace) }
        }
    }

    /// Takes the next bytes of standard error; an empty array is its end.
    func error(_ bytes: [UInt8]) {
        let lines = words.withLock { $0.append(bytes) + (bytes.isEmpty ? $0.finish() : []) }
        if !lines.isEmpty { forward(lines) }
    }

    /// The result after the process has ended.
    func result(_ termination: ChildTermination) -> ChildProcess.Result {
        let (garbage, last) = parser.withLock { ($0.garbageLines, $0.lastGarbage) }
        return ChildProcess.Result(
            termination: termination,
            stderrTail: words.withLock(\.text),
            garbageLines: garbage,
            lastGarbage: last
        )
    }
}

/// The last lines on a process's standard error, recorded when it dies.
struct StderrTail: Sendable, Equatable {
    /// The maximum number of lines kept: enough for a crash of the Swift runtime with its head line and first frames.
    static let maxLines = 20
    /// The maximum number of bytes kept of a line.
    static let maxLineLength = 400

    private var lines: [String] = []
    private var partial: [UInt8] = []

    /// Takes the next bytes and returns the lines they complete, with newlines, ready to be passed on.
    mutating func append(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var complete: [UInt8] = []
        for byte in bytes {
            partial.append(byte)
            // A line without an end is passed on in pieces, which bounds the memory it takes.
            if byte == UInt8(ascii: "\n") || partial.count == 8_192 {
                complete += partial
                endLine()
            }
        }
        return complete
    }

    /// Ends the pipe and returns the rest of an unfinished line.
    mutating func finish() -> [UInt8] {
        guard !partial.isEmpty else { return [] }
        let rest = partial + [UInt8(ascii: "\n")]
        endLine()
        return rest
    }

    private mutating func endLine() {
        let line = String(decoding: partial.prefix(Self.maxLineLength), as: UTF8.self)
        let printable = line.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) }
        let text = String(printable).trimmedAtEnd
        partial.removeAll(keepingCapacity: true)
        if text.isEmpty { return }
        lines.append(text)
        if lines.count > Self.maxLines { lines.removeFirst() }
    }

    /// The kept lines, joined by newlines.
    var text: String { lines.joined(separator: "\n") }
}

extension String {
    /// The string without the blanks at its end.
    fileprivate var trimmedAtEnd: String {
        var rest = self[...]
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
