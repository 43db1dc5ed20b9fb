// Laboratory: drills, benches and quickstart. Each runs a whole site of real processes on this machine.
//
// WHAT IT DOES
//   Starts a private PostgreSQL cluster, the gateway simulator and supervisors with their children, and on request a
//   web process and a feedback worker. A drill sends deliveries and injects faults. It then compares, by message id,
//   the database's outcomes with the gateways' records. Benches measure on the same kind of site; quickstart shows one.
//
// HOW IT IS USED
//   By `pushmta-lab drill`, `bench` and `quickstart`, and by their tests. A drill is a Drill in DrillCatalog: its name,
//   its promise, its needs, and run(_:) on a DrillSite. DrillRunner makes the folder and the site, runs the drill,
//   stops the hosts, draws up the DrillReconciliation and returns a DrillResult. Benches and quickstart use the simpler
//   TestSite. BackgroundProcess is one process of a site.
//
// THREADS AND TASKS
//   Drills run one after another. During each, a SnapshotWatcher checks that the counts of outcomes add up, and a
//   RateMeter samples the rate. A signal cancels the run. A detached task, which is not cancelled, then ends every
//   process and removes everything.
//
// STATE AND FILES
//   Each run has a folder below the temporary folder (pushmta-drill-PID-NAME, pushmta-bench-PID) with settings, keys,
//   logs, records and account.txt, and another one for the cluster. Both are removed at the end; --keep keeps a
//   drill's. A killed drill may leave processes, mounts, network namespaces and folders. The next drill finds them by
//   the unlocked lock file and cleans them up. Quickstart works in the folder it is given.
//
// FAILURES
//   A drill passes only if nothing is wrong. It fails on lost messages, duplicates that were not ambiguous, unexplained
//   messages, too few faults under load, and processes or journals left over. A drill whose needs this machine does not
//   meet says so and does not pass. Durability stays on. Apart from a database that a bench is given by name, a run
//   touches only what it made. Some drills need root.
//
// SETTINGS
//   It writes its hosts' settings itself. A seed makes the random choices repeatable.
//
// SEE ALSO
//   Drill/DrillRunner.swift, Drill/DrillSite.swift, Reconciliation/DrillReconciliation.swift, TestSite/TestSite.swift,
//   HighAvailability/PatroniCluster.swift, TestSite/PrivateCluster.swift, Bench/BenchCommand.swift, TestSite/Quickstart.swift,
//   Deploy/guide/drills.md

import Foundation

/// A fault drill: real processes, injected faults, and at the end a reconciliation of every message by its id.
protocol Drill: Sendable {
    /// The name on the command line.
    var name: String { get }
    /// What the drill does, in one line.
    var summary: String { get }
    /// What must hold at the end, in one line.
    var promise: String { get }
    /// What the machine must provide. If it does not, the drill does not pass and says why.
    var needs: [DrillNeed] { get }
    /// Whether the drill is in the short set. Such a drill takes seconds and needs neither root nor extra packages.
    var isShort: Bool { get }
    /// The minimum number of faults that must land while at least `DrillFault.minStreams` streams are open.
    var minimumFaults: Int { get }
    /// The default number of messages in a delivery.
    var messages: Int64 { get }

    /// Runs the drill on a site where nothing is started yet. It throws or notes a problem when something is wrong.
    ///
    /// The caller then draws up the reconciliation, ends all processes and removes the site.
    func run(_ site: DrillSite) async throws
}

extension Drill {
    var needs: [DrillNeed] { [] }
    var isShort: Bool { false }
    var minimumFaults: Int { 20 }
    var messages: Int64 { 100_000 }
}
