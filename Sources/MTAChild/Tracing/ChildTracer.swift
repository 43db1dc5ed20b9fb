import Foundation
import Gateways
import OperatingSystem
import ProcessProtocol
import Synchronization

/// Shows people what this child has on the wire, as its supervisor asks for it.
///
/// On the event loop a sample is copied, no more; a thread of its own takes secrets out, masks it and writes it, since a pipe that nobody
/// reads must not hold up the sending. What the thread has not come to when there is no room any more is lost, and counted.
final class ChildTracer: GatewayTracer {
    /// A sample that waits to be written.
    private enum Item: Sendable {
        case exchange(CopiedExchange, traces: [Int64], at: Int64)
        case report(TraceReport)
    }

    private struct State {
        var sampler = TraceSampler(at: .now)
        var waiting: [Item] = []
        var isWriting = false
    }

    /// Two seconds' worth of the most that is sampled: some 2 MB of payloads.
    private static let mostWaiting = 2 * TraceLimits.mostPerSecond

    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)
    private let output: ChildOutput

    init(output: ChildOutput) {
        self.output = output
    }

    /// Begins, renews or ends a trace.
    ///
    /// - Parameters:
    ///   - gateway: what it is to look at; nil while there is none.
    ///   - problem: why nothing can be shown of it, if so.
    func obey(_ order: TraceOrder, of gateway: (any Gateway)?, problem: String) {
        // The gateway is told behind the same lock, so that what is told last is so.
        let (counts, isShown) = state.withLock { state in
            let counts = state.sampler.obey(order, at: .now)
            return (counts, gateway?.trace(with: state.sampler.running.isEmpty ? nil : self) ?? true)
        }
        guard order.seconds > 0 else { return }
        let notice: String? = counts == nil ? "this child shows \(TraceLimits.mostTraces) traces already" : nil
        put(
            .report(
                TraceReport(trace: order.id, counts: counts ?? TraceCounts(), notice: isShown ? notice : problem)
            )
        )
    }

    /// Looks at nothing any more if the time of all traces is over.
    func expire(of gateway: (any Gateway)?) {
        state.withLock { state in
            guard !state.sampler.running.isEmpty else { return }
            state.sampler.expire(at: .now)
            if state.sampler.running.isEmpty { _ = gateway?.trace(with: nil) }
        }
    }

    // MARK: On the event loop

    func choose(from count: Int, ofDelivery id: Int64, token: (Int) -> ArraySlice<UInt8>) -> [Int32: [Int64]] {
        state.withLock { $0.sampler.choose(from: count, ofDelivery: id, token: token, at: .now) }
    }

    func saw(_ exchange: CopiedExchange, for traces: [Int64]) {
        put(.exchange(exchange, traces: traces, at: Int64(Date().timeIntervalSince1970 * 1_000)))
    }

    // MARK: The thread

    private func put(_ item: Item) {
        let isFirst = state.withLock { state in
            guard state.waiting.count < Self.mostWaiting else {
                if case .exchange(_, let traces, _) = item { for trace in traces { state.sampler.lost(trace) } }
                return false
            }
            state.waiting.append(item)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if isFirst {
            do {
                try DetachedThread.start { [self] in write() }
            } catch {
                // The machine has no thread left: nothing is shown, and the next sample tries again.
                return state.withLock { state in
                    state.isWriting = false
                    state.waiting.removeAll()
                }
            }
        }
        signal.signal()
    }

    private func write() {
        while true {
            signal.wait()
            let items = state.withLock { state in
                defer { state.waiting.removeAll(keepingCapacity: true) }
                return state.waiting
            }
            for item in items { write(item) }
        }
    }

    private func write(_ item: Item) {
        switch item {
        case .report(let report): output.write(LineEncoder.line(ChildMessage(report)))
        case .exchange(let copy, let traces, let at):
            // A trace that has ended meanwhile shows nothing more.
            let wanted = traces.compactMap { trace in running(trace).map { (trace, $0.counts, $0.isUnmasked) } }
            guard !wanted.isEmpty else { return }
            let exchange = copy.withoutSecrets
            for (trace, counts, isUnmasked) in wanted {
                let shown = TracedExchange(exchange, at: at, TraceMask(showsAll: isUnmasked))
                let line = LineEncoder.line(ChildMessage(TraceReport(trace: trace, counts: counts, exchange: shown)))
                if line.count <= TraceLimits.longestLine {
                    output.write(line)
                } else {
                    state.withLock { $0.sampler.lost(trace) }
                }
            }
        }
    }

    private func running(_ trace: Int64) -> (counts: TraceCounts, isUnmasked: Bool)? {
        state.withLock { state in
            state.sampler.counts(trace).map { ($0, state.sampler.isUnmasked(trace)) }
        }
    }
}

extension TracedExchange {
    /// What people may see of an exchange.
    init(_ exchange: GatewayExchange, at: Int64, _ mask: TraceMask) {
        let masked = mask.masked(exchange)
        self.init(
            at: at,
            delivery: exchange.deliveryID,
            tokenHash: exchange.tokenHash,
            request: Part(headers: Self.fields(masked.requestFields), body: masked.requestBody),
            latencyMicroseconds: exchange.latencyMicroseconds
        )
        failure = exchange.failure
        if failure == nil {
            answer = Part(headers: Self.fields(masked.answerFields), body: masked.answerBody)
        }
    }

    private static func fields(_ fields: [WireField]) -> [Field] {
        fields.map { Field(name: $0.name, value: $0.value) }
    }
}

/// The child's standard output: whole lines, whoever writes.
final class ChildOutput: Sendable {
    private let file: Mutex<FileHandle>

    init(_ file: sending FileHandle = .standardOutput) {
        self.file = Mutex(file)
    }

    /// Writes a line with its newline.
    func write(_ line: [UInt8]) {
        // A supervisor that is gone does not read: the end of standard input tells the child, not this.
        file.withLock { try? $0.write(contentsOf: Data(line)) }
    }
}
