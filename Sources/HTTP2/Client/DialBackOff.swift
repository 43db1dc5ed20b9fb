/// The pauses between attempts to connect: doubling, with jitter, so that many processes do not dial in step.
struct DialBackOff: Sendable {
    private let first: Int64
    private let maximum: Int64
    private(set) var attempt = 0

    /// - Parameters: the first and the longest pause in milliseconds.
    init(firstMilliseconds: Int64, maximumMilliseconds: Int64) {
        first = max(1, firstMilliseconds)
        maximum = max(first, maximumMilliseconds)
    }

    /// The pause before the next attempt, in milliseconds: between half and all of the doubled step.
    mutating func next(using random: inout some RandomNumberGenerator) -> Int64 {
        let step = attempt < 20 ? min(maximum, first << Int64(attempt)) : maximum
        attempt += 1
        return Int64.random(in: max(1, step / 2)...step, using: &random)
    }

    mutating func reset() {
        attempt = 0
    }
}
