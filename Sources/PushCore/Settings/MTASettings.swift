/// The delivery engine: supervisor and MTA children of one host.
public struct MTASettings: Sendable, Equatable {
    /// The folder of this host's journals and of its host id. One supervisor a folder.
    public var workingPath = "/var/lib/pushmta"
    /// How deliveries are cut into parts.
    public var preparation = PreparationSettings()
    /// How parts are leased to children.
    public var lease = LeaseSettings()
    /// When push tokens with soft errors are put into quarantine.
    public var quarantine = QuarantineSettings()
    /// The supervisor ("master" in Adobe's terms).
    public var master = MasterSettings()
    public var child = ChildSettings()

    /// Creates the settings with their defaults.
    public init() {}
}

/// The supervisor of one host ("master" in Adobe's terms).
public struct MasterSettings: Sendable, Equatable {
    /// The time between two looks at the database while there is no work, in seconds (1 s while there is).
    public var dataBasePoolPeriodSec = 30
    /// The longest time between two attempts to reach a database that is away, in seconds.
    public var dataBaseRetryDelaySec = 10
    /// The most children on this host, of all applications and external accounts together.
    public var maxSpareServers = 2
    /// The most children beyond these, for applications that have little to send.
    public var maxSmallChildren = 16
    /// The connections of the database's server that this host leaves free for people and other programs.
    public var freeDatabaseConnections = 10
    /// The children that are kept on this host though there is no work for them.
    public var minSpareServers = 0
    /// The children that are started at once, without the limit of one spawn a second, when the supervisor starts.
    public var startSpareServers = 0
    /// How long children may take to resolve what is on the wire when they are asked to end, in seconds, before they are
    /// ended with SIGKILL.
    public var drainTimeoutSec = 60
    /// The executable of the MTA children. Empty: the supervisor's own.
    public var executablePath = ""
    /// The time of day, on this host's clock and in its time zone, at which the children are replaced one by one, as
    /// ``TimeOfDay`` reads it. Empty: never.
    public var processRestartTime = "06:00:00"

    /// Creates the settings with their defaults.
    public init() {}
}

public struct ChildSettings: Sendable, Equatable {
    /// How long a child without work stays, in seconds.
    public var idleChildTimeoutSec = 60
    /// The age at which a child drains and ends, in seconds.
    public var maxAgeSec = 600
    /// The number of messages after which a child drains and ends.
    public var maxMsgPerChild = 5_000_000
    /// The resident memory at which a child drains and ends, in MiB.
    public var maxWorkingSetMb = 384
    /// The most connections to FCM of one child of a connector `android-v2` (`android-v1` has one).
    public var maxGCMConnectPerChild = 480
    /// The most connections to APNs of one child of a connector `ios-http2`.
    public var maxAPNsConnectPerChild = 56
    /// The most messages of one child that are sent or about to be sent and not stored; how many they are follows the gateway's latency.
    public var dispatchWindow = 70_000
    /// The most messages of one child that are loaded and wait for the dispatch window; where that is large, up to twice as many.
    public var maxWaitingMessages = 2_000
    /// The outcomes that one transaction stores; where the dispatch window is large, up to twice as many. With 1,000 a message cost PostgreSQL 0.4
    /// µs more (in turn, November 2026), as each transaction and each COPY costs something by itself; 3,000 leave no room in a window of 4,000.
    public var outcomeBatchSize = 2_000
    /// How long an outcome waits for its batch to fill, in milliseconds.
    public var outcomeBatchDelayMs = 50
    /// How long the gateway may take to answer one request, in seconds.
    public var requestTimeoutSec = 30
    /// How long a connection to the gateway may take to open, in seconds.
    public var connectTimeoutSec = 10
    /// How long a child waits for the answers that are outstanding when it drains, in seconds.
    public var drainTimeoutSec = 45
    /// Whether messages that a dead child may have sent go by their delivery's policy for ambiguous messages; if not, they are
    /// reported as `unknown` and never sent again, whatever the policy says.
    public var retryLostMessages = true

    /// Creates the settings with their defaults.
    public init() {}
}

/// How delivery parts are leased to MTA children.
public struct LeaseSettings: Sendable, Equatable {
    /// How long a part stays with an owner of whom nothing is heard, in seconds.
    public var durationSec = 15
    /// The time between two renewals, in seconds.
    public var renewalSec = 5

    /// How long the load of a part may take: so much that the renewal before it, and the next one, lie within a lease.
    public var loadTimeout: Duration { .seconds(durationSec - renewalSec) }

    /// Creates the settings with their defaults.
    public init() {}
}

/// How a delivery's target is cut into parts.
public struct PreparationSettings: Sendable, Equatable {
    /// The number of messages in a part.
    public var messagesPerPart = 1_000
    /// The number of parts that one preparation transaction makes.
    public var partsPerChunk = 50
    /// The number of ready parts of an application at which deliveries that have a chunk ready wait for their next one.
    public var maxReadyParts = 5_000

    /// Creates the settings with their defaults.
    public init() {}
}

/// When push tokens with soft errors are put into quarantine and when they are healed, as Adobe Campaign does it.
public struct QuarantineSettings: Sendable, Equatable {
    /// So many soft errors put a subscription into quarantine (Adobe's option `NmsNPAI_MobileMaxError`).
    public var maxSoftErrors = 5
    /// A soft error within so many seconds after another one does not count (Adobe's option
    /// `NmsNPAI_MobileSignificantErrorDelay`).
    public var significantErrorDelaySec = 86_400
    /// After so many days without an error earlier ones are forgotten (Campaign v8, "Quarantine management").
    public var healingDays = 10
    /// After so many days a refusal of a token that is still in doubt is decided.
    public var doubtDays = 3
    /// Whether it is believed then: the token is dead. A first delivery to an old list cleans it so.
    public var believesDoubted = true

    /// Creates the settings with their defaults.
    public init() {}
}
