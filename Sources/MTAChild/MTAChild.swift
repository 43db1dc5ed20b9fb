import Foundation
import Gateways
import Logging
import NIOCore
import NIOPosix
import PostgresClient
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// One MTA child: claims parts of deliveries of one application, sends them through one connection set, stores outcomes.
///
/// The way of a part: claim → load and render → mark (committed) → intent (journaled) → gateway → answers (journaled) →
/// outcomes (stored, with the part's end). The next parts are prepared while these are on the wire. ``SendDesk`` decides,
/// ``Sender`` carries out, ``Claimer`` fetches, ``LeaseKeeper`` guards the right to send, ``ChildReporter`` tells.
///
/// A child drains and ends by itself when its standard input ends (the supervisor is gone), when it is told to, and when it
/// has served long enough (``RecyclingPolicy``).
public final class MTAChild: Sendable {
    private let arguments: ChildArguments
    private let settings: Settings
    private let logger: Logger
    private let control = ChildControl()

    public init(arguments: ChildArguments, settings: Settings, logger: Logger) {
        self.arguments = arguments
        self.settings = settings
        self.logger = logger
    }

    /// Claims nothing more, settles and stores what is held, then ends.
    public func drain() {
        control.drain(.drained)
    }

    /// Gives back what is not on the wire, settles and stores the rest, then ends.
    public func hurry() {
        control.hurry(.drained)
    }

    /// Runs until the child has ended; what went wrong at the start is in the log, which are its last words.
    /// - Returns: why it ended; the process exits with the reason's exit status.
    public func run() async -> ChildExitReason {
        let journal: ChildJournal
        do {
            let host = UUID(uuidString: arguments.hostID) ?? UUID()
            let header = JournalHeader(
                childID: arguments.childID,
                generation: Int64(arguments.generation),
                hostID: host
            )
            journal = try ChildJournal(path: arguments.journalFile, header: header)
        } catch {
            logger.critical("\(error)")
            return .journal
        }
        let loadStore: Store
        let settleStore: Store
        do {
            loadStore = try await connect("mta-child-load")
            settleStore = try await connect("mta-child")
        } catch {
            logger.critical("the child cannot work with the database: \(error)")
            return .database
        }
        let reason = await run(journal, loadStore, settleStore)
        await loadStore.close()
        await settleStore.close()
        return reason
    }

    private func connect(_ role: String) async throws -> Store {
        let name = PostgresApplicationName(role: role, host: ProcessInfo.processInfo.hostName, pid: getpid())
        return try await Store.connect(PostgresConfiguration(settings.database.url, applicationName: name))
    }

    private func run(_ journal: ChildJournal, _ loadStore: Store, _ settleStore: Store) async -> ChildExitReason {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { group.shutdownGracefully { _ in } }
        let eventLoop = group.next()
        let setup = ChildSetup(arguments: arguments, settings: settings, store: loadStore)
        do {
            let clock = DatabaseClock(try await settleStore.databaseClock())
            let application = try await loadStore.application(arguments.applicationID)
            let sender = Sender(
                desk: SendDesk(
                    window: settings.mta.child.dispatchWindow,
                    batchSize: settings.mta.child.outcomeBatchSize,
                    applicationID: arguments.applicationID
                ),
                store: settleStore,
                journal: journal,
                clock: clock,
                eventLoop: eventLoop,
                settings: settings.mta.child,
                logger: logger,
                onJournalFailure: { [control, logger] text in
                    logger.critical("\(text)")
                    control.hurry(.journal)
                }
            )
            let gateway = try await setup.gateway(application, clock: clock, eventLoop: eventLoop, delegate: sender)
            sender.gateway = gateway
            try await gateway.start()
            let preparer = PartPreparer(
                store: loadStore,
                application: application,
                connector: arguments.connector,
                clock: clock
            )
            let reason = await serve(sender, preparer, loadStore, settleStore, clock)
            await gateway.shutdown()
            if sender.needsNoJournal { journal.remove() }
            return reason
        } catch let error as PostgresError {
            logger.critical("the child cannot work with the database: \(error)")
            return .database
        } catch {
            logger.critical("the child cannot start: \(error)")
            await health(loadStore).show(
                "the messages of the application cannot be sent: \(error)",
                remedy: "put it right; `pushmta doctor` checks it"
            )
            return .settings
        }
    }

    private func serve(
        _ sender: Sender,
        _ preparer: PartPreparer,
        _ loadStore: Store,
        _ settleStore: Store,
        _ clock: DatabaseClock
    ) async -> ChildExitReason {
        let leases = LeaseKeeper(
            store: settleStore,
            sender: sender,
            childID: arguments.childID,
            settings: settings.mta.lease,
            logger: logger
        )
        let reporter = ChildReporter(
            arguments: arguments,
            store: loadStore,
            sender: sender,
            control: control,
            logger: logger
        )
        let claimer = Claimer(
            store: loadStore,
            preparer: preparer,
            sender: sender,
            leases: leases,
            control: control,
            arguments: arguments,
            settings: settings.mta.child,
            logger: logger
        )
        let commands = CommandReader.start()
        let marking = Task { await sender.markLoop() }
        let storing = Task { await sender.storeLoop() }
        let background = [
            Task { await leases.run() },
            Task { await reporter.writeLines() },
            Task { await reporter.beat() },
            Task { await self.health(loadStore).run(sender) },
            Task { await self.obey(commands, sender, preparer) },
            Task { await self.watch(sender, settleStore, clock) },
        ]
        await claim(claimer)
        await settle(sender)
        sender.stop()
        await marking.value
        await storing.value
        for task in background { task.cancel() }
        let reason = control.reason ?? .drained
        await Self.within(Self.patience) {
            await reporter.beat(exited: true)
            try? await settleStore.childExited(
                self.arguments.childID,
                reason: reason.rawValue,
                detail: "",
                lastWords: ""
            )
        }
        reporter.writeLine(exitReason: reason)
        return reason
    }

    /// What is only told and not needed may take this long at the end, while the database is away.
    private static let patience = Duration.seconds(2)

    /// Runs something, and cancels it after a time.
    private static func within(_ time: Duration, _ work: @escaping @Sendable () async -> Void) async {
        let task = Task { await work() }
        let timer = Task {
            if (try? await Task.sleep(for: time)) != nil { task.cancel() }
        }
        await task.value
        timer.cancel()
    }

    /// Claims until the child drains; a claim that waits for the database is given up then.
    private func claim(_ claimer: Claimer) async {
        let task = Task { await claimer.run() }
        let watcher = Task {
            while !control.isDraining {
                guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { return }
            }
            try? await Task.sleep(for: Self.patience)
            task.cancel()
        }
        await task.value
        watcher.cancel()
    }

    private func health(_ store: Store) -> HealthReporter {
        HealthReporter(
            store: store,
            applicationID: arguments.applicationID,
            accountID: arguments.accountID,
            logger: logger
        )
    }

    /// Waits until nothing is held any more; after the drain time, or at once when the gateway takes nothing, what is not on
    /// the wire is given back.
    private func settle(_ sender: Sender) async {
        let end = ContinuousClock.now + .seconds(settings.mta.child.drainTimeoutSec)
        var hasHurried = false
        while !sender.isIdle {
            if !hasHurried, control.isHurrying || !sender.isGatewayWell || ContinuousClock.now >= end {
                hasHurried = true
                sender.perform(.hurry)
            }
            await sender.idleSignal.wait(atMost: .milliseconds(100))
        }
    }

    private func obey(
        _ commands: AsyncStream<CommandReader.Input>,
        _ sender: Sender,
        _ preparer: PartPreparer
    ) async {
        for await input in commands {
            switch input {
            case .command(.wake): sender.claimSignal.fire()
            case .command(.drain): control.drain(.drained)
            case .command(.hurry): control.hurry(.drained)
            case .command(.reload): preparer.forget()
            case .ended: control.drain(.supervisorGone)
            }
            if control.isDraining { sender.claimSignal.fire() }
        }
    }

    /// So long a child whose gateway takes nothing waits before it makes room for one that reads account and credential anew.
    private static let longestTrouble = Duration.seconds(60)

    /// Looks once a second whether the child has served long enough, and sets the clock by the database's now and then.
    private func watch(_ sender: Sender, _ store: Store, _ clock: DatabaseClock) async {
        let recycling = RecyclingPolicy(settings: settings.mta.child)
        let started = ContinuousClock.now
        var lastBusy = started
        var lastClock = started
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            let now = ContinuousClock.now
            let (isIdle, counters) = sender.desk.withLock { ($0.parts.isEmpty, $0.counters) }
            if !isIdle { lastBusy = now }
            let reason = recycling.reason(
                settled: counters.sent + counters.failed + counters.retried,
                age: now - started,
                idle: now - lastBusy,
                residentBytes: ResidentMemory.bytes
            )
            // Account or credential may have been put right: the next child reads them anew.
            let isStale = sender.troubleSince.map { now - $0 >= Self.longestTrouble } ?? false
            if let reason = reason ?? (isStale ? .drained : nil), !control.isDraining {
                control.drain(reason)
                sender.claimSignal.fire()
            }
            // A minute's drift of a monotonic clock is far below a millisecond.
            if now - lastClock >= .seconds(60), let time = try? await store.databaseClock() {
                clock.set(time)
                lastClock = now
            }
        }
    }
}
