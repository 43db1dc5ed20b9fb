import Logging
import ProcessProtocol
import Store
import Synchronization
import SystemPackage

/// Carries out what the plan wants, and feeds it with what happens.
final class SupervisorLoop: Sendable {
    /// How often the plan hears that time has passed: fine enough for its seconds, and next to no work.
    static let tickInterval = Duration.milliseconds(250)

    let folder: HostFolder
    let executable: FilePath
    let connect: Supervisor.Connect
    let logger: Logger
    let tell: @Sendable (SupervisorEvent) -> Void
    let settings: Mutex<SupervisorSettings>
    let registry = ChildRegistry()
    let condition = HostCondition()
    let stores = Mutex<HostStores?>(nil)
    /// There once the database is.
    let recoveries = Mutex<JournalRecovery?>(nil)
    /// Rung when there may be something to prepare.
    let preparationBell = Bell()
    /// Rung when a delivery may have come to its end.
    let finishBell = Bell()
    /// Rung when there may be parts to send.
    let workBell = Bell()

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
        logger = supervisor.logger
        settings = Mutex(supervisor.settings)
    }

    /// Runs until the plan says that everything is finished, or the task is cancelled.
    func run(_ events: AsyncStream<SupervisorEvent>) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.tick() }
            group.addTask { await self.lookAfterDatabase() }
            var plan = SupervisorPlan(settings: settings.withLock(\.spawn))
            for await event in events {
                if case .reload(let new) = event { settings.withLock { $0 = new } }
                let now = ContinuousClock.now
                let actions = plan.handle(event, at: now)
                condition.update(from: plan, at: now)
                for action in actions { perform(action, in: &group) }
                if plan.ending == .finished { break }
            }
            group.cancelAll()
        }
        await sayGoodbye()
    }

    private func perform(_ action: SupervisorAction, in group: inout DiscardingTaskGroup) {
        switch action {
        case .spawn(let generation, let kind):
            let inbox = registry.add(generation, kind).inbox
            group.addTask { await self.start(generation, kind, inbox) }
        case .command(let generation, let command, let detail):
            registry[generation]?.inbox.send(SupervisorMessage(command, detail: detail))
        case .signal(let generation, let number):
            registry[generation]?.inbox.send(signal: number)
        case .settle(let generation, let end):
            group.addTask { await self.settle(generation, end) }
        case .log(let level, let text):
            logger.log(level: level, "\(text)")
        case .finish:
            break
        }
    }

    private func tick() async {
        while !Task.isCancelled {
            tell(.tick)
            try? await Task.sleep(for: Self.tickInterval)
        }
    }

    /// Says in `mta_host` that this host is stopped, if the database can be reached.
    private static let goodbyePatience = Duration.seconds(2)

    private func sayGoodbye() async {
        guard let stores = stores.withLock({ $0 }) else { return }
        if condition.current.isDatabaseAvailable {
            let reporter = reporter(stores)
            let logger = logger
            let saying = Task {
                do {
                    try await reporter.sayStopped()
                } catch {
                    logger.warning("The end of this supervisor could not be recorded: \(error)")
                }
            }
            // It is only told: a database that has gone away meanwhile must not keep the process.
            let timer = Task {
                if (try? await Task.sleep(for: Self.goodbyePatience)) != nil { saying.cancel() }
            }
            await saying.value
            timer.cancel()
        }
        await stores.close()
    }
}
