import Logging
import OperatingSystem
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Feeds the plan with events and carries out its actions.
final class SupervisorLoop: Sendable {
    /// How often the plan gets a tick: fine enough for its pauses of seconds, and almost no work.
    static let tickInterval = Duration.milliseconds(250)

    let folder: HostFolder
    let executable: FilePath
    let analyst: DeliveryAnalyst
    let connect: Supervisor.Connect
    let logger: Logger
    let service: ServiceManager?
    let tell: @Sendable (SupervisorEvent) -> Void
    let settings: Mutex<SupervisorSettings>
    /// The lease settings from the start, for the children, even after a reload.
    let leaseOptions: [String]
    let events = DutyEvents()
    let registry = ChildRegistry()
    let condition = HostCondition()
    let stores = Mutex<HostStores?>(nil)
    /// The id of the system's boot, for the headers of journals.
    let bootID = BootID.current()
    /// The database's identity; "" until it is known.
    let installationID = Mutex("")
    /// Nil until the database has been reached.
    let recoveries = Mutex<JournalRecovery?>(nil)
    /// Children of this host that the last look at its rows found missing.
    let missingChildren = Mutex<Set<Int64>>([])
    /// Which warnings about expiring credentials were already logged.
    let credentialWatch = Mutex(CredentialWatch())
    /// When each application was last resumed, as of the last look; nil before the first.
    let resumptions = Mutex<[Int32: DatabaseTime]?>(nil)
    /// Decides how often to look for messages.
    let wakefulness = Mutex(Wakefulness())
    /// When children were last woken for new chunks.
    let wakeUps = Mutex(WakeUps())
    /// Kinds of children that may get a message at any moment.
    let standing = Mutex<Set<ChildKind>>([])

    init(
        _ supervisor: Supervisor,
        folder: HostFolder,
        executable: FilePath,
        tell: @escaping @Sendable (SupervisorEvent) -> Void
    ) {
        self.folder = folder
        self.executable = executable
        self.tell = tell
        connect = supervisor.connect
        analyst = supervisor.analyst
        logger = supervisor.logger
        service = supervisor.service
        settings = Mutex(supervisor.settings)
        leaseOptions = supervisor.settings.leaseOptions
    }

    /// Runs until the plan has finished, or the task is cancelled.
    func run(_ events: AsyncStream<SupervisorEvent>) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.tick() }
            group.addTask { await self.watchJournalDisk() }
            group.addTask { await self.lookAfterDatabase() }
            group.addTask { await self.serveMetrics() }
            group.addTask { await self.serveTraces() }
            var plan = SupervisorPlan(settings: settings.withLock(\.spawn))
            for await event in events {
                if case .reload(let new) = event { take(new) }
                noteFigures(event)
                let now = ContinuousClock.now
                let actions = plan.handle(event, at: now)
                condition.update(from: plan, at: now)
                for action in actions { perform(action, in: &group) }
                // Every tick is an event, so this reports progress only while the loop works.
                service?.progress()
                if plan.ending == .finished { break }
            }
            group.cancelAll()
            await recordStop()
            // A statement that waits for an unreachable server ends when its connection closes, not when its task is
            // cancelled.
            await closeStores()
        }
    }

    private func take(_ new: SupervisorSettings) {
        let waiting = settings.withLock { settings in
            defer { settings = new }
            return settings.waitingForRestart(in: new)
        }
        guard !waiting.isEmpty else { return }
        logger.warning(
            "These settings take effect only when the supervisor is restarted: \(waiting.joined(separator: ", "))"
        )
    }

    private func perform(_ action: SupervisorAction, in group: inout DiscardingTaskGroup) {
        switch action {
        case .spawn(let generation, let kind):
            let inbox = registry.add(generation, kind).inbox
            for order in registry.traces.orders(ofApplication: kind.applicationID) {
                inbox.send(SupervisorMessage(order))
            }
            group.addTask { await self.start(generation, kind, inbox) }
        case .command(let generation, let command, let detail):
            registry[generation]?.inbox.send(SupervisorMessage(command, detail: detail))
        case .signal(let generation, let number):
            registry[generation]?.inbox.send(signal: number)
        case .recover(let generation, let end):
            registry.totals.ended(generation, end.reason)
            group.addTask { await self.recover(generation, end) }
        case .log(let line): write(line)
        case .finish:
            break
        }
    }

    private func write(_ line: PlanLine) {
        guard let event = line.event else {
            return logger.log(level: line.level, "\(line.text)", metadata: line.metadata)
        }
        logger.event(event, "\(line.text)", level: line.level, line.metadata)
    }

    private func tick() async {
        var restart = DailyMoment()
        while !Task.isCancelled {
            tell(.tick)
            if restart.hasCome(TimeOfDay(settings.withLock(\.mta.master.processRestartTime)), at: .now()) {
                tell(.restartDue)
            }
            try? await Task.sleep(for: Self.tickInterval)
        }
    }
}

extension SupervisorLoop {
    /// Opens the connections, and waits for the database without a limit; nil when cancelled.
    func openStores() async -> HostStores? {
        // The connection already logs the outage once (database_away).
        await untilDone("The database cannot be used", level: .debug) {
            HostStores(
                main: try await self.connect("supervisor"),
                preparation: try await self.connect("supervisor-prepare"),
                slowPreparation: try await self.connect("supervisor-slow"),
                listener: try await self.connect("supervisor-listen"),
                signals: try await self.connect("supervisor-signals"),
                figures: self.servesMetrics ? try await self.connect("supervisor-metrics") : nil
            )
        }
    }

    /// The identity of the database; nil when cancelled.
    func readInstallationID(_ store: Store) async -> String? {
        await untilDone("The identity of the database could not be read") { try await store.installationID() }
    }

    /// Makes sure that no other supervisor is running under this host's id. A folder that is a copy becomes a new host.
    func claimIdentity(_ store: Store) async -> Void? {
        await untilDone("The identity of this host could not be checked") {
            let id = self.folder.hostID
            if let other = try await HostIdentityCheck().other(store, id) {
                try self.folder.becomeNewHost()
                let of =
                    "is a copy of the folder of host \(other.name) (\(id)), whose supervisor is running (process \(other.pid))"
                self.condition.update { $0.copiedFrom = of }
                self.logger.event(
                    .journalPutAside,
                    "The folder \(self.folder.path) \(of). It now belongs to the new host \(self.folder.hostID), and its journals are put aside"
                )
            }
            self.condition.update { $0.startNonce = UUID().uuidString.lowercased() }
        }
    }

    /// A later start has taken over this host while this supervisor was silent. This one must stop, because the other
    /// replays its journals.
    func hostLost() {
        guard !condition.current.isHostLost else { return }
        condition.update { $0.isHostLost = true }
        logger.critical(
            "Another supervisor has taken over host \(folder.hostID) while this one was silent, because a copy of the folder \(folder.path) was started. This supervisor ends; it becomes a new host when it is started again"
        )
        tell(.fastShutdown)
    }

    /// Inserts this host's row in `mta_host`, or updates it for a new start.
    func register(with reporter: HostReporter) async -> Void? {
        await untilDone("This host could not be registered") { try await reporter.register() }
    }

    /// Creates the recovery of what dead children left, now that the database's identity is known.
    func makeRecovery(_ store: Store, _ installation: String) {
        let identity = JournalIdentity(
            hostID: UUID(uuidString: folder.hostID),
            bootID: bootID.flatMap { UUID(uuidString: $0) },
            installationID: UUID(uuidString: installation)
        )
        installationID.withLock { $0 = installation }
        let recovery = JournalRecovery(
            folder: folder,
            identity: identity,
            store: store,
            logger: logger,
            condition: condition
        )
        recoveries.withLock { $0 = recovery }
    }

    private func untilDone<Result: Sendable>(
        _ problem: String,
        level: Logger.Level = .warning,
        _ attempt: @Sendable () async throws -> Result
    ) async -> Result? {
        var pause = BackOff.database(longest: .seconds(settings.withLock(\.mta.master.dataBaseRetryDelaySec)))
        while !Task.isCancelled {
            do {
                return try await attempt()
            } catch {
                let time = pause.next()
                logger.failure("\(problem), next attempt in \(time.pauseText)", of: error, level: level)
                try? await Task.sleep(for: time)
            }
        }
        return nil
    }
}

extension SupervisorLoop {
    /// How long to wait for the database to record the end of this supervisor.
    private static let stopRecordTimeout = Duration.seconds(2)

    /// Marks this host as stopped in `mta_host`, if the database is reachable.
    func recordStop() async {
        guard let stores = stores.withLock({ $0 }), condition.current.isDatabaseAvailable else { return }
        let reporter = reporter(stores)
        let logger = logger
        let saying = Task {
            do {
                try await reporter.sayStopped()
            } catch {
                logger.failure("The end of this supervisor could not be recorded", of: error)
            }
        }
        // The record is optional: a database that fails now must not keep the process running.
        let timer = Task {
            if (try? await Task.sleep(for: Self.stopRecordTimeout)) != nil { await stores.main.close() }
        }
        await saying.value
        timer.cancel()
    }

    func closeStores() async {
        await stores.withLock { $0 }?.close()
    }
}

/// The database connections of one host's supervisor.
///
/// Each runs its statements in order, so separate ones are needed: a chunk of preparation must not delay a heartbeat, a
/// slow chunk must not delay other deliveries, and reading metrics or signals must delay nothing. A connection that
/// listens cannot do anything else.
struct HostStores: Sendable {
    let main: Store
    let preparation: Store
    let slowPreparation: Store
    let listener: Store
    /// For health signals; it connects when a delivery follows one.
    let signals: Store
    /// For metrics; nil if they are off.
    let figures: Store?

    func close() async {
        await main.close()
        await preparation.close()
        await slowPreparation.close()
        await listener.close()
        await signals.close()
        await figures?.close()
    }
}

/// When children were last woken for new parts, and whether another wake-up is due.
struct WakeUps: Sendable {
    var last: ContinuousClock.Instant?
    var isWaiting = false
}

/// Signals that start a duty's next round at once.
struct DutyEvents: Sendable {
    /// The row of this host may hold a request.
    let heartbeat = EventSignal()
    /// There may be something to prepare.
    let preparation = EventSignal()
    /// A delivery may have ended.
    let finish = EventSignal()
    /// An operator has resumed an application.
    let route = EventSignal()
    /// Parts may be left that no child sends any more.
    let rest = EventSignal()
    /// Waves, local times and sending hours.
    let plan = EventSignal()
    /// There may be parts to send.
    let work = EventSignal()
    /// A message has arrived.
    let message = EventSignal()
    /// A recurrence may have been started or changed.
    let recurrence = EventSignal()
    /// A delivery may have been recalled, or a recalled one may have ended.
    let recall = EventSignal()
    /// A delivery that follows a health signal may be under way.
    let signal = EventSignal()
    /// Somebody asked about a delivery.
    let look = EventSignal()
}
