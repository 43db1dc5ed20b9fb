import OperatingSystem
import ProcessEvents
import Store
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Keeps this host's row in `mta_host`.
struct HostReporter: Sendable {
    let store: Store
    let folder: HostFolder
    let settings: SupervisorSettings
    let condition: HostCondition
    let registry: ChildRegistry

    /// Makes the row, or makes it that of a new start.
    func register() async throws {
        try await store.registerHost(makeReport(stopped: false))
    }

    /// Keeps it fresh, and returns what operators have asked for there.
    func heartbeat() async throws -> HostRequests {
        do {
            let requests = try await store.recordHostHeartbeat(makeReport(stopped: false))
            condition.pulse.note(true)
            return requests
        } catch {
            condition.pulse.note(false)
            throw error
        }
    }

    /// Says that the supervisor has ended in order.
    func sayStopped() async throws {
        _ = try await store.recordHostHeartbeat(makeReport(stopped: true))
    }

    private func makeReport(stopped: Bool) -> HostReport {
        let values = condition.current
        let troubles = values.troubles
        var report = HostReport(
            id: folder.hostID,
            name: settings.hostName,
            pid: getpid(),
            version: settings.version,
            schemaVersion: Store.schemaVersion,
            state: stopped ? .stopped : values.state,
            journalFolder: folder.path.string,
            children: Int32(clamping: values.children),
            maxChildren: Int32(clamping: values.maxChildren),
            cores: Int32(clamping: ProcessInfo.processInfo.activeProcessorCount),
            load: Machine.load(),
            residentBytes: Machine.residentBytes() + registry.residentBytes,
            journalFreeBytes: Machine.freeBytes(at: folder.path.string),
            journalReplayed: values.journalReplayed,
            alarm: troubles.map(\.text).joined(separator: " "),
            alarmRemedy: troubles.map(\.remedy).joined(separator: "; "),
            isAsleep: values.isAsleep
        )
        report.startNonce = values.startNonce
        return report
    }
}

/// Finds out whether another supervisor lives under the id of this folder, which is a copy of that one's then.
///
/// No one else owns this folder: a supervisor that still gives signs of life is another host. One sign after the first look may have been
/// on its way when its supervisor died; a second one is proof.
struct HostIdentityCheck: Sendable {
    /// Three heartbeats and a half.
    var time = Duration.milliseconds(3_500)
    var interval = Duration.milliseconds(250)
    private static let proof = 2

    /// The other supervisor's last sign; nil if there is none.
    func other(_ store: Store, _ id: String) async throws -> HostSign? {
        guard var last = try await store.hostSign(id), last.isFresh else { return nil }
        let end = ContinuousClock.now + time
        var signs = 0
        while ContinuousClock.now < end {
            try await Task.sleep(for: interval)
            guard let next = try await store.hostSign(id), next.isFresh else { return nil }
            if next.heartbeat != last.heartbeat { signs += 1 }
            last = next
            if signs >= Self.proof { return last }
        }
        return nil
    }
}

/// How the supervisor is doing, for those of its duties that need to know.
final class HostCondition: Sendable {
    struct Values: Sendable {
        var state = HostReport.State.starting
        var isClaiming = true
        var isDatabaseAvailable = false
        var children = 0
        var maxChildren = 0
        /// Parts were ready at the last look.
        var hasWork = false
        /// Deliveries are under way, here or elsewhere: parts may become ready, or come to their end, without a notification.
        var hasOpenDeliveries = false
        /// Messages are looked for so seldom that who makes one has to wake this host.
        var isAsleep = true
        /// Outcomes taken from journals since the start.
        var journalReplayed: Int64 = 0
        /// Kinds of children that die too early to be started.
        var throttled: [ChildKind] = []
        var names = RouteNames()
        /// Why no more children are started for want of connections to the database; nil if there are enough.
        var connectionShortage: String?
        /// Tells this start of the supervisor from others.
        var startNonce: String?
        /// Whether another start has taken this host.
        var isHostLost = false
        /// Which host's folder this one is a copy of; nil if of none.
        var copiedFrom: String?
        /// Journals in the folder that were not replayed and put aside.
        var journalsPutAside: [String] = []
        /// Why the disk of the journals takes nothing; nil if it does.
        var journalTrouble: String?
        /// Bytes left on that disk, if they are few.
        var lowJournalSpace: Int64?

        /// Trouble to show in `mta_host`, each with what to do; empty if there is none.
        var troubles: [(text: String, remedy: String)] {
            var troubles = throttled.map { kind in
                (
                    text: "Children for \(names.text(kind)) die before their first message.",
                    remedy: "`pushmta status --ended` shows what the last one said; put it right, and "
                        + "`pushmta app resume \(names.application(kind.applicationID))` starts others at once"
                )
            }
            if let connectionShortage {
                troubles.append(
                    (
                        connectionShortage,
                        "raise max_connections of PostgreSQL, or lower mta.master.maxSmallChildren and maxSpareServers"
                    )
                )
            }
            if let copiedFrom {
                troubles.append(
                    (
                        "The folder \(copiedFrom), so this host has a new id; this notice stays until its next start.",
                        "do not copy folders of journals: a new host makes its own"
                    )
                )
            }
            if let journalTrouble {
                troubles.append(
                    (
                        "Journals cannot be written, so no child is started: \(journalTrouble).",
                        "put the disk of the journals right; children start by themselves then"
                    )
                )
            }
            if let lowJournalSpace {
                troubles.append(
                    (
                        "The disk of the journals has \(lowJournalSpace / 1_048_576) MiB left.",
                        "make room on it: where it is full, nothing is sent from this host"
                    )
                )
            }
            if let first = journalsPutAside.first {
                let others = journalsPutAside.count > 1 ? " and \(journalsPutAside.count - 1) more" : ""
                troubles.append(
                    (
                        "\(first)\(others) could not be replayed; this stands here until the files are moved away.",
                        "read what the log says of them, keep them, and move them out of the folder"
                    )
                )
            }
            return troubles
        }
    }

    private let values = Mutex(Values())
    /// What was last read from the database for metrics; nil before the first time.
    let reading = Mutex<EngineReading?>(nil)
    /// Which sessions block us with a lock.
    let locks = Mutex(LockWatch())
    /// The alarms that there were at the last look; nil before the first.
    let alarms = Mutex<AlarmReading?>(nil)
    /// The heartbeats that reach the database.
    let pulse = DatabasePulse(startsUp: true)

    var current: Values { values.withLock { $0 } }

    func update(_ change: (inout Values) -> Void) { values.withLock { change(&$0) } }

    /// Takes what the plan has come to.
    func update(from plan: SupervisorPlan, at now: ContinuousClock.Instant) {
        values.withLock { values in
            values.isClaiming = plan.isClaiming
            values.isDatabaseAvailable = plan.database.isAvailable
            values.children = plan.aliveCount
            values.maxChildren = plan.settings.maxChildren
            values.names = RouteNames(plan.routes)
            values.connectionShortage = plan.isShortOfConnections ? plan.connectionText : nil
            values.throttled = plan.throttles.filter { !$0.value.isOpen(at: now) }.keys.sorted()
            values.hasWork = !plan.work.isEmpty
            if !plan.isClaiming {
                values.state = .draining
            } else if plan.database.firstSeen != nil {
                values.state = .running
            }
        }
    }
}
