import Foundation

/// A small seeded generator (SplitMix64), so that a failing random test can be repeated.
public struct TestRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// A number from 0 up to and not including the bound; 0 for a bound of 0.
    public mutating func below(_ bound: Int) -> Int {
        bound > 0 ? Int(next() % UInt64(bound)) : 0
    }

    /// True once in so many times.
    public mutating func oneIn(_ number: Int) -> Bool {
        below(number) == 0
    }

    /// The seed of this run: `PUSHMTA_TEST_SEED`, or a random one; it is printed.
    public static func seed(for test: String) -> UInt64 {
        let given = ProcessInfo.processInfo.environment["PUSHMTA_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: .min ... .max)
        print("\(test): PUSHMTA_TEST_SEED=\(seed)")
        return seed
    }
}
