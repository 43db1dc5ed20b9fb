import Foundation

/// How long a gateway takes before it answers, in milliseconds.
public enum LatencyDistribution: Sendable, Equatable {
    /// Always the same.
    case fixed(milliseconds: Double)
    /// Evenly spread between two bounds.
    case uniform(from: Double, to: Double)
    /// Exponential with that mean.
    case exponential(mean: Double)
    /// Log-normal with that median and 99th percentile.
    case quantiles(p50: Double, p99: Double)

    /// The 99 % quantile of the standard normal distribution.
    private static let normalP99 = 2.326_347_874

    /// The longest delay that is ever drawn, in milliseconds: a tail longer than a minute would only look like a stall.
    static let longestMilliseconds = 60_000.0

    /// Draws one delay in nanoseconds.
    func sample(_ dice: inout FaultDice) -> Int64 {
        let milliseconds =
            switch self {
            case .fixed(let milliseconds): milliseconds
            case .uniform(let from, let to): from + (to - from) * dice.unit()
            case .exponential(let mean): -mean * log(1 - dice.unit())
            case .quantiles(let p50, let p99): p50 * exp(log(p99 / p50) / Self.normalP99 * dice.normal())
            }
        return Int64(min(max(milliseconds, 0), Self.longestMilliseconds) * 1_000_000)
    }

    /// What is wrong with the numbers; nil when they make sense.
    var problem: String? {
        switch self {
        case .fixed(let value) where !(value >= 0): "fixed must not be negative"
        case .uniform(let from, let to) where !(from >= 0 && to >= from): "uniform needs 0 <= from <= to"
        case .exponential(let mean) where !(mean > 0): "exponential needs a mean above 0"
        case .quantiles(let p50, let p99) where !(p50 > 0 && p99 >= p50): "quantiles need 0 < p50 <= p99"
        default: nil
        }
    }
}
