/// The phase of a connection, and the deadline of that phase.
package struct ConnectionPhase: Sendable {
    /// The deadlines, in nanoseconds.
    package struct Limits: Sendable {
        var header: Int64
        var body: Int64
        var idle: Int64
        /// For a client that reads nothing of what is sent to it.
        var write: Int64

        /// Deadlines, in nanoseconds.
        init(header: Int64, body: Int64, idle: Int64, write: Int64) {
            (self.header, self.body, self.idle, self.write) = (header, body, idle, write)
        }

        /// Deadlines, in seconds.
        package init(headerSec: Int, bodySec: Int, idleSec: Int, writeSec: Int) {
            self.init(
                header: Int64(headerSec) * 1_000_000_000,
                body: Int64(bodySec) * 1_000_000_000,
                idle: Int64(idleSec) * 1_000_000_000,
                write: Int64(writeSec) * 1_000_000_000
            )
        }
    }

    /// What to do at a deadline.
    enum Lapse: Sendable, Hashable {
        /// No request has begun, or the client reads nothing: close.
        case close
        /// A request has begun and is incomplete: answer with 408, then close.
        case timeout
        /// The deadline has not passed: check again then, or never if there is none.
        case wait(until: Int64?)
    }

    private enum Expectation {
        /// The first byte of a request.
        case request
        /// The rest of its head.
        case head
        /// The rest of its body.
        case body
        /// Nothing, because the request is being answered.
        case nothing
    }

    /// A client that does not read what is sent to it.
    private struct Stall {
        var deadline: Int64
        /// The number of bytes that waited to be sent when the deadline was set.
        var pending: Int
    }

    private let limits: Limits
    private var expectation = Expectation.request
    /// The number of requests whose head was read and whose response is incomplete.
    private(set) var unanswered = 0
    /// The deadline of the current expectation; nil for none.
    private var expected: Int64?
    private var stall: Stall?

    /// A connection that was just opened. Its first request has only the time for a head, so that a client cannot hold
    /// many idle connections cheaply.
    init(limits: Limits, now: Int64) {
        self.limits = limits
        expected = now &+ limits.header
    }

    /// When to check the connection; nil for never. Nothing is read from a client that does not read its responses, so
    /// nothing is expected of it either.
    var deadline: Int64? {
        if let stall { stall.deadline } else { expected }
    }

    /// Whether a complete request has no response yet. That response precedes any error response.
    var owesAnswer: Bool {
        if case .body = expectation { unanswered > 1 } else { unanswered > 0 }
    }

    mutating func received(now: Int64) {
        guard case .request = expectation else { return }
        expectation = .head
        expected = now &+ limits.header
    }

    /// A request's head is complete.
    mutating func readHead(now: Int64) {
        unanswered += 1
        expectation = .body
        // While an earlier request is being answered, its successors may not be read.
        expected = unanswered > 1 ? nil : now &+ limits.body
    }

    /// A request is complete.
    mutating func readEnd(now: Int64) {
        expectation = .nothing
        expected = nil
        if unanswered == 0 { becomeIdle(now) }
    }

    mutating func answered(now: Int64) {
        unanswered = max(0, unanswered - 1)
        if case .body = expectation, unanswered == 1 { expected = now &+ limits.body }
        guard unanswered == 0, case .nothing = expectation else { return }
        becomeIdle(now)
    }

    private mutating func becomeIdle(_ now: Int64) {
        expectation = .request
        expected = now &+ limits.idle
    }

    /// Too many bytes wait to be sent; no more are accepted.
    mutating func stalled(now: Int64, pending: Int) {
        stall = Stall(deadline: now &+ limits.write, pending: pending)
    }

    /// Checks how much still waits to be sent; a client that has read some of it gets a new deadline.
    mutating func looked(now: Int64, pending: Int) {
        if let stall, pending < stall.pending { stalled(now: now, pending: pending) }
    }

    /// The client has read enough. Its deadlines start again, because nothing was read from it meanwhile.
    mutating func flowed(now: Int64) {
        guard stall != nil else { return }
        stall = nil
        switch expectation {
        case .request: expected = now &+ limits.idle
        case .head: expected = now &+ limits.header
        case .body: expected = unanswered > 1 ? nil : now &+ limits.body
        case .nothing: expected = nil
        }
    }

    /// What to do now that the timer has fired.
    func lapse(now: Int64) -> Lapse {
        guard let deadline else { return .wait(until: nil) }
        guard now >= deadline else { return .wait(until: deadline) }
        if stall != nil { return .close }
        if case .request = expectation { return .close }
        return .timeout
    }
}
