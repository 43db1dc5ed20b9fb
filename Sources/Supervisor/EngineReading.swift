import Store

/// Figures read from the database for metrics.
struct EngineReading: Sendable {
    let figures: EngineFigures
    let at: ContinuousClock.Instant
    /// How long it took to read them.
    let time: Duration
    /// The used share of each limit since the previous reading; a new limit has none.
    let usedRatios: [QuotaKey: Double]

    struct QuotaKey: Sendable, Hashable {
        let scope: String
        let name: String
    }

    init(_ figures: EngineFigures, at: ContinuousClock.Instant, time: Duration, before: EngineReading?) {
        self.figures = figures
        self.at = at
        self.time = time
        var ratios: [QuotaKey: Double] = [:]
        if let before {
            let seconds = (at - before.at) / .seconds(1)
            for quota in figures.quotas where quota.currentRate > 0 && seconds > 0 {
                let old = before.figures.quotas.first { $0.scope == quota.scope && $0.name == quota.name }
                guard let old, old.granted <= quota.granted else { continue }
                ratios[QuotaKey(scope: quota.scope, name: quota.name)] =
                    Double(quota.granted - old.granted) / (seconds * quota.currentRate)
            }
        }
        usedRatios = ratios
    }
}
