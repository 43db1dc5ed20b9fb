// Laboratory: drills, benches and quickstart: whole sites of real processes on this machine.
//
// WHAT IT DOES
//   Starts a private PostgreSQL cluster, the gateway simulator, supervisors with their children, and where asked a web
//   process and a feedback worker; sends deliveries; does damage on purpose; and compares, by message id, what the database
//   says with what the gateways recorded. Benches measure on the same sites, quickstart shows one.
//
// HOW IT IS USED
//   `pushmta-lab drill`, `bench` and `quickstart`, and the tests of these. A drill is a Drill in DrillCatalog: name, promise,
//   needs, and run(_:) on a DrillSite. DrillRunner makes folder and site, runs it, ends the hosts, draws up the
//   DrillReconciliation, and gives a DrillResult. Benches and quickstart use TestSite, the plainer one. BackgroundProcess is
//   one process of a site.
//
// THREADS AND TASKS
//   Drills run one after the other. Beside each a SnapshotWatcher looks at the equation of the outcomes and a RateMeter at
//   the rate. Signals cancel the run, and everything is ended and removed by a task that is not cancelled.
//
// STATE AND FILES
//   A folder a run below the temporary folder (pushmta-drill-PID-NAME, pushmta-bench-PID), with settings, keys, logs, records
//   and account.txt, and one for the cluster. They are removed at the end; --keep keeps a drill's. What a killed drill left
//   (processes, mounts, network namespaces, folders) the next one finds by its lock and undoes. Quickstart works in the
//   folder that is named.
//
// FAILURES
//   A drill passes only without a reason against it: messages lost, duplicates that are not ambiguous, anything unexplained,
//   too few faults under load, processes or journals left over. What this machine lacks for a drill is said, and it does not
//   pass. Durability stays on. But for a database that a bench is given by name, it touches nothing that is not its own. Some
//   drills need root.
//
// SETTINGS
//   It writes those of its hosts itself. A seed makes the random choices repeatable.
//
// SEE ALSO
//   Drill/DrillRunner.swift, Drill/DrillSite.swift, Reconciliation/DrillReconciliation.swift, TestSite/TestSite.swift,
//   HighAvailability/PatroniCluster.swift, TestSite/PrivateCluster.swift, Bench/BenchCommand.swift, TestSite/Quickstart.swift,
//   Deploy/guide/drills.md

import Administration
import Foundation
import PushCore

/// A fault drill: real processes, faults on purpose, and at the end an account of every message by its id.
protocol Drill: Sendable {
    /// The name on the command line.
    var name: String { get }
    /// What it does, in one line.
    var summary: String { get }
    /// What it must end with, in one line.
    var promise: String { get }
    /// What the machine must offer; where it does not, the drill does not pass and says why.
    var needs: [DrillNeed] { get }
    /// Whether it belongs to the short set: it takes seconds, and needs neither root nor further packages.
    var isShort: Bool { get }
    /// The faults that have to land while at least `DrillFault.leastStreams` streams are open.
    var minimumFaults: Int { get }
    /// The messages of a delivery unless the caller asks for another number.
    var messages: Int64 { get }

    /// Runs the drill on a site where nothing is started yet. It throws, or notes problems, when something is wrong. The
    /// account, the end of all processes and the removal of the site come afterwards and are not its business.
    func run(_ site: DrillSite) async throws
}

extension Drill {
    var needs: [DrillNeed] { [] }
    var isShort: Bool { false }
    var minimumFaults: Int { 20 }
    var messages: Int64 { 100_000 }
}

/// What a drill needs of the machine.
enum DrillNeed: Sendable, Equatable {
    /// The rights of root.
    case root
    /// A tool of the system, with the Debian package that has it.
    case tool(String, package: String)
    /// Network namespaces: root and `ip netns`.
    case networkNamespaces
    /// The product's own simulator: another gateway cannot be told to misbehave.
    case simulator
    /// Crash points, which only debug builds have.
    case crashPoints

    /// Whether no machine could meet it in this build or with this gateway, whatever is installed or allowed there.
    var isOfConstruction: Bool { self == .simulator || self == .crashPoints }

    /// Why this machine does not meet the need; `nil` if it does.
    ///
    /// - Parameters:
    ///   - hasSimulator: Whether the drill runs against the product's own simulator.
    ///   - hasCrashPoints: Whether this build has crash points.
    func obstacle(hasSimulator: Bool, hasCrashPoints: Bool) -> String? {
        switch self {
        case .root: getuid() == 0 ? nil : "it needs root"
        case .tool(let name, let package): Self.obstacle(tool: name, package)
        case .networkNamespaces:
            getuid() == 0 ? Self.obstacle(tool: "ip", "iproute2") : "it needs root, for network namespaces"
        case .simulator: hasSimulator ? nil : "it needs the product's own simulator"
        case .crashPoints: hasCrashPoints ? nil : "it needs a debug build, which has crash points"
        }
    }

    private static func obstacle(tool name: String, _ package: String) -> String? {
        (try? Executables.tool(name, package: package)) == nil ? "\(name) is not installed (package \(package))" : nil
    }
}

enum DrillCatalog {
    /// The word for every drill.
    static let everything = "all"
    /// The word for the short set: drills that take seconds and judge no times.
    static let short = "short"
    /// The messages of a delivery in the short set, unless the caller asks for another number: enough that faults land in the
    /// middle of it; another one follows when it is over.
    static let shortMessages: Int64 = 30_000

    /// The drills in the order in which `all` runs them.
    static var all: [any Drill] { processes + crashes + gateways + databases + hosts + highAvailability }

    /// The drill of that name.
    ///
    /// - Throws: `CommandFailure` that names the nearest one.
    static func drill(named name: String) throws -> any Drill {
        if let drill = all.first(where: { $0.name == name }) { return drill }
        throw CommandFailure(
            .data,
            "There is no drill \(name). These are: \(all.map(\.name).joined(separator: ", "))"
        )
    }

    /// Why a drill cannot run at all in this build or with this gateway; `nil` if it can.
    static func impossibility(_ drill: any Drill, hasSimulator: Bool, hasCrashPoints: Bool) -> String? {
        let obstacles = drill.needs.filter(\.isOfConstruction).compactMap {
            $0.obstacle(hasSimulator: hasSimulator, hasCrashPoints: hasCrashPoints)
        }
        return obstacles.isEmpty ? nil : obstacles.joined(separator: "; ")
    }

    /// The drills that a word of the command line stands for: a name, `all`, or `short`.
    static func drills(for word: String) throws -> [any Drill] {
        switch word {
        case everything: all
        case short: all.filter(\.isShort)
        default: [try drill(named: word)]
        }
    }
}

extension DrillCatalog {
    /// Processes that are killed or stopped.
    static let processes: [any Drill] = [
        KillChildrenDrill(policy: .resend), KillChildrenDrill(policy: .report), KillSupervisorDrill(), KillAllDrill(),
        StopChildDrill(hasUsualLease: false), StopChildDrill(hasUsualLease: true), JournalDiskFullDrill(),
    ]
}

extension DrillCatalog {
    /// Trouble with the database.
    static let databases: [any Drill] = [
        PostgresStopDrill(mode: .fast), PostgresStopDrill(mode: .immediate), BackendsTerminatedDrill(),
        ConnectionsExhaustedDrill(), DiskFullDrill(), FailoverDrill(), ReadersDrill(),
    ]
    /// What operators do, and what their servers do for them.
    static let highAvailability: [any Drill] = [PatroniFailoverDrill(), RestoreDrill(), RollingUpgradeDrill()]
    /// Several hosts, clocks, crowds.
    static let hosts: [any Drill] = [
        HostsCutOffDrill(keepsJournal: true), HostsCutOffDrill(keepsJournal: false), ClockDrill(place: .host),
        ClockDrill(place: .database), SharedQuotaDrill(), ClonedHostDrill(), ManyApplicationsDrill(),
        ManyDeliveriesDrill(),
    ]
}

extension DrillCatalog {
    /// Gateways that misbehave, keys that are revoked, environments that are mixed up, control while it runs.
    static let gateways: [any Drill] = [
        GatewayGoAwayDrill(), GatewayRefusedDrill(), GatewayLimitDrill(), GatewayResetDrill(), GatewayStallDrill(),
        Gateway503Drill(), Gateway429Drill(), GatewayOutageDrill(), KeyRevokedDrill(), EnvironmentMixUpDrill(),
        StrangersDrill(), PoisonedTokensDrill(), WrongAnswersDrill(), MassUnregisteredDrill(),
        ControlDrill(),
    ]
    /// Crash points.
    static let crashes: [any Drill] = [CrashPointsDrill()]
}
