import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization

extension SupervisorLoop {
    /// The time between two looks while there is work.
    static let workInterval = Duration.seconds(1)
    /// Monitoring relies on rows at most 2 s old; half of that leaves room for a slow statement.
    static let heartbeatInterval = Duration.seconds(1)
    /// A journal left behind stays locked while its child lives; the child drains within about a minute.
    static let leftoverInterval = Duration.seconds(5)
    /// The maximum number of parts or events per transaction: it takes some hundredths of a second and holds its locks
    /// no longer.
    static let restLimit = 1_000
    /// Token events take effect within a minute, even when there is no work and looks are rare.
    static let tokenInterval = Duration.seconds(30)
    /// A changed account or application should take effect soon; a look reads two small tables.
    static let routeInterval = Duration.seconds(5)
    /// Chunks that arrive within this time wake children only once.
    static let wakeUpInterval = Duration.milliseconds(50)
    /// The history of alarms is accurate to ten seconds, which is enough for operators. The view is read only on one of
    /// all hosts per interval.
    static let alarmInterval = Duration.seconds(10)
    /// Partitions are created days ahead, so an hour is early enough.
    static let partitionInterval = Duration.seconds(3_600)
    /// A lock is reported after 10 s (``LockWatch/tolerance``): two looks before that, and one after it.
    static let lockInterval = Duration.seconds(4)
    /// The maximum number of runs of recurring deliveries per transaction.
    static let runLimit: Int32 = 10
    /// The time between two looks for runs at least.
    static let runPause = Duration.milliseconds(200)
    /// The outcome of a look at a recurrence whose run before has not ended.
    static let waitingOutcome = "waits"
    /// A look for work that takes longer means that the database is unavailable: the query takes milliseconds.
    static let maxLook = Duration.seconds(5)
    /// After planned messages were released, the next ones may be due at once, as when an hour begins.
    static let planInterval = Duration.milliseconds(100)
    /// A listener that gets nothing for this long checks its connection.
    static let listenInterval = Duration.seconds(60)

    /// Opens the connections and runs the duties until cancelled.
    func lookAfterDatabase() async {
        guard let opened = await openStores() else { return }
        stores.withLock { $0 = opened }
        guard let installation = await readInstallationID(opened.main) else { return }
        // Before any replay: the journals of a copied folder belong to living children.
        guard await claimIdentity(opened.main) != nil else { return }
        makeRecovery(opened.main, installation)
        let reporter = reporter(opened)
        // Rows of children refer to the host's row, so it comes first.
        guard await register(with: reporter) != nil else { return }
        // So that the first log lines about children have names. A failure is harmless: the duty looks again.
        try? await lookAtRoutes(opened.main)
        await withDiscardingTaskGroup { group in
            for duty in duties(opened, reporter) { group.addTask { await duty.run() } }
        }
    }

    func reporter(_ stores: HostStores) -> HostReporter {
        HostReporter(
            store: stores.main,
            folder: folder,
            settings: settings.withLock { $0 },
            condition: condition,
            registry: registry
        )
    }

    private func duties(_ stores: HostStores, _ reporter: HostReporter) -> [Duty] {
        let sweep = LeaseSweep(
            store: stores.main,
            lease: .seconds(settings.withLock(\.mta.lease.durationSec)),
            logger: logger,
            ownDead: { await self.isOwnDead($0) }
        )
        return [
            duty("Reporting this host", event: events.heartbeat) {
                let requests = try await reporter.heartbeat()
                if requests.isHostLost { self.hostLost() }
                if requests.isDrainRequested { self.tell(.drainRequested) }
                if !requests.recycledChildren.isEmpty { self.tell(.recycleRequested(requests.recycledChildren)) }
                return Self.heartbeatInterval
            },
            duty("Creating partitions") {
                try await stores.main.ensurePartitions()
                return Self.partitionInterval
            },
            duty("Sweeping leases") {
                try await sweep.look()
                return sweep.interval
            },
            duty("Replaying journals left behind") {
                try await self.replayLeftovers()
                return Self.leftoverInterval
            },
            duty("Finishing deliveries", event: events.rest) {
                let isMore = try await stores.preparation.finishRest(limit: Self.restLimit) == Self.restLimit
                try await stores.preparation.tryCredentialWaits()
                return isMore ? .zero : self.pollInterval
            },
            duty("Applying token events") { try await self.applyTokenEvents(stores.preparation) },
            duty("Finishing deliveries", event: events.finish) {
                try await self.finishDeliveries(stores.preparation)
                _ = try await stores.preparation.dropOldAnalyses()
                try await stores.preparation.openGates()
                try await self.lookForOpenDeliveries(stores.preparation)
                // One that was recalled may have ended, and this host may have been idle until now.
                self.events.recall.fire()
                return self.pollInterval
            },
            duty("Listing recalled messages", event: events.recall) {
                let isMore = try await stores.preparation.listRecalled()
                return isMore ? .zero : self.pollInterval
            },
            duty("Releasing planned messages", event: events.plan) { try await self.advancePlans(stores.preparation) },
            // Not with the preparation: the copy of a long list of targets must not delay the chunks of others.
            duty("Making runs of recurring deliveries", event: events.recurrence) {
                try await self.makeRuns(stores.slowPreparation)
            },
            duty("Tending continuous deliveries") { try await self.tendDeliveries(stores.preparation) },
            duty("Looking for messages", event: events.message) { try await self.lookForMessages(stores.main) },
            duty("Recording alarms") {
                try await stores.main.noteAlarms()
                return Self.alarmInterval
            },
            duty("Watching credentials") {
                try await self.watchCredentials(stores.main)
                return Self.credentialInterval
            },
            duty("Watching accounts and applications", event: events.route) {
                try await self.lookAtRoutes(stores.main)
                try await self.lookForResumptions(stores.main)
                return Self.routeInterval
            },
            duty("Watching locks") {
                try await self.watchLocks(stores.figures ?? stores.main)
                return Self.lockInterval
            },
            signals(stores),
            duty("Listening for wake-ups") { try await self.listen(stores.listener) },
            preparation(stores),
            looks(stores.slowPreparation),
            work(stores.main),
        ] + (stores.figures.map { [figures($0), alarms($0)] } ?? [])
    }

    private func signals(_ stores: HostStores) -> Duty {
        let reader = SignalReader(store: stores.signals) { self.settings.withLock(\.mta.signals.allowedAddresses) }
        let watch = SignalWatch(store: stores.signals, reader: reader)
        return duty("Following health signals", event: events.signal) {
            if try await stores.main.timeToSignal() != nil { try await watch.run() }
            return self.pollInterval
        }
    }

    /// Takes looks at deliveries, one after the other, for people who wait for them. What was counted roughly is counted on
    /// while nobody waits.
    private func looks(_ store: Store) -> Duty {
        duty("Taking looks at deliveries", event: events.look) {
            var rough: [(look: DeliveryLook, counting: TargetCounting?)] = []
            while true {
                if let look = try await store.takeLook() {
                    let answer = try await self.answer(look, store)
                    try await store.answer(look, answer)
                    if answer.isRough { rough.append((look, nil)) }
                } else if try await !store.countAskedAudience() {
                    guard let (look, counting) = rough.popLast() else { break }
                    if let more = try await self.refined(look, counting, store) { rough.append((look, more)) }
                }
            }
            try await store.dropOldLooks()
            return self.pollInterval
        }
    }

    private func answer(_ look: DeliveryLook, _ store: Store) async throws -> DeliveryLookAnswer {
        do {
            return try await analyst.look(store, look)
        } catch {
            guard !DatabaseAvailability.isOutage(error) else { throw error }
            logger.failure("A look at delivery \(look.deliveryID) failed", of: error)
            return .problem("It could not be looked at: \(error)")
        }
    }

    /// Counts one step further. Returns the count; nil if it ended, and its answer is stored.
    private func refined(_ look: DeliveryLook, _ earlier: TargetCounting?, _ store: Store) async throws
        -> TargetCounting?
    {
        do {
            var counting: TargetCounting
            if let earlier {
                counting = earlier
            } else {
                counting = try await store.targetCounting(ofDelivery: look.deliveryID)
            }
            try await counting.advance()
            guard counting.isPrecise || counting.isOver else { return counting }
            try await store.refine(look, counting.counts)
        } catch {
            // The first answer stays.
            guard !DatabaseAvailability.isOutage(error) else { throw error }
            logger.failure("The target of delivery \(look.deliveryID) was not counted further", of: error)
        }
        return nil
    }

    private func figures(_ store: Store) -> Duty {
        duty("Reading figures for metrics") {
            try await self.readFigures(store)
            return Self.figuresInterval
        }
    }

    private func alarms(_ store: Store) -> Duty {
        duty("Reading alarms for metrics") {
            try await self.readAlarms(store)
            return Self.figuresInterval
        }
    }

    private func duty(
        _ name: String,
        event: EventSignal = EventSignal(),
        _ round: @escaping @Sendable () async throws -> Duration
    ) -> Duty {
        Duty(
            name: name,
            event: event,
            maxPause: .seconds(settings.withLock(\.mta.master.dataBaseRetryDelaySec)),
            logger: logger,
            round: round
        )
    }

    /// One second while children run, parts are ready or deliveries are open; otherwise `dataBasePoolPeriodSec`.
    var pollInterval: Duration {
        let now = condition.current
        if now.hasWork || now.hasOpenDeliveries || now.children > 0 { return Self.workInterval }
        return .seconds(settings.withLock(\.mta.master.dataBasePoolPeriodSec))
    }

    private func preparation(_ stores: HostStores) -> Duty {
        let preparation = PreparationDuty(
            store: stores.preparation,
            slowStore: stores.slowPreparation,
            hostID: folder.hostID,
            settings: settings.withLock { $0 },
            logger: logger,
            analyst: analyst,
            isClaiming: { self.condition.current.isClaiming },
            chunkMade: { chunk in
                // A delivery without a target ends with its preparation. Others end later, and checking all of them is
                // not free.
                if chunk.done, chunk.parts == 0 { self.events.finish.fire() }
                if chunk.parts > 0 { self.workAppeared() }
            },
            roomMade: { self.events.preparation.fire() }
        )
        return duty("Preparing deliveries", event: events.preparation) {
            try await preparation.prepareAll() ? Self.workInterval : self.pollInterval
        }
    }

    private func work(_ store: Store) -> Duty {
        var duty = duty("Looking for work", event: events.work) {
            // A store waits for an unreachable database without a limit; the plan must know sooner.
            let alarm = Task {
                try await Task.sleep(for: Self.maxLook)
                self.tell(.databaseAvailable(false))
            }
            defer { alarm.cancel() }
            try await self.lookForWork(store)
            return self.pollInterval
        }
        duty.finished = { self.tell(.databaseAvailable($0)) }
        return duty
    }

    /// Wakes children and looks for work: at once, or together with chunks of the next moment. With thousands of small
    /// deliveries, each would otherwise cost every child a look.
    func workAppeared() {
        let now = ContinuousClock.now
        let pause = wakeUps.withLock { wakeUps -> Duration? in
            guard !wakeUps.isWaiting else { return nil }
            let due = wakeUps.last.map { $0.advanced(by: Self.wakeUpInterval) } ?? now
            wakeUps.isWaiting = due > now
            if due <= now { wakeUps.last = now }
            return max(.zero, due - now)
        }
        guard let pause else { return }
        guard pause > .zero else { return wakeForWork() }
        Task {
            try? await Task.sleep(for: pause)
            wakeUps.withLock { $0 = WakeUps(last: .now) }
            wakeForWork()
        }
    }

    private func wakeForWork() {
        tell(.wake(detail: nil))
        events.work.fire()
    }
}

extension SupervisorLoop {
    /// Tells the plan what can be claimed, and which kinds may be kept as spares.
    func lookForWork(_ store: Store) async throws {
        let spawn = settings.withLock(\.spawn)
        if spawn.minSpareServers > 0 || spawn.startSpareServers > 0 {
            tell(.kinds(try await store.childKinds()))
        }
        try await lookForStandingKinds(store)
        tell(.connections(try await store.connectionRoom()))
        // Counting more parts than would occupy all children adds nothing.
        let enough = Int32(clamping: spawn.maxSpareServers * SupervisorPlan.readyPartsPerChild)
        let work = try await store.readyWork(countingAtMost: enough).map { ready in
            ReadyWorkOffer(
                kind: ready.kind,
                readyParts: ready.readyParts,
                priority: Int(ready.highestPriority),
                messages: ready.readyMessages
            )
        }
        tell(.work(work))
    }

    /// Applies token events while no feedback worker acts. Without this, a site without one would send to dead tokens
    /// forever.
    func applyTokenEvents(_ store: Store) async throws -> Duration {
        if try await store.isFeedbackWorkerActing() { return Self.tokenInterval }
        let rules = settings.withLock(\.mta.quarantine)
        let decided = try await store.applyTokenEvents(limit: Self.restLimit, rules: rules)
        return decided >= Self.restLimit ? .zero : min(pollInterval, Self.tokenInterval)
    }

    func finishDeliveries(_ store: Store) async throws {
        for delivery in try await store.finishDeliveries() {
            logger.event(.deliveryFinished, "Delivery \(delivery) is finished", ["delivery": "\(delivery)"])
        }
    }

    /// Begins waves, and lets messages go whose time has come.
    func advancePlans(_ store: Store) async throws -> Duration {
        let enough = settings.withLock(\.mta.preparation.maxReadyParts)
        let released = try await store.advancePlans(enough: enough, limit: Self.restLimit)
        guard released > 0 else { return pollInterval }
        workAppeared()
        return released >= Self.restLimit ? .zero : Self.planInterval
    }

    /// Makes the runs of recurring deliveries that are due. Returns the time until the next one is.
    func makeRuns(_ store: Store) async throws -> Duration {
        guard condition.current.isClaiming else { return pollInterval }
        let decisions = try await store.makeRuns(limit: Self.runLimit)
        for decision in decisions {
            let keys: Logger.Metadata = ["delivery": "\(decision.delivery)"]
            if let run = decision.run {
                logger.info("Run \(run) of delivery \(decision.delivery) was started", metadata: keys)
            } else if let outcome = decision.outcome, outcome != Self.waitingOutcome {
                logger.notice("A run of delivery \(decision.delivery) was not started: \(outcome)", metadata: keys)
            }
        }
        if decisions.count == Int(Self.runLimit) { return .zero }
        guard let seconds = try await store.secondsToNextRun() else { return pollInterval }
        // Another host may be making the run that is due.
        return min(pollInterval, max(Self.runPause, .seconds(seconds)))
    }

    /// Logs sessions of other programs that block this one for too long.
    func watchLocks(_ store: Store) async throws {
        let waits = try await store.lockWaits()
        for action in condition.locks.withLock({ $0.handle(waits, at: .now) }) {
            switch action {
            case .held(let pid, let text):
                logger.event(
                    .lockHeld,
                    "For \(LockWatch.tolerance.components.seconds) s, \(text): let it end its transaction, or terminate it",
                    ["session": "\(pid)"]
                )
            case .freed(let pid, let time):
                let seconds = time.components.seconds
                logger.event(
                    .lockFreed,
                    "Session \(pid) no longer blocks PushMTA, after \(seconds) s",
                    ["session": "\(pid)", "seconds": "\(seconds)"]
                )
            }
        }
    }

    /// Tells the plan the current versions of accounts and applications.
    func lookAtRoutes(_ store: Store) async throws {
        let routes = try await store.routeVersions()
        registry.names.withLock { $0 = RouteNames(routes) }
        tell(.routes(routes))
    }

    /// Tells the plan which applications were resumed since the last look.
    func lookForResumptions(_ store: Store) async throws {
        let seen = try await store.resumptions()
        let resumed = resumptions.withLock { before in
            defer { before = seen }
            return before.map { before in seen.filter { before[$0.key] != $0.value }.keys } ?? [:].keys
        }
        if !resumed.isEmpty { tell(.resumed(applications: Set(resumed))) }
    }

    /// Notes whether deliveries are open. If so, all hosts look often: another host's children may be sending, or a
    /// retry or probe may not be due yet.
    func lookForOpenDeliveries(_ store: Store) async throws {
        let hasOpen = try await store.hasOpenDeliveries()
        let isNew = hasOpen && !condition.current.hasOpenDeliveries
        condition.update { $0.hasOpenDeliveries = hasOpen }
        guard isNew else { return }
        events.work.fire()
        events.rest.fire()
        events.signal.fire()
    }

    /// Passes wake-ups on until the connection fails. A look at the start catches what was missed before it listened.
    func listen(_ store: Store) async throws -> Duration {
        let listener = try await store.listen()
        wake()
        do {
            while !Task.isCancelled {
                switch try await listener.nextWakeUp(deadline: .now + Self.listenInterval) {
                case .message?: messageCame()
                case .resume?:
                    wake()
                    events.route.fire()
                case .look?: events.look.fire()
                case .change?: wake()
                case nil: break
                }
            }
        } catch {
            await listener.close()
            throw error
        }
        await listener.close()
        return .zero
    }

    private func wake() {
        events.preparation.fire()
        events.work.fire()
        events.rest.fire()
        events.plan.fire()
        events.recurrence.fire()
        // An idle host rarely checks for finished deliveries, but a resumed delivery may finish within a second.
        events.finish.fire()
        events.heartbeat.fire()
        tell(.wake(detail: nil))
    }
}
