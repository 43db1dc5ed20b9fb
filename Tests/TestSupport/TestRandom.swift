import Foundation

/// A small seeded generator (SplitMix64), so that a failing random test can be repeated.
package struct TestRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// A number from 0 up to but not including the bound; 0 if the bound is 0.
    package mutating func below(_ bound: Int) -> Int {
        bound > 0 ? Int(next() % UInt64(bound)) : 0
    }

    /// True with a probability of one in this many.
    package mutating func oneIn(_ number: Int) -> Bool {
        below(number) == 0
    }

    /// The seed of this run, which is printed: `PUSHMTA_TEST_SEED`, or a random one.
    package static func seed(for test: String) -> UInt64 {
        let given = ProcessInfo.processInfo.environment["PUSHMTA_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: .min ... .max)
        print("\(test): PUSHMTA_TEST_SEED=\(seed)")
        return seed
    }
}
