import ProcessEvents
import PushCore
import Store
import Synchronization

/// The supervisor's condition, shared with the duties that need it.
final class HostCondition: Sendable {
    struct Values: Sendable {
        var state = HostReport.State.starting
        var isClaiming = true
        var isDatabaseAvailable = false
        var children = 0
        var maxChildren = 0
        /// Parts were ready at the last look.
        var hasWork = false
        /// Deliveries are open, here or elsewhere: parts may become ready, or end, without a notification.
        var hasOpenDeliveries = false
        /// Looks for messages are so rare that the author of a message has to wake this host.
        var isAsleep = true
        /// Outcomes replayed from journals since the start.
        var journalReplayed: Int64 = 0
        /// Kinds whose children die too early for others to be started.
        var throttled: [ChildKind] = []
        var names = RouteNames()
        /// Why too few database connections keep more children from starting; nil if there are enough.
        var connectionShortage: String?
        /// Identifies this start of the supervisor.
        var startNonce: String?
        /// Whether a later start has taken over this host.
        var isHostLost = false
        /// Which host's folder this one is a copy of; nil if it is not a copy.
        var copiedFrom: String?
        /// Journals in the folder that were put aside.
        var journalsPutAside: [String] = []
        /// Why the disk of the journals cannot be written; nil if it can.
        var journalTrouble: String?
        /// Free bytes on that disk, if few; nil otherwise.
        var lowJournalSpace: Int64?

        /// The alarms to show in `mta_host`, each with its remedy; empty if all is well.
        var troubles: [(text: String, remedy: String)] {
            var troubles = throttled.map { kind in
                (
                    text: "Children for \(names.text(kind)) die before their first message.",
                    remedy: "`pushmta status --ended` shows the last one's error; correct it, then "
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
                        "The folder \(copiedFrom), so this host has a new id; this alarm stays until its next start.",
                        "do not copy journal folders: a new host creates its own"
                    )
                )
            }
            if let journalTrouble {
                troubles.append(
                    (
                        "Journals cannot be written, so no child is started: \(journalTrouble).",
                        "repair the disk of the journals; children then start automatically"
                    )
                )
            }
            if let lowJournalSpace {
                troubles.append(
                    (
                        "The disk of the journals has \(lowJournalSpace / 1_048_576) MiB left.",
                        "free space on it: when it is full, this host sends nothing"
                    )
                )
            }
            if let first = journalsPutAside.first {
                let others = journalsPutAside.count > 1 ? " and \(journalsPutAside.count - 1) more" : ""
                troubles.append(
                    (
                        "\(first)\(others) could not be fully replayed; this alarm stays until the files are moved away.",
                        "read about them in the log, keep them, and move them out of the folder"
                    )
                )
            }
            return troubles
        }
    }

    private let values = Mutex(Values())
    /// The last figures read from the database for metrics; nil before the first reading.
    let reading = Mutex<EngineReading?>(nil)
    /// Which sessions block this program with a lock.
    let locks = Mutex(LockWatch())
    /// The alarms at the last look; nil before the first.
    let alarms = Mutex<AlarmReading?>(nil)
    /// Records whether heartbeats reach the database.
    let pulse = DatabasePulse(startsUp: true)

    var current: Values { values.withLock { $0 } }

    func update(_ change: (inout Values) -> Void) { values.withLock { change(&$0) } }

    /// Takes over the state of the plan.
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
