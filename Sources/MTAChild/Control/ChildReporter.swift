import Foundation
import Gateways
import Logging
import OperatingSystem
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Reports the child's state each second: a line on standard output and a row in `mta_child`.
final class ChildReporter: Sendable {
    private struct Last {
        var gateway = GatewayStatus()
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

    /// Writes lines until the task is cancelled, even if the database does not answer.
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

    /// Updates the gateway's figures for the lines, which must not wait for them, until the task is cancelled.
    func watchGateway() async {
        while !Task.isCancelled {
            await lookAtGateway()
            try? await Task.sleep(for: .seconds(1))
        }
    }

    private func lookAtGateway() async {
        let gateway = await sender.gateway?.status() ?? GatewayStatus()
        last.withLock { $0.gateway = gateway }
    }

    func writeLine(exitReason: ChildExitReason?) {
        let figures = ChildFigures(
            messages: sender.snapshot.counters.outcomes.all,
            gateway: sender.measures.latencies.withLock(\.all),
            waits: sender.measures.waits.withLock(\.self),
            database: sender.measures.database.withLock(\.self),
            cpuSeconds: ProcessFigures.cpu()
        )
        let status = ChildStatus(
            generation: arguments.generation,
            report: report(),
            exitReason: exitReason,
            figures: figures
        )
        output.write(LineEncoder.line(ChildMessage(status)))
    }

    func heartbeat(exited: Bool) async {
        await lookAtGateway()
        measureRate()
        var report = report()
        if exited {
            report.state = .exited
            report.connections.limitedBy = nil
        }
        do {
            try await store.recordChildReport(report, child: arguments.childID)
        } catch {
            if !Task.isCancelled { logger.failure("the child's row could not be updated", of: error) }
        }
    }

    private func report() -> ChildReport {
        let seen = sender.snapshot
        let (gateway, rate) = last.withLock { ($0.gateway, $0.rate) }
        let (limit, current) = sender.load(queuedInGateway: gateway.queued)
        var report = ChildReport(pid: getpid(), state: state(seen))
        report.deliveryID = current?.deliveryID
        report.partID = current?.id
        report.partsHeld = seen.partCount
        report.inFlight = seen.window.unresolved
        report.connections.open = Int32(clamping: gateway.connections)
        report.connections.wanted = Int32(clamping: gateway.wanted)
        report.connections.reason = gateway.reason
        report.connections.limit = Int32(clamping: gateway.maximum)
        report.connections.streamsInFlight = Int32(clamping: gateway.streamsInFlight)
        report.connections.dispatchWindow = Int32(clamping: seen.window.size)
        report.connections.dispatchWindowLimit = Int32(clamping: seen.window.ceiling)
        report.connections.limitedBy = limit
        report.counts = seen.counters.counts
        report.progress = seen.counters.progress
        report.rate = rate
        (report.latencyP50Milliseconds, report.latencyP99Milliseconds) = sender.measures.latencies.withLock {
            ($0.percentile(50), $0.percentile(99))
        }
        report.residentBytes = Machine.residentBytes()
        report.journalLength = sender.journalLength
        report.lastError = sender.lastError
        return report
    }

    private func state(_ seen: DispatchSnapshot) -> ChildState {
        if control.isDraining { return .draining }
        if seen.admission.isProbingGateway { return .probing }
        let holdsParts = seen.partCount > 0
        if !sender.lastTrouble.isEmpty || holdsParts && !seen.admission.isLeaseValid { return .stalled }
        return holdsParts ? .sending : .idle
    }

    /// Messages a second since the last call.
    private func measureRate() {
        let resolved = sender.snapshot.counters.counts.resolved
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
    }
}
