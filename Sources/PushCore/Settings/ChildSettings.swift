/// One MTA child.
public struct ChildSettings: Sendable, Equatable {
    /// How long a child without work stays, in seconds.
    public var idleChildTimeoutSec = 60
    /// The age at which a child drains and ends, in seconds.
    public var maxAgeSec = 600
    /// The number of messages after which a child drains and ends.
    public var maxMsgPerChild = 5_000_000
    /// The resident memory at which a child drains and ends, in MiB.
    public var maxWorkingSetMb = 128
    /// The connections to FCM of one child of a connector `android-v2` (`android-v1` has one).
    public var maxGCMConnectPerChild = 8
    /// The connections to APNs of one child.
    public var maxAPNsConnectPerChild = 1
    /// The most messages of one child that are sent or about to be sent and not stored.
    public var dispatchWindow = 4_000
    /// The most messages of one child that are loaded and wait for the dispatch window.
    public var maxWaitingMessages = 2_000
    /// The outcomes that one transaction stores.
    public var outcomeBatchSize = 1_000
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
