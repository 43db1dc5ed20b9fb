/// Where a connection stands between its requests, and until when it may stay there.
struct ConnectionPhase: Sendable {
    /// The deadlines, in nanoseconds.
    struct Limits: Sendable {
        var header: Int64
        var body: Int64
        var idle: Int64
    }

    /// What to do when a deadline has passed.
    enum Lapse: Sendable, Hashable {
        /// Nothing was asked: close.
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

    private let limits: Limits
    private var expectation = Expectation.request
    /// Requests that were begun to be read and not answered in full.
    private var unanswered = 0
    /// When the present expectation is disappointed; nil: never.
    private(set) var deadline: Int64?

    /// A connection that was opened now; its first request has the time of a head, so that opening many costs something.
    init(limits: Limits, now: Int64) {
        self.limits = limits
        deadline = now &+ limits.header
    }

    /// Whether a whole request has no answer yet: that one goes before whatever else is to be said.
    var owesAnswer: Bool {
        if case .body = expectation { unanswered > 1 } else { unanswered > 0 }
    }

    /// Bytes came.
    mutating func received(now: Int64) {
        guard case .request = expectation else { return }
        expectation = .head
        deadline = now &+ limits.header
    }

    /// A request's head is complete.
    mutating func readHead(now: Int64) {
        unanswered += 1
        expectation = .body
        deadline = now &+ limits.body
    }

    /// A request is complete.
    mutating func readEnd(now: Int64) {
        expectation = .nothing
        deadline = nil
        if unanswered == 0 { becomeIdle(now) }
    }

    /// A request is answered.
    mutating func answered(now: Int64) {
        unanswered = max(0, unanswered - 1)
        guard unanswered == 0, case .nothing = expectation else { return }
        becomeIdle(now)
    }

    private mutating func becomeIdle(_ now: Int64) {
        expectation = .request
        deadline = now &+ limits.idle
    }

    /// The time has come that was looked forward to.
    func lapse(now: Int64) -> Lapse {
        guard let deadline else { return .wait(until: nil) }
        guard now >= deadline else { return .wait(until: deadline) }
        if case .request = expectation { return .close }
        return .timeout
    }
}
