import PushCore

/// The settings of one host's supervisor; names are Adobe Campaign's where the thing is the same.
public struct SupervisorSettings: Sendable, Equatable {
    /// The folder of host id, lock and journals; it is made if it does not exist. One supervisor a folder.
    public var workingPath = "/var/lib/pushmta"
    /// The machine's name, as `mta_host` shows it.
    public var hostName = ""
    /// The program's version, as `mta_host` shows it.
    public var version = ""
    /// The executable of the children. Empty: the supervisor's own.
    public var executablePath = ""
    /// Options of `pushmta` that every child gets, such as `--config FILE`; its environment is the supervisor's.
    public var globalOptions: [String] = []

    /// Children that are started at once, without the limit of one a second, when the supervisor starts; 0 to `maxSpareServers`.
    public var startSpareServers = 0
    /// Children of this host that are kept though there is no work for them; 0 to `maxSpareServers`.
    public var minSpareServers = 0
    /// The most children of this host, all applications and external accounts together; at least 1.
    public var maxSpareServers = 2
    /// The most children beyond these, for applications that have little to send; 0 for none.
    public var maxSmallChildren = 16
    /// Connections of the database's server that this host leaves free for people and other programs.
    public var freeConnections = 10
    /// The time between two looks at the database while there is no work, in seconds; 1 s while there is.
    public var dataBasePoolPeriodSec = 30
    /// The longest time between two attempts to reach a database that is away, in seconds.
    public var dataBaseRetryDelaySec = 10
    /// The time that children have to drain before they get SIGTERM, in seconds.
    public var drainTimeSec = 60
    /// The time between SIGTERM and SIGKILL, in seconds.
    public var killDelaySec = 10
    /// The time of day, `HH:MM:SS` on this host's clock and in its time zone, at which children are replaced one by one;
    /// empty: never.
    public var processRestartTime = ""
    /// The longest time that a request of a child can take, in seconds; a child without progress for twice this time, and at
    /// least 60 s, is ended.
    public var longestTimeoutSec = 30
    /// How deliveries are cut into parts; each number at least 1.
    public var preparation = PreparationSettings()
    /// When push tokens with soft errors are put into quarantine.
    public var quarantine = QuarantineSettings()
    /// How long an owner of a part may be silent before a sweep takes it, in seconds.
    public var leaseSec = 15
    /// The time between two renewals by an owner, in seconds.
    public var leaseRenewalSec = 5
    /// How long a child without work waits for some before it ends, in seconds.
    public var idleChildTimeoutSec = 60
    /// Where metrics are served.
    public var metrics = MetricsSettings.off

    /// Makes settings with the defaults.
    public init() {}

    /// Shortest timeout with a child that makes no progress.
    private static let shortestWatchdogSec = 60

    /// The names of settings in which the other reading differs and that take effect with the next start only.
    func waitingForRestart(in other: SupervisorSettings) -> [String] {
        let names = [
            ("mta.workingPath", workingPath != other.workingPath),
            ("mta.lease.durationSec", leaseSec != other.leaseSec),
            ("mta.lease.renewalSec", leaseRenewalSec != other.leaseRenewalSec),
            ("mta.master.dataBaseRetryDelaySec", dataBaseRetryDelaySec != other.dataBaseRetryDelaySec),
            ("mta.preparation.messagesPerPart", preparation.messagesPerPart != other.preparation.messagesPerPart),
            ("mta.preparation.partsPerChunk", preparation.partsPerChunk != other.preparation.partsPerChunk),
            ("mta.preparation.maxReadyParts", preparation.maxReadyParts != other.preparation.maxReadyParts),
            ("metrics.address", metrics.address != other.metrics.address),
            ("metrics.supervisorPort", metrics.supervisorPort != other.metrics.supervisorPort),
        ]
        return names.filter(\.1).map(\.0)
    }

    /// Options that give a child the lease by which its supervisor sweeps. Children read the settings themselves, perhaps after a
    /// change of which the sweep knows nothing yet: then their parts would be taken while they live and believe in them.
    var leaseOptions: [String] {
        ["--set", "mta.lease.durationSec=\(leaseSec)", "--set", "mta.lease.renewalSec=\(leaseRenewalSec)"]
    }

    /// A child for which a message may come at any moment waits ten minutes at least: without it the message waits for the start
    /// of another.
    var standingOptions: [String] {
        ["--set", "mta.child.idleChildTimeoutSec=\(max(600, idleChildTimeoutSec))"]
    }

    var spawn: SpawnSettings {
        SpawnSettings(
            startSpareServers: startSpareServers,
            minSpareServers: minSpareServers,
            maxSpareServers: max(1, maxSpareServers),
            maxSmallChildren: max(0, maxSmallChildren),
            freeConnections: max(0, freeConnections),
            drainTime: .seconds(drainTimeSec),
            killDelay: .seconds(killDelaySec),
            watchdogTime: .seconds(max(Self.shortestWatchdogSec, 2 * longestTimeoutSec))
        )
    }
}

extension SupervisorSettings {
    /// Takes what concerns the supervisor out of the settings of the whole product.
    ///
    /// - Parameters:
    ///   - globalOptions: options of `pushmta` that children get on their command line.
    ///   - hostName: the machine's name.
    ///   - version: the program's version.
    public init(_ settings: Settings, globalOptions: [String], hostName: String, version: String) {
        self.init()
        let master = settings.mta.master
        workingPath = settings.mta.workingPath
        self.hostName = hostName
        self.version = version
        executablePath = master.executablePath
        self.globalOptions = globalOptions
        startSpareServers = master.startSpareServers
        minSpareServers = master.minSpareServers
        maxSpareServers = master.maxSpareServers
        maxSmallChildren = master.maxSmallChildren
        freeConnections = master.freeDatabaseConnections
        dataBasePoolPeriodSec = master.dataBasePoolPeriodSec
        dataBaseRetryDelaySec = master.dataBaseRetryDelaySec
        drainTimeSec = master.drainTimeoutSec
        processRestartTime = master.processRestartTime
        longestTimeoutSec = max(settings.mta.child.requestTimeoutSec, settings.mta.child.connectTimeoutSec)
        preparation = settings.mta.preparation
        quarantine = settings.mta.quarantine
        leaseSec = settings.mta.lease.durationSec
        leaseRenewalSec = settings.mta.lease.renewalSec
        idleChildTimeoutSec = settings.mta.child.idleChildTimeoutSec
        metrics = settings.metrics
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
