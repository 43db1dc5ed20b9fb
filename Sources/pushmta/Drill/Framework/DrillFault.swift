/// A fault that was done on purpose.
struct DrillFault: Sendable {
    /// So many streams have to be open for a fault to count.
    static let leastStreams: Int64 = 100

    /// What was done.
    let what: String
    /// The streams that were open when it was done.
    let streams: Int64
    /// When it was done.
    let moment: ContinuousClock.Instant

    /// Whether it counts.
    var counts: Bool { streams >= Self.leastStreams }
}
