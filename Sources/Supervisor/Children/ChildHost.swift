import Logging
import ProcessProtocol
import Synchronization
import SystemPackage

/// Runs children as processes and tells the supervisor's mailbox what they do.
struct ChildHost: Sendable {
    let registry: ChildRegistry
    let tell: @Sendable (SupervisorEvent) -> Void
    let logger: Logger
    /// Where children's log lines go: this process's standard error.
    let forward: @Sendable ([UInt8]) -> Void

    /// Starts a child and stays with it until it has been reaped.
    func run(_ generation: Int32, _ inbox: ChildInbox, _ launch: ChildLaunch) async {
        // The count at its last line: kills before it were of others.
        let killsBefore = Mutex(OutOfMemoryKills.count())
        let process = ChildProcess(
            launch: launch,
            inbox: inbox,
            heard: { status in
                killsBefore.withLock { $0 = OutOfMemoryKills.count() }
                registry.update(generation) { $0.residentBytes = status.residentBytes }
                tell(.childStatus(generation: generation, status))
            },
            forward: forward
        )
        let result = await process.run()
        registry.update(generation) { entry in
            entry.lastWords = result.lastWords
            entry.isAlive = false
            entry.residentBytes = 0
        }
        if result.garbageLines > 0 {
            logger.warning(
                "Child \(generation) wrote \(result.garbageLines) lines that are no status line, the last: \(result.lastGarbage)"
            )
        }
        let killsAfter = OutOfMemoryKills.count()
        let outOfMemory =
            killsBefore.withLock(\.self).map { before in killsAfter.map { $0 > before } ?? false } ?? false
        tell(.childEnded(generation: generation, result.termination, outOfMemoryKillSeen: outOfMemory))
    }
}
