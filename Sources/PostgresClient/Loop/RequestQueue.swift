/// The queue for a connection: all requests in turn, or only those of the session that currently owns it.
struct RequestQueue {
    private var everybody = FIFO<Submission>()
    private var sessionRequests = FIFO<Submission>()
    /// The session that has the connection to itself.
    private(set) var owner: UInt64?

    /// Adds a request; returns it if it belongs to a session that does not own the connection.
    mutating func add(_ submission: Submission) -> Submission? {
        guard let session = submission.request.session else {
            everybody.append(submission)
            return nil
        }
        if session == owner {
            sessionRequests.append(submission)
            return nil
        }
        switch submission.request.work {
        case .open, .copyIn, .copyOut:
            everybody.append(submission)
            return nil
        default:
            return submission
        }
    }

    /// The next request to serve.
    var next: Submission? { owner == nil ? everybody.first : sessionRequests.first }

    /// Removes and returns ``next``.
    mutating func popNext() -> Submission? {
        owner == nil ? everybody.popFirst() : sessionRequests.popFirst()
    }

    /// Puts a request back at the front of the common queue.
    mutating func putBack(_ submission: Submission) { everybody.prepend(submission) }

    /// Gives the connection to a session.
    mutating func begin(_ session: UInt64) { owner = session }

    /// Ends the session; returns its unserved requests.
    mutating func endSession() -> [Submission] {
        owner = nil
        return sessionRequests.removeAll()
    }

    /// Removes a request that was cancelled before it was served.
    mutating func remove(_ request: Request) -> Submission? {
        if let index = everybody.indices.first(where: { everybody[$0].request === request }) {
            return everybody.remove(at: index)
        }
        if let index = sessionRequests.indices.first(where: { sessionRequests[$0].request === request }) {
            return sessionRequests.remove(at: index)
        }
        return nil
    }

    mutating func removeAll() -> [Submission] {
        owner = nil
        return sessionRequests.removeAll() + everybody.removeAll()
    }
}
