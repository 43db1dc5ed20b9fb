/// The delivery engine of one host: supervisor and MTA children.
package struct MTASettings: Sendable, Equatable {
    /// The folder of this host's journals and host id. Each supervisor needs its own folder.
    package var workingPath = "/var/lib/pushmta"
    /// How deliveries are split into parts.
    package var preparation = PreparationSettings()
    /// How parts are leased to children.
    package var lease = LeaseSettings()
    /// When push tokens with soft errors are put into quarantine.
    package var quarantine = QuarantineSettings()
    /// The supervisor ("master" in Adobe's terms).
    package var master = MasterSettings()
    package var child = ChildSettings()

    /// Creates the settings with their defaults.
    package init() {}
}

/// The supervisor of one host ("master" in Adobe's terms).
package struct MasterSettings: Sendable, Equatable {
    /// The time between two queries of the database while there is no work, in seconds (1 s while there is work).
    package var dataBasePoolPeriodSec = 30
    /// The maximum time between two attempts to reach an unreachable database, in seconds.
    package var dataBaseRetryDelaySec = 10
    /// The maximum number of children on this host, for all applications and external accounts together.
    package var maxSpareServers = 2
    /// The maximum number of additional children, for applications that have little to send.
    package var maxSmallChildren = 16
    /// The number of database connections that this host leaves free for people and other programs.
    package var freeDatabaseConnections = 10
    /// The number of children that stay on this host even without work.
    package var minSpareServers = 0
    /// The number of children that the supervisor starts at once when it starts, without the limit of one spawn a
    /// second.
    package var startSpareServers = 0
    /// How long children may take to resolve messages in flight after they are asked to end, in seconds. Then they are
    /// killed with SIGKILL.
    package var drainTimeoutSec = 60
    /// The executable of the MTA children. Empty: the supervisor's executable.
    package var executablePath = ""
    /// The time of day, in this host's time zone, at which the children are replaced one by one; ``TimeOfDay`` parses
    /// it. Empty: never.
    package var processRestartTime = "06:00:00"

    /// Creates the settings with their defaults.
    package init() {}
}

package struct ChildSettings: Sendable, Equatable {
    /// How long a child stays without work, in seconds.
    package var idleChildTimeoutSec = 60
    /// The age at which a child drains and exits, in seconds.
    package var maxAgeSec = 600
    /// The number of messages after which a child drains and exits.
    package var maxMsgPerChild = 5_000_000
    /// The resident memory at which a child drains and exits, in MiB.
    package var maxWorkingSetMb = 384
    /// The maximum number of connections to FCM of one child with connector `android-v2` (`android-v1` has one).
    package var maxGCMConnectPerChild = 480
    /// The maximum number of connections to APNs of one child with connector `ios-http2`.
    package var maxAPNsConnectPerChild = 56
    /// The maximum number of messages of one child that are sent, or about to be sent, and not yet stored. The actual
    /// number follows the gateway's latency.
    package var dispatchWindow = 70_000
    /// The maximum number of loaded messages of one child that wait for the dispatch window; up to twice as many if the
    /// window is large.
    package var maxWaitingMessages = 2_000
    /// The number of outcomes that one transaction stores; up to twice as many if the dispatch window is large.
    ///
    /// With 1,000 instead of 2,000 a message cost PostgreSQL 0.4 µs more (measured alternately, November 2026), as each
    /// transaction and each COPY has a fixed cost. 3,000 would leave no room in a window of 4,000.
    package var outcomeBatchSize = 2_000
    /// How long an outcome waits for its batch to fill, in milliseconds.
    package var outcomeBatchDelayMs = 50
    /// How long the gateway may take to answer one request, in seconds.
    package var requestTimeoutSec = 30
    /// How long opening a connection to the gateway may take, in seconds.
    package var connectTimeoutSec = 10
    /// How long a draining child waits for outstanding answers, in seconds.
    package var drainTimeoutSec = 45
    /// Whether messages that a dead child may have sent follow their delivery's policy for ambiguous messages. If not,
    /// they are recorded as `unknown` and never sent again, whatever the policy.
    package var retryLostMessages = true

    /// Creates the settings with their defaults.
    package init() {}
}

/// How delivery parts are leased to MTA children.
package struct LeaseSettings: Sendable, Equatable {
    /// How long a part stays with an owner that no longer renews its lease, in seconds.
    package var durationSec = 15
    /// The time between two renewals, in seconds.
    package var renewalSec = 5

    /// The maximum time to load a part. It leaves room in one lease for the renewals before and after the load.
    package var loadTimeout: Duration { .seconds(durationSec - renewalSec) }

    /// Creates the settings with their defaults.
    package init() {}
}

/// How a delivery's target is split into parts.
package struct PreparationSettings: Sendable, Equatable {
    /// The number of messages in a part.
    package var messagesPerPart = 1_000
    /// The number of parts that one preparation transaction creates.
    package var partsPerChunk = 50
    /// With this many ready parts in an application, deliveries that have a prepared chunk wait before they prepare the
    /// next one.
    package var maxReadyParts = 5_000

    /// Creates the settings with their defaults.
    package init() {}
}

/// When push tokens with soft errors are put into quarantine and when their errors are forgotten, as in Adobe Campaign.
package struct QuarantineSettings: Sendable, Equatable {
    /// The number of soft errors that put a subscription into quarantine (Adobe's option `NmsNPAI_MobileMaxError`).
    package var maxSoftErrors = 5
    /// A soft error within this many seconds of another one does not count (Adobe's option
    /// `NmsNPAI_MobileSignificantErrorDelay`).
    package var significantErrorDelaySec = 86_400
    /// After this many days without an error, earlier ones are forgotten (Campaign v8, "Quarantine management").
    package var healingDays = 10
    /// An unconfirmed refusal of a token is resolved after this many days.
    package var doubtDays = 3
    /// Whether the refusal is accepted then, so that the token counts as dead. This way a first delivery to an old list
    /// cleans the list.
    package var believesDoubted = true

    /// Creates the settings with their defaults.
    package init() {}
}
