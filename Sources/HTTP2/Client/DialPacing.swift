import NIOCore

/// When connections to one server may be dialled: the one rule for it, as a value whose clock is the caller's.
///
/// Each failure makes a pause, which doubles up to its maximum, with jitter, so that many processes do not dial in step. A
/// connection that broke counts from the moment at which that is known, however long its socket stays open. The first answer of a
/// connection ends the series, and nothing less does: a server that lets everybody in and breaks each connection is not well.
/// While a series lasts, one connection at a time is tried, whatever number is wanted; and so after one that answered and ended soon,
/// until a successor may have lasted. It does not matter how a server ends a connection: by GOAWAY of any kind, the end of TCP, a reset or
/// a breach of protocol. Apple takes many connections in a short time for an attack.
public struct DialPacing: Sendable {
    /// What a failure costs.
    public struct Pause: Sendable, Hashable {
        /// Until the next attempt.
        public let milliseconds: Int64
        /// The number of the failure in its series, from 1; 0 for a connection that answered and broke soon, which is none.
        public let attempt: Int
    }

    private let first: Int64
    private let maximum: Int64
    private let lasting: TimeAmount
    private var pausedUntil: NIODeadline?
    /// By then a connection that is dialled after one that ended soon has lasted.
    private var carefulUntil: NIODeadline?
    /// Failures since the last answer.
    public private(set) var failures = 0

    /// - Parameters: the first and the longest pause in milliseconds; both are at least 1.
    public init(firstMilliseconds: Int64, maximumMilliseconds: Int64) {
        first = max(1, firstMilliseconds)
        maximum = max(first, maximumMilliseconds)
        lasting = .milliseconds(max(0, maximumMilliseconds))
    }

    /// Whether the last attempts have failed and no connection has answered since.
    public var isRecovering: Bool { failures > 0 }

    /// Whether connections end soon after they answer: one counts as proven only when it has lasted for ``leastLife``.
    public func isCareful(at now: NIODeadline) -> Bool { carefulUntil.map { now < $0 } ?? false }

    /// A connection that answered and ended sooner has not served.
    public var leastLife: TimeAmount { .milliseconds(first) }

    /// How many connections may be dialled now.
    ///
    /// - Parameters:
    ///   - wanted: how many there should be.
    ///   - proven: how many there are that have answered.
    ///   - unproven: how many there are, or are being dialled, that have not.
    public func dials(wanted: Int, proven: Int, unproven: Int, at now: NIODeadline) -> Int {
        if let pausedUntil, now < pausedUntil { return 0 }
        let missing = max(0, wanted - proven - unproven)
        return isRecovering || isCareful(at: now) ? min(missing, max(0, 1 - unproven)) : missing
    }

    /// An attempt failed: the pause that this costs, nil while one lasts, as many fail for the same cause.
    public mutating func failed(
        at now: NIODeadline,
        using random: inout some RandomNumberGenerator
    ) -> Pause? {
        if let pausedUntil, now < pausedUntil { return nil }
        let step = failures < 20 ? min(maximum, first << Int64(failures)) : maximum
        failures += 1
        return pause(step, attempt: failures, now, &random)
    }

    /// An open connection broke: the pause that this costs, nil while one lasts, and for a connection that served.
    ///
    /// One that was open for longer than the longest pause has served, also if nothing was asked of it. One that answered has,
    /// too, but not if it broke within the first pause: then the next attempt waits for that long.
    ///
    /// - Parameter lifetime: how long it was open; nil if it never was.
    public mutating func broke(
        answered: Bool,
        lifetime: TimeAmount?,
        at now: NIODeadline,
        using random: inout some RandomNumberGenerator
    ) -> Pause? {
        if let lifetime, lifetime >= lasting { return nil }
        guard answered else { return failed(at: now, using: &random) }
        if let pausedUntil, now < pausedUntil { return nil }
        guard let lifetime, lifetime < leastLife else { return nil }
        let pause = pause(first, attempt: 0, now, &random)
        // Twice as long, as it takes a while until it is there.
        carefulUntil = now + .milliseconds(pause.milliseconds + 2 * first)
        return pause
    }

    /// A connection brought its first answer: the server is well, and the next pause is the shortest again.
    public mutating func answered() {
        failures = 0
    }

    /// Somebody has put right what was wrong: the pause is over, and the next one is the shortest again.
    public mutating func retryNow() {
        failures = min(failures, 1)
        pausedUntil = nil
        carefulUntil = nil
    }

    private mutating func pause(
        _ step: Int64,
        attempt: Int,
        _ now: NIODeadline,
        _ random: inout some RandomNumberGenerator
    ) -> Pause {
        let milliseconds = Int64.random(in: max(1, step / 2)...step, using: &random)
        pausedUntil = now + .milliseconds(milliseconds)
        return Pause(milliseconds: milliseconds, attempt: attempt)
    }
}
