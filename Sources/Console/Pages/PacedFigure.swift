/// A figure with its cost, so that expensive figures are read less often.
struct PacedFigure<Value: Sendable>: Sendable {
    let value: Value
    let readAt: ContinuousClock.Instant
    /// How long the reading took.
    let cost: Duration

    /// All readings of one kind together take at most one part in `share` of one database processor, however large
    /// the database is.
    static var share: Int { 400 }

    /// The share for one of several pages that are open. A few pages take a twentieth of a processor together, so that
    /// the parts of each page agree; of many, each takes ``share``.
    static func shareAmong(_ open: Int) -> Int { min(Self.share, 20 * max(open, 1)) }

    /// Whether it is time to read it again.
    ///
    /// - Parameter least: the minimum age in any case.
    func isDue(at now: ContinuousClock.Instant, least: Duration, share: Int = Self.share) -> Bool {
        now >= readAt + max(least, cost * share)
    }

    /// Reads a figure, unless the known one is recent enough.
    static func read(
        _ known: PacedFigure?,
        least: Duration,
        trip: Duration,
        share: Int = Self.share,
        _ work: () async throws -> Value
    ) async throws -> PacedFigure {
        let begin = ContinuousClock.now
        if let known, !known.isDue(at: begin, least: least, share: share) { return known }
        let value = try await work()
        return PacedFigure(value: value, readAt: begin, cost: max(.zero, ContinuousClock.now - begin - trip))
    }
}
