import ProcessProtocol
import Synchronization

/// The traces that people of this host have open: who gets what children tell, and what children are asked for.
///
/// Nobody here waits for anybody: lines that their reader does not take in time are dropped and counted.
final class TraceDesk: Sendable {
    /// A trace that somebody has open.
    private struct Trace {
        let request: TraceRequest
        let lines: AsyncStream<TraceLine>.Continuation
        /// Lines that found no room since the last that did.
        var missed: Int64 = 0
    }

    private struct State {
        var last: Int64 = 0
        var traces: [Int64: Trace] = [:]
    }

    /// Two seconds' worth of the most that one child shows.
    private static let mostWaiting = 2 * TraceLimits.mostPerSecond

    private let state = Mutex(State())

    /// Opens a trace; nil if there are as many as may be.
    ///
    /// - Returns: what children are to be asked for, and what comes of it, until the trace is closed.
    func open(_ request: TraceRequest) -> (order: TraceOrder, lines: AsyncStream<TraceLine>)? {
        state.withLock { state in
            guard state.traces.count < TraceLimits.mostTraces else { return nil }
            let (stream, continuation) = AsyncStream.makeStream(
                of: TraceLine.self,
                bufferingPolicy: .bufferingOldest(Self.mostWaiting)
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

    /// What a child of an application is to be asked for.
    func orders(ofApplication id: Int32) -> [TraceOrder] {
        state.withLock { state in
            state.traces.filter { $0.value.request.applicationID == id }.map {
                TraceOrder(id: $0.key, $0.value.request)
            }
            .sorted { $0.id < $1.id }
        }
    }

    /// A child has told something of a trace.
    func heard(_ report: TraceReport, from child: Int64?) {
        say(TraceLine(child: child, report), to: report.trace)
    }

    /// Something is to be told to whoever has a trace open.
    func say(_ line: TraceLine, to id: Int64) {
        state.withLock { state in
            guard let trace = state.traces[id] else { return }
            var line = line
            if trace.missed > 0 { line.missed = trace.missed }
            switch trace.lines.yield(line) {
            case .enqueued: state.traces[id]?.missed = 0
            // Counts come again with the next line.
            case .dropped: state.traces[id]?.missed += line.exchange == nil ? 0 : 1
            default: break
            }
        }
    }
}
