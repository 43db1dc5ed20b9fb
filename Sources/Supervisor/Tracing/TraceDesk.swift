import ProcessProtocol
import Synchronization

/// The open traces of this host's users: which client gets which report, and what children are asked for.
///
/// Nothing waits here: lines that a client does not read in time are dropped and counted.
final class TraceDesk: Sendable {
    /// An open trace.
    private struct Trace {
        let request: TraceRequest
        let lines: AsyncStream<TraceLine>.Continuation
        /// Lines dropped since the last one that was queued.
        var missed: Int64 = 0
    }

    private struct State {
        var last: Int64 = 0
        var traces: [Int64: Trace] = [:]
    }

    /// The maximum that one child shows in two seconds.
    private static let maxWaiting = 2 * TraceLimits.maxPerSecond

    private let state = Mutex(State())

    /// Opens a trace; nil if the maximum is reached.
    ///
    /// - Returns: the order for the children, and the lines of the trace until it is closed.
    func open(_ request: TraceRequest) -> (order: TraceOrder, lines: AsyncStream<TraceLine>)? {
        state.withLock { state in
            guard state.traces.count < TraceLimits.maxTraces else { return nil }
            let (stream, continuation) = AsyncStream.makeStream(
                of: TraceLine.self,
                bufferingPolicy: .bufferingOldest(Self.maxWaiting)
            )
            state.last += 1
            state.traces[state.last] = Trace(request: request, lines: continuation)
            return (TraceOrder(id: state.last, request), stream)
        }
    }

    /// Closes a trace; its lines end.
    func close(_ id: Int64) {
        state.withLock { $0.traces.removeValue(forKey: id) }?.lines.finish()
    }

    /// The orders for a child of an application.
    func orders(ofApplication id: Int32) -> [TraceOrder] {
        state.withLock { state in
            state.traces.filter { $0.value.request.applicationID == id }.map {
                TraceOrder(id: $0.key, $0.value.request)
            }
            .sorted { $0.id < $1.id }
        }
    }

    /// Passes on a child's report.
    func heard(_ report: TraceReport, from child: Int64?) {
        say(TraceLine(child: child, report), to: report.trace)
    }

    /// Sends a line to the client of a trace.
    func say(_ line: TraceLine, to id: Int64) {
        state.withLock { state in
            guard let trace = state.traces[id] else { return }
            var line = line
            if trace.missed > 0 { line.missed = trace.missed }
            switch trace.lines.yield(line) {
            case .enqueued: state.traces[id]?.missed = 0
            // The next line has the counts again, so only an exchange counts as missed.
            case .dropped: state.traces[id]?.missed += line.exchange == nil ? 0 : 1
            default: break
            }
        }
    }
}
