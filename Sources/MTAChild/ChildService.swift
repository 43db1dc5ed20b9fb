import Gateways
import Logging
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// The working life of a child, from the open gateway to the last outcome.
struct ChildService: Sendable {
    let child: MTAChild
    let sender: Sender
    let preparer: PartPreparer
    let loadStore: Store
    let settleStore: Store
    let clock: DatabaseClock
    let losses: ConnectionLosses

    private var control: ChildControl { child.control }
    private var arguments: ChildArguments { child.arguments }
    private var settings: ChildSettings { child.settings.mta.child }
    private var logger: Logger { child.logger }

    /// - Parameter isProbing: the application's circuit is open: this child sends a probe, if one is due.
    func run(isProbing: Bool) async -> ChildExitReason {
        let leases = LeaseKeeper(
            store: settleStore,
            sender: sender,
            childID: arguments.childID,
            settings: child.settings.mta.lease,
            logger: logger
        )
        let reporter = ChildReporter(
            arguments: arguments,
            store: loadStore,
            sender: sender,
            control: control,
            logger: logger
        )
        let watcher = ControlWatcher(
            store: loadStore,
            sender: sender,
            control: control,
            applicationID: arguments.applicationID,
            logger: logger
        )
        let claimer = Claimer(
            store: loadStore,
            preparer: preparer,
            sender: sender,
            leases: leases,
            control: control,
            losses: losses,
            watchSignal: watcher.signal,
            clock: clock,
            arguments: arguments,
            settings: settings,
            logger: logger
        )
        let marking = Task { await sender.markLoop() }
        let storing = Task { await sender.storeLoop() }
        var background = [
            Task { await leases.run() },
            Task { await reporter.writeLines() },
            Task { await reporter.beat() },
            Task { await child.health(loadStore).run(sender) },
            Task { await obey(CommandReader.start(), watcher, claimer) },
            Task { await watch() },
        ]
        if isProbing { await probe(claimer) }
        background.append(Task { await watcher.run() })
        await claim(claimer)
        let isSettled = await settle()
        sender.stop()
        if isSettled {
            await marking.value
            await storing.value
        } else {
            // They wait for the database; the journal keeps what it does not have.
            marking.cancel()
            storing.cancel()
        }
        for task in background { task.cancel() }
        let reason = isSettled || control.reason == .journal ? control.reason ?? .drained : .database
        await MTAChild.atMost(MTAChild.patience) { [settleStore, arguments] in
            await sender.circuit.settled()
            await sender.holder.settled()
            await reporter.beat(exited: true)
            try? await settleStore.childExited(
                arguments.childID,
                reason: reason.rawValue,
                saidByItself: true
            )
        }
        reporter.writeLine(exitReason: reason)
        return reason
    }

    /// Claims the part of a due probe; without one there is nothing to do for this child.
    private func probe(_ claimer: Claimer) async {
        do {
            if try await claimer.claimProbe() { return }
            logger.notice("the circuit of the application is open, and no probe is due")
            control.drain(.circuitOpen)
        } catch {
            logger.warning("the probe could not be claimed: \(error)")
            control.drain(.database)
        }
    }

    /// Claims until the child drains; a claim that waits for the database is given up then.
    private func claim(_ claimer: Claimer) async {
        let task = Task { await claimer.run() }
        let watcher = Task {
            while !control.isDraining {
                guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return }
            }
            try? await Task.sleep(for: MTAChild.patience)
            task.cancel()
        }
        await task.value
        watcher.cancel()
    }

    /// A child that is to end and lacks nothing but the database's answers leaves after so long: its journal has the rest.
    private static let longestWaitForDatabase = Duration.seconds(5)

    /// So often a child that hurries asks the gateway again for what waits there.
    private static let hurryInterval = Duration.seconds(1)

    /// Waits until nothing is held any more; after the drain time, or at once when the gateway takes nothing, what is not on
    /// the wire is given back.
    /// - Returns: false if the database did not take the last of it.
    private func settle() async -> Bool {
        let end = ContinuousClock.now + .seconds(settings.drainTimeoutSec)
        var hasHurried = false
        var hurriedAt = ContinuousClock.now
        var stored = sender.storedSoFar
        var lastStored = ContinuousClock.now
        while !sender.isIdle {
            let now = ContinuousClock.now
            if !hasHurried, control.isHurrying || !sender.isGatewayWell || now >= end {
                hasHurried = true
                hurriedAt = now
                sender.perform(.hurry)
            } else if hasHurried, now - hurriedAt >= Self.hurryInterval {
                // What was submitted at the same moment has missed the first.
                hurriedAt = now
                sender.perform(.hurry)
            }
            if !hasHurried || sender.desk.withLock({ $0.inGateway > 0 }) || stored != sender.storedSoFar {
                stored = sender.storedSoFar
                lastStored = now
            } else if now - lastStored >= Self.longestWaitForDatabase {
                logger.critical("the database does not take the last outcomes: they stay in the journal")
                return false
            }
            await sender.idleSignal.wait(atMost: .milliseconds(100))
        }
        return true
    }

    private func obey(
        _ commands: AsyncStream<CommandReader.Input>,
        _ watcher: ControlWatcher,
        _ claimer: Claimer
    ) async {
        for await input in commands {
            switch input {
            case .command(.wake, let detail):
                if detail == SupervisorMessage.resumeDetail {
                    logger.notice("the application is resumed: what it waits for is tried again at once")
                    claimer.forgetTroubles()
                    sender.gateway?.retryNow()
                }
                sender.claimSignal.fire()
                // A message changes no delivery's state.
                if detail != SupervisorMessage.messageDetail { watcher.signal.fire() }
            case .command(.drain, _): control.drain(.drained)
            case .command(.hurry, _): control.hurry(.drained)
            case .command(.reload, _): preparer.forget()
            case .ended: control.drain(.supervisorGone)
            }
            if control.isDraining { sender.claimSignal.fire() }
        }
    }

    /// Looks once a second whether the child has served long enough, and sets the clock by the database's now and then.
    private func watch() async {
        let recycling = RecyclingPolicy(settings: settings)
        let started = ContinuousClock.now
        var lastBusy = started
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            let now = ContinuousClock.now
            let (isIdle, counters) = sender.desk.withLock { ($0.parts.isEmpty, $0.counters) }
            if !isIdle { lastBusy = now }
            let reason = recycling.reason(
                settled: counters.sent + counters.failed + counters.retried,
                age: now - started,
                idle: now - lastBusy,
                residentBytes: ResidentMemory.bytes,
                isGatewayWell: sender.isGatewayWell
            )
            if let reason, !control.isDraining {
                control.drain(reason)
                sender.claimSignal.fire()
            }
            // Each second, as that clock may be set: then validity and waiting times are judged by the new one.
            let asked = ContinuousClock.now
            if let time = try? await settleStore.databaseClock() { clock.set(time, askedAt: asked) }
        }
    }
}
