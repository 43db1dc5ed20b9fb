import ProcessProtocol
import Synchronization

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
