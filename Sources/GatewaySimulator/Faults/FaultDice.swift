import Foundation

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

    /// Sixty-four random bits.
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
