import ProcessProtocol
import Subprocess
import Synchronization

extension ChildProcess {
    typealias Running = Execution<CustomWriteInput, SequenceOutput, SequenceOutput>

    /// Talks with the process until both its outputs have ended, which they do at its death at the latest.
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

    /// Ends a process that has closed its outputs and lives on, as nobody would hear of it any more.
    ///
    /// The first signal does nothing to a process on its way to the exit, which is what closed outputs mean as a rule.
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
            // A pipe that cannot be read has ended for us; the process is heard of through its exit.
        }
        take([])
    }

    private func write(to execution: Running) async {
        for await message in inbox.commands {
            do {
                _ = try await execution.standardInputWriter.write(LineEncoder.line(message))
            } catch {
                // The child has closed its standard input or is gone; its exit says what happened.
                return
            }
        }
    }

    private func signal(_ execution: Running) async {
        for await number in inbox.signals {
            // A process that is gone already needs no signal.
            try? execution.send(signal: Signal(rawValue: number))
        }
    }
}

/// Takes what a child writes: status lines from its standard output, log lines from its standard error.
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

    /// All that is known when the process is gone.
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

/// The last lines that a process wrote to its standard error, for the day it dies.
struct StderrTail: Sendable, Equatable {
    /// The most lines that are kept: a crash of the Swift runtime with its head line and first frames.
    static let maximumLines = 20
    /// The most bytes of one line that are kept.
    static let maximumLineLength = 400

    private var lines: [String] = []
    private var partial: [UInt8] = []

    /// Takes the next bytes and returns the lines that they complete, newline included, ready to be passed on whole.
    mutating func append(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var complete: [UInt8] = []
        for byte in bytes {
            partial.append(byte)
            // A line that does not end is passed on in pieces, so that it costs no memory.
            if byte == UInt8(ascii: "\n") || partial.count == 8_192 {
                complete += partial
                endLine()
            }
        }
        return complete
    }

    /// Says that the pipe has ended, and returns what was left of an unfinished line.
    mutating func finish() -> [UInt8] {
        guard !partial.isEmpty else { return [] }
        let rest = partial + [UInt8(ascii: "\n")]
        endLine()
        return rest
    }

    private mutating func endLine() {
        let line = String(decoding: partial.prefix(Self.maximumLineLength), as: UTF8.self)
        let printable = line.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) }
        let text = String(printable).trimmedAtEnd
        partial.removeAll(keepingCapacity: true)
        if text.isEmpty { return }
        lines.append(text)
        if lines.count > Self.maximumLines { lines.removeFirst() }
    }

    /// The kept lines, one below the other.
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
