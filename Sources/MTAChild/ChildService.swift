import Foundation
import Gateways
import Logging
import OperatingSystem
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// The working life of a child, from the open gateway to the last outcome.
struct ChildService: Sendable {
    let child: MTAChild
    let sender: Sender
    let preparer: PartPreparer
    let stores: ChildStores
    let clock: DatabaseClock
    let losses: ConnectionLosses
    let conversation: ChildConversation

    private var control: ChildControl { child.control }
    private var arguments: ChildArguments { child.arguments }
    private var settings: ChildSettings { child.settings.mta.child }
    private var logger: Logger { child.logger }
    private let loading = LoadingParts()
    private let tracer: ChildTracer

    init(
        child: MTAChild,
        sender: Sender,
        preparer: PartPreparer,
        stores: ChildStores,
        clock: DatabaseClock,
        losses: ConnectionLosses,
        conversation: ChildConversation
    ) {
        self.child = child
        self.sender = sender
        self.preparer = preparer
        self.stores = stores
        self.clock = clock
        self.losses = losses
        self.conversation = conversation
        tracer = ChildTracer(output: conversation.output)
    }

    /// - Parameter state: the application's circuit and its gateway's trouble. While the circuit is open, or the
    ///   gateway is in trouble, this child sends a probe if one is due.
    func run(_ state: SendingState) async -> ChildExitReason {
        let leases = LeaseRenewal(
            store: stores.outcomes,
            sender: sender,
            loading: loading,
            childID: arguments.childID,
            settings: child.settings.mta.lease,
            logger: logger
        )
        let reporter = ChildReporter(
            arguments: arguments,
            store: stores.control,
            sender: sender,
            control: control,
            output: conversation.output,
            logger: logger
        )
        let watcher = ControlWatcher(
            store: stores.control,
            sender: sender,
            loading: loading,
            control: control,
            applicationID: arguments.applicationID,
            accountID: arguments.accountID,
            project: sender.gateway?.project,
            logger: logger
        )
        let claimer = Claimer(
            store: stores.load,
            preparer: preparer,
            sender: sender,
            loading: loading,
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
            Task { await reporter.heartbeat() },
            Task { await reporter.watchGateway() },
            Task { await child.health(stores.control).run(sender) },
            Task { await obey(watcher, claimer) },
            Task { await watch() },
            Task { await RateSharing(sender: sender, store: stores.control, logger: logger).run() },
        ]
        if state.isCircuitOpen {
            await probe(claimer)
        } else if state.trouble == .trouble {
            // Another child probes, or no probe is due: this child has nothing to do.
            if await !probesTrouble() { control.drain(.gatewayTrouble) }
        } else {
            sender.perform(.troubleSeen(DispatchState.TroubleSeen(state.trouble)))
        }
        background.append(Task { await watcher.run() })
        background.append(Task { await stayInTrouble(claimer) })
        await claim(claimer)
        let isResolved = await resolve()
        sender.stop()
        if isResolved {
            await marking.value
            await storing.value
        } else {
            // They wait for the database; the journal keeps what the database does not have.
            marking.cancel()
            storing.cancel()
        }
        for task in background { task.cancel() }
        let reason = isResolved || control.reason == .journal ? control.reason ?? .drained : .database
        await withTimeout(MTAChild.timeout) { [stores, arguments] in
            await sender.database.reported()
            await reporter.heartbeat(exited: true)
            try? await stores.outcomes.childExited(
                arguments.childID,
                reason: reason.rawValue,
                saidByItself: true
            )
        }
        reporter.writeLine(exitReason: reason)
        return reason
    }

    /// Claims the part of a due probe; without one, this child has nothing to do.
    private func probe(_ claimer: Claimer) async {
        do {
            if try await claimer.claimProbe() { return }
            logger.notice("the circuit of the application is open, and no probe is due")
            control.drain(.circuitOpen)
        } catch {
            logger.failure("the probe could not be claimed", of: error)
            control.drain(.database)
        }
    }

    /// How often a child checks whether it is the prober.
    private static let proberInterval = Duration.milliseconds(500)

    /// Probes the gateway while it is in trouble, if no other child of any host does. A child that waits instead stays,
    /// and the watcher reports the end of the trouble to it.
    private func stayInTrouble(_ claimer: Claimer) async {
        while !Task.isCancelled {
            let isWaiting = sender.snapshot.admission.trouble == .left && !sender.database.troubleReport.isUnderWay
            if isWaiting, !control.isDraining { _ = await probesTrouble() }
            if sender.snapshot.admission.isProbingGateway {
                await GatewayProber(
                    sender: sender,
                    store: stores.control,
                    claimer: claimer,
                    control: control,
                    arguments: (arguments.applicationID, arguments.accountID, arguments.childID),
                    logger: logger
                ).run()
            }
            try? await Task.sleep(for: Self.proberInterval)
        }
    }

    /// Takes the right to probe a gateway in trouble, if it is free.
    private func probesTrouble() async -> Bool {
        do {
            let isMine = try await stores.control.claimProber(
                application: arguments.applicationID,
                account: arguments.accountID,
                child: arguments.childID,
                lease: Prober.lease
            )
            if isMine { sender.perform(.becameProber) }
            return isMine
        } catch {
            if !Task.isCancelled { logger.failure("the right to probe the gateway could not be claimed", of: error) }
            return false
        }
    }

    /// Claims until the child drains; then slow claims and loads are cancelled.
    private func claim(_ claimer: Claimer) async {
        let task = Task { await claimer.run() }
        let watcher = Task {
            while !control.isDraining {
                guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return }
            }
            try? await Task.sleep(for: MTAChild.timeout)
            task.cancel()
            loading.giveUp { _, _ in true }
        }
        await task.value
        // Statements that an unreachable database does not answer end with their connection; the leases then expire.
        await withTimeout(MTAChild.timeout * 2) { [loading] in await loading.ended() }
        watcher.cancel()
    }

    /// How long an ending child that waits only for the database stays; its journal has the rest.
    private static let maxWaitForDatabase = Duration.seconds(5)

    /// How often a child in fast shutdown recalls the messages that wait in the gateway.
    private static let fastShutdownInterval = Duration.seconds(1)

    /// Waits until nothing is held any more. After the drain time, or at once if the gateway takes nothing, everything
    /// that is not on the wire is given back.
    /// - Returns: false if the database did not accept the last outcomes.
    private func resolve() async -> Bool {
        let end = ContinuousClock.now + .seconds(settings.drainTimeoutSec)
        sender.perform(.drain)
        var isFast = false
        var fastSince = ContinuousClock.now
        var stored = sender.storedSoFar
        var lastStored = ContinuousClock.now
        while !sender.isIdle {
            let now = ContinuousClock.now
            if !isFast, control.isShuttingDownFast || !sender.isGatewayWell || now >= end {
                isFast = true
                fastSince = now
                sender.perform(.fastShutdown)
            } else if isFast, now - fastSince >= Self.fastShutdownInterval {
                // Messages submitted at the same moment have missed the first recall.
                fastSince = now
                sender.perform(.fastShutdown)
            }
            if !isFast || sender.snapshot.window.inGateway > 0 || stored != sender.storedSoFar {
                stored = sender.storedSoFar
                lastStored = now
            } else if now - lastStored >= Self.maxWaitForDatabase {
                logger.critical("the database does not accept the last outcomes: they stay in the journal")
                return false
            }
            await sender.signals.idle.wait(timeout: .milliseconds(100))
        }
        return true
    }

    private func obey(_ watcher: ControlWatcher, _ claimer: Claimer) async {
        for await input in conversation.commands {
            switch input {
            case .command(.wake, let detail, _):
                if detail == SupervisorMessage.resumeDetail {
                    logger.notice("the application is resumed: retrying at once")
                    claimer.forgetTroubles()
                    sender.gateway?.retryNow()
                }
                // A new message changes no delivery's state.
                if detail == SupervisorMessage.messageDetail {
                    claimer.messagesCame()
                } else {
                    sender.signals.claim.fire()
                    watcher.signal.fire()
                }
            case .command(.leaveWhenDone, _, _): claimer.leaveWhenDone()
            case .command(.drain, _, _): control.drain(.drained)
            case .command(.fastShutdown, _, _): control.fastShutdown(.drained)
            case .command(.trace, _, let order):
                if let order { tracer.obey(order, of: sender.gateway) }
            case .ended: control.drain(.supervisorGone)
            }
            if control.isDraining { sender.signals.claim.fire() }
        }
    }

    /// Checks once a second whether the child has served long enough, and sets its clock by the database's.
    private func watch() async {
        let recycling = RecyclingPolicy(settings: settings)
        let started = ContinuousClock.now
        var lastBusy = started
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            let now = ContinuousClock.now
            tracer.expire(of: sender.gateway)
            // A prober holds no part between its probes.
            let seen = sender.snapshot
            let isIdle = seen.partCount == 0 && !seen.admission.isProbingGateway && loading.count == 0
            if !isIdle { lastBusy = now }
            let reason = recycling.reason(
                resolved: seen.counters.counts.resolved,
                age: now - started,
                idle: now - lastBusy,
                residentBytes: Machine.residentBytes(),
                isGatewayWell: sender.isGatewayWell
            )
            if let reason, !control.isDraining {
                logger.debug(
                    """
                    the child has served long enough: \(reason.rawValue), \
                    after \(seen.counters.counts.resolved) messages and \((now - started).components.seconds) s
                    """
                )
                control.drain(reason)
                sender.signals.claim.fire()
            }
            // Each second, because the database's clock may be changed; validity and waiting times follow the new time.
            let asked = ContinuousClock.now
            if let time = try? await stores.outcomes.databaseClock() { clock.set(time, askedAt: asked) }
        }
    }
}

/// The channel between a child and its supervisor.
struct ChildConversation: Sendable {
    /// The supervisor's commands since the child's start.
    let commands: AsyncStream<CommandReader.Input>
    /// The output for the child's lines.
    let output: ChildOutput
}

/// When a child has served long enough: by count, age, idle time and memory.
struct RecyclingPolicy: Sendable {
    var settings: ChildSettings

    /// - Parameters:
    ///   - age: the time since the process started.
    ///   - idle: the time since the child last held a part.
    ///   - isGatewayWell: whether the gateway takes messages. A child that waits for it stays, because a new one would
    ///     start the pauses between connection attempts from the beginning. If account or credential change, the
    ///     supervisor notices and replaces the child.
    func reason(
        resolved: Int64,
        age: Duration,
        idle: Duration,
        residentBytes: Int64,
        isGatewayWell: Bool = true
    ) -> ChildExitReason? {
        if resolved >= Int64(settings.maxMsgPerChild) { return .messageLimit }
        if residentBytes > Int64(settings.maxWorkingSetMb) * 1_024 * 1_024 { return .memoryLimit }
        guard isGatewayWell else { return nil }
        if age >= .seconds(settings.maxAgeSec) { return .ageLimit }
        if idle >= .seconds(settings.idleChildTimeoutSec) { return .idle }
        return nil
    }
}
