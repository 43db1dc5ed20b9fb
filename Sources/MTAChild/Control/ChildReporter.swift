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
        let seen = sender.snapshot
        let counters = seen.counters
        var status = ChildStatus(
            pid: getpid(),
            generation: arguments.generation,
            state: state(seen)
        )
        status.partsHeld = seen.partCount
        status.inFlight = seen.window.unresolved
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
            window: seen.window.most,
            cpuSeconds: ProcessFigures.cpu()
        )
        output.write(LineEncoder.line(ChildMessage(status)))
    }

    private func state(_ seen: DispatchSnapshot) -> ChildState {
        if control.isDraining { return .draining }
        if seen.admission.isProbingGateway { return .probing }
        let holdsParts = seen.partCount > 0
        if !sender.lastTrouble.isEmpty || holdsParts && !seen.admission.isLeaseValid { return .stalled }
        return holdsParts ? .sending : .idle
    }

    func heartbeat(exited: Bool) async {
        let gateway = await sender.gateway?.status()
        let queued = gateway?.queued ?? 0
        let seen = sender.snapshot
        let (counters, parts, window) = (seen.counters, seen.partCount, seen.window)
        let (limit, current) = sender.load(queuedInGateway: queued)
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
        heartbeat.rate = rate(counters.resolved)
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
