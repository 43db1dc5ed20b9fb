import Foundation

/// The simulator's random number generator, xorshift64*. A seed repeats a run, and a number costs about a nanosecond.
struct FaultDice: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator with a repeatable sequence for each seed.
    init(seed: UInt64) {
        // SplitMix64's finalizer spreads small seeds over all bits. A state of 0 would stay 0 forever.
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

    /// True with this probability.
    mutating func happens(_ rate: Double) -> Bool {
        rate > 0 && unit() < rate
    }

    /// A number from the standard normal distribution (Box–Muller).
    mutating func normal() -> Double {
        let radius = (-2 * log(1 - unit())).squareRoot()
        return radius * cos(2 * .pi * unit())
    }
}
