/// Where the true share of successes lies with a certainty of 95 % (Wilson's interval).
struct ShareInterval: Hashable {
    let low: Double
    let high: Double

    /// 95 % of a normal distribution lie within this many standard deviations; as in `pushmta_engine.wilson`.
    private static let deviations = 1.96

    /// Nil without a sample.
    init?(_ successes: Int64, of sample: Int64) {
        guard sample > 0 else { return nil }
        let (size, share) = (Double(sample), Double(min(max(successes, 0), sample)) / Double(sample))
        let square = Self.deviations * Self.deviations
        let centre = share + square / (2 * size)
        let spread = Self.deviations * (share * (1 - share) / size + square / (4 * size * size)).squareRoot()
        low = max((centre - spread) / (1 + square / size), 0)
        high = min((centre + spread) / (1 + square / size), 1)
    }
}
