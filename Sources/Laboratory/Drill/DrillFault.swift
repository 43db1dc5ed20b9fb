/// An injected fault.
struct DrillFault: Sendable {
    /// The minimum number of open streams for a fault to count.
    static let minStreams: Int64 = 100

    /// What was done.
    let what: String
    /// The streams that were open when the fault was injected.
    let streams: Int64
    /// The maximum number of connections that a child can have had then: those to the gateway with the most. `nil` if
    /// the gateways do not report them.
    let connections: Int64?
    let moment: ContinuousClock.Instant

    /// Whether enough streams were open.
    var counts: Bool { streams >= Self.minStreams }
}
