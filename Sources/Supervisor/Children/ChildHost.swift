import Logging
import ProcessProtocol
import PushCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Runs children as processes and reports their events to the supervisor.
struct ChildHost: Sendable {
    let registry: ChildRegistry
    let tell: @Sendable (SupervisorEvent) -> Void
    let logger: Logger
    /// Where children's log lines go: this process's standard error.
    let forward: @Sendable ([UInt8]) -> Void

    /// Starts a child and returns when it has been reaped.
    func run(_ generation: Int32, _ inbox: ChildInbox, _ launch: ChildLaunch) async {
        // The count at the child's last status line: earlier kills hit other processes.
        let killsBefore = Mutex(OutOfMemoryKills.count())
        let process = ChildProcess(
            launch: launch,
            inbox: inbox,
            heard: { status in
                killsBefore.withLock { $0 = OutOfMemoryKills.count() }
                registry.update(generation) { $0.residentBytes = status.report.residentBytes }
                tell(.childStatus(generation: generation, status))
            },
            traced: { registry.traces.heard($0, from: registry[generation]?.childID) },
            forward: forward
        )
        let result = await process.run()
        registry.update(generation) { entry in
            entry.stderrTail = result.stderrTail
            entry.isAlive = false
            entry.residentBytes = 0
        }
        if result.garbageLines > 0 {
            logger.warning(
                "Child \(registry[generation]?.childID.map(String.init) ?? "?") wrote \(result.garbageLines) lines that are not status lines; the last one: \(result.lastGarbage)"
            )
        }
        let killsAfter = OutOfMemoryKills.count()
        let outOfMemory =
            killsBefore.withLock(\.self).map { before in killsAfter.map { $0 > before } ?? false } ?? false
        tell(.childEnded(generation: generation, result.termination, outOfMemoryKillSeen: outOfMemory))
    }
}

/// The kernel's count of processes killed for lack of memory.
enum OutOfMemoryKills {
    /// The count since boot, over all processes; nil where the kernel does not report it.
    ///
    /// `oom_kill` in `/proc/vmstat` (Linux 4.13 and later) counts the kills of memory cgroups, too.
    static func count() -> Int64? {
        guard let data = FileManager.default.contents(atPath: "/proc/vmstat") else { return nil }
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") where line.hasPrefix("oom_kill ") {
            return Int64(line.dropFirst("oom_kill ".count))
        }
        return nil
    }
}
