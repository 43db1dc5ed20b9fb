/// The state of the probe, for the ``Prober``.
struct ProbeView: Sendable {
    /// Whether this child is the prober.
    let isProber: Bool
    /// Whether a probe may leave and has not left.
    let mayProbe: Bool
    /// Whether a probe is on its way and still waits for its answer.
    let isAwaited: Bool
    /// Until when the last probe waits for its answer, on the owner's monotonic clock; nil if that has passed.
    let awaitedUntil: Duration?
    /// Whether a part has to be claimed to probe with.
    let hasNothing: Bool
    /// Whether parts are being given back, which may be the only ones.
    let isReleasing: Bool
    /// The deliveries of the parts that are held.
    let deliveries: Set<Int64>
    /// How long the gateway asked to wait; nil if it did not.
    let pauseAskedFor: Duration?
    /// Why the gateway is in trouble.
    let reason: String
}
