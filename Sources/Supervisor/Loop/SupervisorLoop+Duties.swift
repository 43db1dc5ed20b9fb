import Logging
import PushCore
import Store
import Synchronization

extension SupervisorLoop {
    /// The time between two looks while there is work.
    static let workInterval = Duration.seconds(1)
    /// Monitoring may rely on rows that are at most 2 s old; half of it leaves room for a slow statement.
    static let beatInterval = Duration.seconds(1)
    /// Journals that were left behind are locked as long as their child lives; it drains within a minute or so.
    static let leftoverInterval = Duration.seconds(5)
    /// Parts or events that one transaction deals with: some hundredths of a second, so that nobody waits for its locks.
    static let restLimit = 1_000
    /// What gateways say about tokens counts within a minute, also when there is no work and looks are rare.
    static let tokenInterval = Duration.seconds(30)
    /// Whoever changes an account or an application sees it at work soon; a look reads two small tables.
    static let routeInterval = Duration.seconds(5)
    /// Partitions are made days ahead, so an hour is early enough.
    static let partitionInterval = Duration.seconds(3_600)
    /// A look for work that takes longer has found no database: the query takes milliseconds.
    static let longestLook = Duration.seconds(5)
    /// A listener that hears nothing for so long is asked whether it is still there.
    static let listenInterval = Duration.seconds(60)

    /// Opens the connections and does, until cancelled, all that has to be done again and again.
    func lookAfterDatabase() async {
        guard let opened = await openStores() else { return }
        stores.withLock { $0 = opened }
        guard let installation = await readInstallationID(opened.main) else { return }
        makeRecovery(opened.main, installation)
        let reporter = reporter(opened)
        // Rows of children refer to the host's, so it comes first.
        guard await register(with: reporter) != nil else { return }
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
            lease: .seconds(settings.withLock(\.leaseSec)),
            logger: logger,
            ownDead: { await self.isOwnDead($0) }
        )
        return [
            duty("Reporting this host", bell: beatBell) {
                if try await reporter.beat() { self.tell(.drainRequested) }
                return Self.beatInterval
            },
            duty("Making partitions") {
                try await stores.main.ensurePartitions()
                return Self.partitionInterval
            },
            duty("Sweeping leases") {
                try await sweep.look()
                return sweep.interval
            },
            duty("Replaying journals that were left behind") {
                try await self.replayLeftovers()
                return Self.leftoverInterval
            },
            duty("Settling the rest of deliveries", bell: restBell) {
                let isMore = try await stores.preparation.settleRest(limit: Self.restLimit) == Self.restLimit
                return isMore ? .zero : self.pollInterval
            },
            duty("Applying token events") { try await self.applyTokenEvents(stores.preparation) },
            duty("Finishing deliveries", bell: finishBell) {
                try await self.finishDeliveries(stores.preparation)
                try await self.lookForOpenDeliveries(stores.preparation)
                return self.pollInterval
            },
            duty("Looking after continuous deliveries") { try await self.tendDeliveries(stores.preparation) },
            duty("Looking for messages", bell: messageBell) { try await self.lookForMessages(stores.main) },
            duty("Watching credentials") {
                try await self.watchCredentials(stores.main)
                return Self.credentialInterval
            },
            duty("Watching accounts and applications", bell: routeBell) {
                self.tell(.routes(try await stores.main.routeVersions()))
                try await self.lookForResumptions(stores.main)
                return Self.routeInterval
            },
            duty("Listening for wake-ups") { try await self.listen(stores.listener) },
            preparation(stores),
            work(stores.main),
        ]
    }

    private func duty(
        _ name: String,
        bell: Bell = Bell(),
        _ round: @escaping @Sendable () async throws -> Duration
    ) -> Duty {
        Duty(
            name: name,
            bell: bell,
            longestPause: .seconds(settings.withLock(\.dataBaseRetryDelaySec)),
            logger: logger,
            round: round
        )
    }

    /// One second while children run, parts are ready or deliveries are open, else `dataBasePoolPeriodSec`.
    var pollInterval: Duration {
        let now = condition.current
        if now.hasWork || now.hasOpenDeliveries || now.children > 0 { return Self.workInterval }
        return .seconds(settings.withLock(\.dataBasePoolPeriodSec))
    }

    private func preparation(_ stores: HostStores) -> Duty {
        let preparation = PreparationDuty(
            store: stores.preparation,
            slowStore: stores.slowPreparation,
            hostID: folder.hostID,
            settings: settings.withLock { $0 },
            logger: logger,
            isClaiming: { self.condition.current.isClaiming },
            chunkMade: { self.workAppeared() }
        )
        return duty("Preparing deliveries", bell: preparationBell) {
            try await preparation.prepareAll() ? Self.workInterval : self.pollInterval
        }
    }

    private func work(_ store: Store) -> Duty {
        var duty = duty("Looking for work", bell: workBell) {
            // A store waits for a database that is away, however long; the plan has to know before that.
            let alarm = Task {
                try await Task.sleep(for: Self.longestLook)
                self.tell(.databaseAvailable(false))
            }
            defer { alarm.cancel() }
            try await self.lookForWork(store)
            return self.pollInterval
        }
        duty.finished = { self.tell(.databaseAvailable($0)) }
        return duty
    }

    private func workAppeared() {
        tell(.wake(detail: nil))
        workBell.ring()
        // A delivery that reaches nobody ends with its preparation.
        finishBell.ring()
    }
}
