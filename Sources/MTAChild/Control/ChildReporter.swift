import Foundation
import Gateways
import Logging
import OperatingSystem
import ProcessEvents
import ProcessProtocol
import Store
import Synchronization

/// Says how the child is doing: a line on standard output and a row in `mta_child`, each second.
final class ChildReporter: Sendable {
    private struct Last {
        var connections = 0
        var resolved: Int64 = 0
        var at = ContinuousClock.now
        var rate = 0.0
        var windowTurned = ContinuousClock.now
    }

    private let arguments: ChildArguments
    private let store: Store
    private let sender: Sender
    private let control: ChildControl
    private let output: ChildOutput
    private let logger: Logger
    private let last = Mutex(Last())

    init(
        arguments: ChildArguments,
        store: Store,
        sender: Sender,
        control: ChildControl,
        output: ChildOutput,
        logger: Logger
    ) {
        self.arguments = arguments
        self.store = store
        self.sender = sender
        self.control = control
        self.output = output
        self.logger = logger
    }

    /// Writes lines until the task is cancelled; a database that does not answer does not keep them back.
    func writeLines() async {
        while !Task.isCancelled {
            writeLine(exitReason: nil)
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Keeps the row in `mta_child` up to date until the task is cancelled.
    func heartbeat() async {
        while !Task.isCancelled {
            await heartbeat(exited: false)
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Keeps the number of connections fresh for the lines, which wait for nothing, until the task is cancelled.
    func watchConnections() async {
        while !Task.isCancelled {
            let connections = await sender.gateway?.status().connections ?? 0
            last.withLock { $0.connections = connections }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    func writeLine(exitReason: ChildExitReason?) {
        let (counters, parts, inFlight, window, isKeptBack, isProbing) = sender.dispatch.withLock { dispatch in
            (
                dispatch.counters, dispatch.parts.count, dispatch.window.unresolved, dispatch.window.most,
                !dispatch.permission.isLeaseValid, dispatch.isProbingTrouble
            )
        }
        var status = ChildStatus(
            pid: getpid(),
            generation: arguments.generation,
            state: state(parts, isKeptBack, isProbing)
        )
        status.partsHeld = parts
        status.inFlight = inFlight
        status.sent = counters.sent
        status.failed = counters.failed
        status.retried = counters.retried
        status.late = counters.late
        status.unknown = counters.unknown
        status.resent = counters.resentAfterAmbiguity
        status.residentBytes = Machine.residentBytes()
        status.progress = counters.progress
        status.exitReason = exitReason
        status.figures = ChildFigures(
            messages: counters.outcomes.all,
            gateway: sender.measures.latencies.withLock(\.all),
            waits: sender.measures.waits.withLock(\.self),
            database: sender.measures.database.withLock(\.self),
            connections: last.withLock(\.connections),
            window: window,
            cpuSeconds: ProcessFigures.cpu()
        )
        output.write(LineEncoder.line(ChildMessage(status)))
    }

    private func state(_ parts: Int, _ isKeptBack: Bool, _ isProbing: Bool) -> ChildState {
        if control.isDraining { return .draining }
        if isProbing { return .probing }
        if !sender.lastTrouble.isEmpty || parts > 0 && isKeptBack { return .stalled }
        return parts > 0 ? .sending : .idle
    }

    func heartbeat(exited: Bool) async {
        let gateway = await sender.gateway?.status()
        let queued = gateway?.queued ?? 0
        let (counters, parts, window, limit, current) = sender.dispatch.withLock { dispatch in
            (
                dispatch.counters, dispatch.parts.count, dispatch.window, dispatch.limit(queuedInGateway: queued),
                dispatch.parts.values.max { $0.inGateway < $1.inGateway }?.claimed
            )
        }
        let (p50, p99) = sender.measures.latencies.withLock { ($0.percentile(50), $0.percentile(99)) }
        var heartbeat = ChildHeartbeat(
            childID: arguments.childID,
            pid: getpid(),
            state: exited ? .exited : heartbeatState(parts)
        )
        heartbeat.deliveryID = current?.deliveryID
        heartbeat.partID = current?.id
        heartbeat.partsHeld = Int32(clamping: parts)
        heartbeat.connections = ChildConnections(
            open: Int32(clamping: gateway?.connections ?? 0),
            wanted: Int32(clamping: gateway?.wanted ?? 0),
            reason: gateway?.reason ?? "",
            streamsInFlight: Int32(clamping: gateway?.streamsInFlight ?? 0),
            dispatchWindow: Int32(clamping: window.most),
            most: ChildConnections.Most(
                connections: Int32(clamping: gateway?.most ?? 0),
                dispatchWindow: Int32(clamping: window.ceiling)
            ),
            limitedBy: exited ? nil : limit
        )
        heartbeat.sent = counters.sent
        heartbeat.failed = counters.failed
        heartbeat.retried = counters.retried
        heartbeat.unknown = counters.unknown
        heartbeat.resentAfterAmbiguity = counters.resentAfterAmbiguity
        heartbeat.lateOutcomes = counters.late
        heartbeat.rate = rate(counters.sent + counters.failed + counters.retried)
        heartbeat.latencyP50Milliseconds = p50
        heartbeat.latencyP99Milliseconds = p99
        heartbeat.residentBytes = Machine.residentBytes()
        heartbeat.journalLength = sender.journalLength
        heartbeat.lastError = sender.lastError
        do {
            try await store.recordChildHeartbeat(heartbeat)
        } catch {
            if !Task.isCancelled { logger.failure("the child's row could not be updated", of: error) }
        }
    }

    private func heartbeatState(_ parts: Int) -> ChildHeartbeat.State {
        if control.isDraining { return .draining }
        return parts > 0 ? .working : .idle
    }

    /// Messages a second since the last call.
    private func rate(_ resolved: Int64) -> Double {
        let now = ContinuousClock.now
        let turn = last.withLock { last in
            let seconds = (now - last.at) / .seconds(1)
            if seconds > 0.1 {
                last.rate = Double(resolved - last.resolved) / seconds
                last.resolved = resolved
                last.at = now
            }
            guard now - last.windowTurned >= .seconds(LatencyWindow.seconds) else { return false }
            last.windowTurned = now
            return true
        }
        if turn { sender.measures.latencies.withLock { $0.turn() } }
        return last.withLock { $0.rate }
    }
}
