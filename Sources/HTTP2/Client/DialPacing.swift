import NIOCore

/// The rule for when connections to a server may be dialled. The caller supplies the clock.
///
/// Each failure causes a pause. It doubles up to its maximum and has jitter, so that many processes do not dial in
/// step. A broken connection counts from the moment at which the break is known, however long its socket stays open.
///
/// Only the first response of a connection ends a series of failures: a server that accepts connections and breaks each
/// one is not well. During a series one connection at a time is tried, whatever number is wanted. The same holds after
/// a connection that answered and soon ended, until a successor has had time to last. It does not matter how a server
/// ends a connection: with any GOAWAY, the end of TCP, a reset or a protocol error. Apple treats many connections in a
/// short time as an attack.
package struct DialPacing: Sendable {
    /// The pause that a failure causes.
    package struct Pause: Sendable, Hashable {
        /// The time until the next attempt.
        package let milliseconds: Int64
        /// The number of the failure in its series, from 1; 0 for a connection that answered and soon broke, which is
        /// not a failure.
        package let attempt: Int
    }

    private let first: Int64
    private let maximum: Int64
    private let lasting: TimeAmount
    private var pausedUntil: NIODeadline?
    /// Until when one connection at a time is tried after one that soon ended; by then its successor has lasted.
    private var carefulUntil: NIODeadline?
    /// Failures since the last response.
    package private(set) var failures = 0

    /// - Parameters: the first and the maximum pause in milliseconds; both are at least 1.
    package init(firstMilliseconds: Int64, maxMilliseconds: Int64) {
        first = max(1, firstMilliseconds)
        maximum = max(first, maxMilliseconds)
        lasting = .milliseconds(max(0, maxMilliseconds))
    }

    /// Whether attempts have failed and no connection has answered since.
    package var isRecovering: Bool { failures > 0 }

    /// Whether a connection has recently ended soon after it answered. Until then a new one counts as proven only after
    /// ``minLife``.
    package func isCareful(at now: NIODeadline) -> Bool { carefulUntil.map { now < $0 } ?? false }

    /// The minimum lifetime of a connection that answered; one that ends sooner has not served.
    package var minLife: TimeAmount { .milliseconds(first) }

    /// The number of connections that may be dialled now.
    ///
    /// - Parameters:
    ///   - wanted: the number that there should be.
    ///   - proven: the number of open ones that have answered.
    ///   - unproven: the number of open or dialled ones that have not.
    package func dials(wanted: Int, proven: Int, unproven: Int, at now: NIODeadline) -> Int {
        if let pausedUntil, now < pausedUntil { return 0 }
        let missing = max(0, wanted - proven - unproven)
        return isRecovering || isCareful(at: now) ? min(missing, max(0, 1 - unproven)) : missing
    }

    /// Notes a failed attempt; returns the pause that it causes. Nil during a pause, because many attempts fail for the
    /// same cause.
    package mutating func failed(
        at now: NIODeadline,
        using random: inout some RandomNumberGenerator
    ) -> Pause? {
        if let pausedUntil, now < pausedUntil { return nil }
        let step = failures < 20 ? min(maximum, first << Int64(failures)) : maximum
        failures += 1
        return pause(step, attempt: failures, now, &random)
    }

    /// Notes a broken connection; returns the pause that it causes. Nil during a pause, and for a connection that has
    /// served.
    ///
    /// A connection that was open for longer than the maximum pause has served, even without requests. So has one that
    /// answered, unless it broke within the first pause; then the next attempt waits for the first pause.
    ///
    /// - Parameter lifetime: how long it was open; nil if it never was.
    package mutating func broke(
        answered: Bool,
        lifetime: TimeAmount?,
        at now: NIODeadline,
        using random: inout some RandomNumberGenerator
    ) -> Pause? {
        if let lifetime, lifetime >= lasting { return nil }
        guard answered else { return failed(at: now, using: &random) }
        if let pausedUntil, now < pausedUntil { return nil }
        guard let lifetime, lifetime < minLife else { return nil }
        let pause = pause(first, attempt: 0, now, &random)
        // Twice the time, because opening the successor takes a while.
        carefulUntil = now + .milliseconds(pause.milliseconds + 2 * first)
        return pause
    }

    /// Notes a connection's first response: the server is well, and the next pause is the shortest again.
    package mutating func answered() {
        failures = 0
    }

    /// Ends the pause because the problem has been fixed; the next pause is the shortest again.
    package mutating func retryNow() {
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
