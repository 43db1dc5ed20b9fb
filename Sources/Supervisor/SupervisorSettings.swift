import PushCore

/// The settings of one host's supervisor; names are Adobe Campaign's where the thing is the same.
public struct SupervisorSettings: Sendable, Equatable {
    /// What the settings say of supervisor and children.
    public var mta: MTASettings
    public var metrics: MetricsSettings
    /// The machine's name, as `mta_host` shows it.
    public var hostName: String
    /// The program's version, as `mta_host` shows it.
    public var version: String
    /// Options of `pushmta` that every child gets, such as `--config FILE`; its environment is the supervisor's.
    public var globalOptions: [String]
    /// The time between SIGTERM and SIGKILL, in seconds.
    public var killDelaySec = 10

    /// Takes what concerns the supervisor out of the settings of the whole product.
    ///
    /// - Parameters:
    ///   - globalOptions: options of `pushmta` that children get on their command line.
    ///   - hostName: the machine's name.
    ///   - version: the program's version.
    public init(_ settings: Settings, globalOptions: [String] = [], hostName: String = "", version: String = "") {
        mta = settings.mta
        metrics = settings.metrics
        self.globalOptions = globalOptions
        self.hostName = hostName
        self.version = version
    }

    /// The longest time that a request of a child can take, in seconds; a child without progress for twice this time, and at least
    /// ``shortestWatchdogSec``, is ended.
    private var longestTimeoutSec: Int { max(mta.child.requestTimeoutSec, mta.child.connectTimeoutSec) }

    /// Shortest timeout with a child that makes no progress.
    private static let shortestWatchdogSec = 60

    /// The names of settings in which the other reading differs and that take effect with the next start only.
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
            ("metrics.address", metrics.address != other.metrics.address),
            ("metrics.supervisorPort", metrics.supervisorPort != other.metrics.supervisorPort),
        ]
        return names.filter(\.1).map(\.0)
    }

    /// Options that give a child the lease by which its supervisor sweeps. Children read the settings themselves, perhaps after a
    /// change of which the sweep knows nothing yet: then their parts would be taken while they live and believe in them.
    var leaseOptions: [String] {
        [
            "--set", "mta.lease.durationSec=\(mta.lease.durationSec)", "--set",
            "mta.lease.renewalSec=\(mta.lease.renewalSec)",
        ]
    }

    /// A child for which a message may come at any moment waits ten minutes at least: without it the message waits for the start
    /// of another.
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
            watchdogTime: .seconds(max(Self.shortestWatchdogSec, 2 * longestTimeoutSec))
        )
    }
}

/// The settings that decide about starting and ending children.
struct SpawnSettings: Sendable, Equatable {
    var startSpareServers = 0
    var minSpareServers = 0
    var maxSpareServers = 2
    /// Children beyond these, for kinds that have little to send.
    var maxSmallChildren = 0
    /// Connections of the database's server that are left free.
    var freeConnections = 10
    /// From the request to drain to SIGTERM.
    var drainTime = Duration.seconds(60)
    /// From SIGTERM to SIGKILL.
    var killDelay = Duration.seconds(10)
    /// How long a child may go without progress, or without a status line.
    var watchdogTime = Duration.seconds(60)

    /// The most children of all sizes.
    var maxChildren: Int { maxSpareServers + maxSmallChildren }
}
