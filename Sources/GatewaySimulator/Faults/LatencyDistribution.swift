import Foundation

/// How long a gateway takes before it answers, in milliseconds.
public enum LatencyDistribution: Sendable, Equatable {
    /// Always the same.
    case fixed(milliseconds: Double)
    /// Evenly spread between two bounds.
    case uniform(from: Double, to: Double)
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

extension LatencyDistribution: Codable {
    private enum Key: String, CodingKey, CaseIterable {
        case fixed, uniform, exponential, p50, p99
    }

    /// Reads `{"fixed":50}`, `{"uniform":[10,80]}`, `{"exponential":40}` or `{"p50":30,"p99":200}`.
    public init(from decoder: any Decoder) throws {
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
                        "a latency is {\"fixed\":ms}, {\"uniform\":[from,to]}, {\"exponential\":mean} or {\"p50\":ms,\"p99\":ms}"
                )
            )
        }
    }

    /// Writes the form that `init(from:)` reads.
    public func encode(to encoder: any Encoder) throws {
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

/// The simulator's source of chance: xorshift64*, so that a seed repeats a run and a throw costs about a nanosecond.
struct FaultDice: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Dice that always fall the same way for the same seed.
    init(seed: UInt64) {
        // SplitMix64's finalizer: spreads small seeds over all bits; 0 would stay 0 for ever.
        var mixed = seed &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        state = mixed ^ (mixed >> 31)
        if state == 0 { state = 0x9E37_79B9_7F4A_7C15 }
    }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    /// A number in 0 ..< 1.
    mutating func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// True with that probability.
    mutating func happens(_ rate: Double) -> Bool {
        rate > 0 && unit() < rate
    }

    /// A number from the standard normal distribution (Box and Muller).
    mutating func normal() -> Double {
        let radius = (-2 * log(1 - unit())).squareRoot()
        return radius * cos(2 * .pi * unit())
    }
}
