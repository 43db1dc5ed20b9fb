import Foundation

/// The distribution of a gateway's latency, in milliseconds.
package enum LatencyDistribution: Sendable, Equatable {
    /// Constant.
    case fixed(milliseconds: Double)
    /// Uniform between two bounds.
    case uniform(from: Double, to: Double)
    case exponential(mean: Double)
    /// Log-normal with this median and 99th percentile.
    case quantiles(p50: Double, p99: Double)

    /// The 99 % quantile of the standard normal distribution.
    private static let normalP99 = 2.326_347_874

    /// The maximum delay, in milliseconds. A tail longer than a minute would only look like a stall.
    static let maxMilliseconds = 60_000.0

    /// Draws one delay in nanoseconds.
    func sample(_ dice: inout FaultDice) -> Int64 {
        let milliseconds =
            switch self {
            case .fixed(let milliseconds): milliseconds
            case .uniform(let from, let to): from + (to - from) * dice.unit()
            case .exponential(let mean): -mean * log(1 - dice.unit())
            case .quantiles(let p50, let p99): p50 * exp(log(p99 / p50) / Self.normalP99 * dice.normal())
            }
        return Int64(min(max(milliseconds, 0), Self.maxMilliseconds) * 1_000_000)
    }

    /// What is wrong with the numbers; nil if they are valid.
    var problem: String? {
        switch self {
        case .fixed(let value) where !(value >= 0): "fixed must not be negative"
        case .uniform(let from, let to) where !(from >= 0 && to >= from): "uniform needs 0 <= from <= to"
        case .exponential(let mean) where !(mean > 0): "exponential needs a mean greater than 0"
        case .quantiles(let p50, let p99) where !(p50 > 0 && p99 >= p50): "quantiles need 0 < p50 <= p99"
        default: nil
        }
    }
}

extension LatencyDistribution: Codable {
    private enum Key: String, CodingKey, CaseIterable {
        case fixed, uniform, exponential, p50, p99
    }

    /// Reads `{"fixed":50}`, `{"uniform":[10,80]}`, `{"exponential":40}` or `{"p50":30,"p99":200}`.
    package init(from decoder: any Decoder) throws {
        try StrictKeys.check(decoder, known: Key.allCases.map(\.rawValue))
        let values = try decoder.container(keyedBy: Key.self)
        if let milliseconds = try values.decodeIfPresent(Double.self, forKey: .fixed) {
            self = .fixed(milliseconds: milliseconds)
        } else if let bounds = try values.decodeIfPresent([Double].self, forKey: .uniform), bounds.count == 2 {
            self = .uniform(from: bounds[0], to: bounds[1])
        } else if let mean = try values.decodeIfPresent(Double.self, forKey: .exponential) {
            self = .exponential(mean: mean)
        } else if let p50 = try values.decodeIfPresent(Double.self, forKey: .p50) {
            self = .quantiles(p50: p50, p99: try values.decode(Double.self, forKey: .p99))
        } else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription:
                        "a latency is {\"fixed\":ms}, {\"uniform\":[from,to]}, {\"exponential\":mean} or "
                        + "{\"p50\":ms,\"p99\":ms}"
                )
            )
        }
    }

    /// Writes the form that `init(from:)` reads.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        switch self {
        case .fixed(let milliseconds): try values.encode(milliseconds, forKey: .fixed)
        case .uniform(let from, let to): try values.encode([from, to], forKey: .uniform)
        case .exponential(let mean): try values.encode(mean, forKey: .exponential)
        case .quantiles(let p50, let p99):
            try values.encode(p50, forKey: .p50)
            try values.encode(p99, forKey: .p99)
        }
    }
}
