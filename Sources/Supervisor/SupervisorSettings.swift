import PushCore

/// The settings of one host's supervisor. Where Adobe Campaign has the same setting, its name is used.
package struct SupervisorSettings: Sendable, Equatable {
    /// The settings of the supervisor and its children.
    package var mta: MTASettings
    package var metrics: MetricsSettings
    /// The machine's name, shown in `mta_host`.
    package var hostName: String
    /// The program's version, shown in `mta_host`.
    package var version: String
    /// Options of `pushmta` that every child gets, such as `--config FILE`. Children inherit the supervisor's
    /// environment.
    package var globalOptions: [String]
    /// The time between SIGTERM and SIGKILL, in seconds.
    package var killDelaySec = 10

    /// Takes the supervisor's settings out of those of the whole product.
    ///
    /// - Parameters:
    ///   - globalOptions: options of `pushmta` for the command line of each child.
    ///   - hostName: the machine's name.
    ///   - version: the program's version.
    package init(_ settings: Settings, globalOptions: [String] = [], hostName: String = "", version: String = "") {
        mta = settings.mta
        metrics = settings.metrics
        self.globalOptions = globalOptions
        self.hostName = hostName
        self.version = version
    }

    /// The longest time that a child's request can take, in seconds. The watchdog time is twice this, and at least
    /// ``minWatchdogSec``.
    private var maxTimeoutSec: Int { max(mta.child.requestTimeoutSec, mta.child.connectTimeoutSec) }

    /// The minimum time without progress after which a child is ended, in seconds.
    private static let minWatchdogSec = 60

    /// The names of the settings that differ in `other` and take effect only after a restart.
    func waitingForRestart(in other: SupervisorSettings) -> [String] {
        let names = [
            ("mta.workingPath", mta.workingPath != other.mta.workingPath),
            ("mta.lease.durationSec", mta.lease.durationSec != other.mta.lease.durationSec),
            ("mta.lease.renewalSec", mta.lease.renewalSec != other.mta.lease.renewalSec),
            (
                "mta.master.dataBaseRetryDelaySec",
                mta.master.dataBaseRetryDelaySec != other.mta.master.dataBaseRetryDelaySec
            ),
            (
                "mta.preparation.messagesPerPart",
                mta.preparation.messagesPerPart != other.mta.preparation.messagesPerPart
            ),
            ("mta.preparation.partsPerChunk", mta.preparation.partsPerChunk != other.mta.preparation.partsPerChunk),
            ("mta.preparation.maxReadyParts", mta.preparation.maxReadyParts != other.mta.preparation.maxReadyParts),
            ("mta.preparation.freezeSec", mta.preparation.freezeSec != other.mta.preparation.freezeSec),
            ("metrics.address", metrics.address != other.metrics.address),
            ("metrics.supervisorPort", metrics.supervisorPort != other.metrics.supervisorPort),
        ]
        return names.filter(\.1).map(\.0)
    }

    /// Options that give a child the lease with which its supervisor sweeps. Children read the settings themselves. If
    /// those have changed since, the sweep would take parts from living children that still trust a longer lease.
    var leaseOptions: [String] {
        [
            "--set", "mta.lease.durationSec=\(mta.lease.durationSec)", "--set",
            "mta.lease.renewalSec=\(mta.lease.renewalSec)",
        ]
    }

    /// A child that may get a message at any moment idles for at least ten minutes: otherwise the message has to wait
    /// for a new child to start.
    var standingOptions: [String] {
        ["--set", "mta.child.idleChildTimeoutSec=\(max(600, mta.child.idleChildTimeoutSec))"]
    }

    var spawn: SpawnSettings {
        SpawnSettings(
            startSpareServers: mta.master.startSpareServers,
            minSpareServers: mta.master.minSpareServers,
            maxSpareServers: max(1, mta.master.maxSpareServers),
            maxSmallChildren: max(0, mta.master.maxSmallChildren),
            freeConnections: max(0, mta.master.freeDatabaseConnections),
            drainTime: .seconds(mta.master.drainTimeoutSec),
            killDelay: .seconds(killDelaySec),
            watchdogTime: .seconds(max(Self.minWatchdogSec, 2 * maxTimeoutSec))
        )
    }
}
