/// Where a connection stands between its requests, and until when it may stay there.
package struct ConnectionPhase: Sendable {
    /// The deadlines, in nanoseconds.
    package struct Limits: Sendable {
        var header: Int64
        var body: Int64
        var idle: Int64
        /// For a client that takes nothing of what is sent to it.
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

    /// What to do when a deadline has passed.
    enum Lapse: Sendable, Hashable {
        /// Nothing was asked, or nothing is taken: close.
        case close
        /// A request was begun and not finished: say so, then close.
        case timeout
        /// It has not passed; look again then, or never if there is none.
        case wait(until: Int64?)
    }

    private enum Expectation {
        /// The first byte of a request.
        case request
        /// The rest of its head.
        case head
        /// The rest of its body.
        case body
        /// Nothing: it is being answered.
        case nothing
    }

    /// A client that does not take what is sent to it.
    private struct Stall {
        var deadline: Int64
        /// The bytes that waited for it when the deadline was set.
        var pending: Int
    }

    private let limits: Limits
    private var expectation = Expectation.request
    /// Requests that were begun to be read and not answered in full.
    private(set) var unanswered = 0
    /// When the present expectation is disappointed; nil: never.
    private var expected: Int64?
    private var stall: Stall?

    /// A connection that was opened now; its first request has the time of a head, so that opening many costs something.
    init(limits: Limits, now: Int64) {
        self.limits = limits
        expected = now &+ limits.header
    }

    /// When to look at it again; nil: never. Nothing is read from a client that takes nothing, so nothing is expected of it either.
    var deadline: Int64? {
        if let stall { stall.deadline } else { expected }
    }

    /// Whether a whole request has no answer yet: that one goes before whatever else is to be said.
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
        // Behind a request that is being answered nothing may be read.
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

    /// So many bytes wait to be sent that no more are wanted.
    mutating func stalled(now: Int64, pending: Int) {
        stall = Stall(deadline: now &+ limits.write, pending: pending)
    }

    /// What waits to be sent was looked at; who has taken some of it has time for more.
    mutating func looked(now: Int64, pending: Int) {
        if let stall, pending < stall.pending { stalled(now: now, pending: pending) }
    }

    /// The client took what waited for it; what was expected of it meanwhile was not read.
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

    /// The time has come that was looked forward to.
    func lapse(now: Int64) -> Lapse {
        guard let deadline else { return .wait(until: nil) }
        guard now >= deadline else { return .wait(until: deadline) }
        if stall != nil { return .close }
        if case .request = expectation { return .close }
        return .timeout
    }
}
