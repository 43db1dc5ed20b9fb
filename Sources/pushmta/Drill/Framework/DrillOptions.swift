/// What the caller of a drill asked for.
struct DrillOptions: Sendable {
    /// The seed of everything that is random.
    var seed: UInt64
    /// The messages of a delivery; `nil`: what the drill is made for.
    var messages: Int64?
    /// Whether the site's folder stays at the end.
    var keeps = false
    /// Another gateway than the simulator.
    var gateway: ExternalGateway?
    /// How long the outages of drill `gateway-outage` last, in seconds.
    var outageSeconds = 30
    /// Whether times are measured and judged. In a short run on a machine that has other work, too, they would say nothing.
    var hasTimes = true
    /// Whether the run tells on standard error what it does.
    var isQuiet = false
}
