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
