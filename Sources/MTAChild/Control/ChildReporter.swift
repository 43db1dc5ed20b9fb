import Foundation
import Gateways
import Histogram
import Logging
import OperatingSystem
import ProcessProtocol
import Store
import Synchronization

/// Says how the child is doing: a line on standard output and a row in `mta_child`, each second.
final class ChildReporter: Sendable {
    private struct Last {
        var resolved: Int64 = 0
        var at = ContinuousClock.now
        var rate = 0.0
        var windowTurned = ContinuousClock.now
    }

    private let arguments: ChildArguments
    private let store: Store
    private let sender: Sender
    private let control: ChildControl
    private let logger: Logger
    private let last = Mutex(Last())

    init(arguments: ChildArguments, store: Store, sender: Sender, control: ChildControl, logger: Logger) {
        self.arguments = arguments
        self.store = store
        self.sender = sender
        self.control = control
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

    func writeLine(exitReason: ChildExitReason?) {
        let (counters, parts, inFlight, isKeptBack, isProbing) = sender.dispatch.withLock { dispatch in
            (
                dispatch.counters, dispatch.parts.count, dispatch.window.unresolved, !dispatch.permission.isLeaseValid,
                dispatch.isProbingTrouble
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
        // A supervisor that is gone does not read: the end of standard input tells the child, not this.
        try? FileHandle.standardOutput.write(contentsOf: Data(LineEncoder.line(ChildMessage(status))))
    }

    private func state(_ parts: Int, _ isKeptBack: Bool, _ isProbing: Bool) -> ChildState {
        if control.isDraining { return .draining }
        if isProbing { return .probing }
        if !sender.lastTrouble.isEmpty || parts > 0 && isKeptBack { return .stalled }
        return parts > 0 ? .sending : .idle
    }

    func heartbeat(exited: Bool) async {
        let (counters, parts, window, current) = sender.dispatch.withLock { dispatch in
            (
                dispatch.counters, dispatch.parts.count, dispatch.window.most,
                dispatch.parts.values.max { $0.inGateway < $1.inGateway }?.claimed
            )
        }
        let gateway = await sender.gateway?.status()
        let (p50, p99) = sender.latencies.withLock { ($0.percentile(50), $0.percentile(99)) }
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
            dispatchWindow: Int32(clamping: window)
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
        heartbeat.lastError = sender.lastError
        do {
            try await store.recordChildHeartbeat(heartbeat)
        } catch {
            if !Task.isCancelled { logger.warning("the child's row could not be updated: \(error)") }
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
        if turn { sender.latencies.withLock { $0.turn() } }
        return last.withLock { $0.rate }
    }
}

/// The gateway's latencies of the last seconds.
struct LatencyWindow: Sendable {
    /// Percentiles are of the last full window and what came since: fresh, and not jumpy.
    static let seconds: Int64 = 10
    /// An hour: no deadline is longer.
    private static let highest: UInt64 = 3_600_000_000

    private var current = Histogram<UInt32>(highestTrackableValue: highest, numberOfSignificantValueDigits: .two)
    private var last = Histogram<UInt32>(highestTrackableValue: highest, numberOfSignificantValueDigits: .two)

    mutating func record(_ microseconds: UInt32) {
        current.record(UInt64(microseconds))
    }

    /// Ends the window.
    mutating func turn() {
        swap(&current, &last)
        current.reset()
    }

    /// A percentile in milliseconds; 0 when there were no answers.
    func percentile(_ percent: Double) -> Double {
        let fuller = current.totalCount >= last.totalCount ? current : last
        return fuller.totalCount == 0 ? 0 : Double(fuller.valueAtPercentile(percent)) / 1_000
    }
}
