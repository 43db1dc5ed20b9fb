/// Who may use the connection next: everybody in turn, or only the session that owns it just now.
struct RequestQueue {
    private var everybody = FIFO<Submission>()
    private var sessionRequests = FIFO<Submission>()
    /// The session that has the connection to itself.
    private(set) var owner: UInt64?

    /// Takes a request in; returns it when it belongs to a session that is not (any more) on the connection.
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

    /// The request that may be served next.
    var next: Submission? { owner == nil ? everybody.first : sessionRequests.first }

    /// Takes the request that ``next`` showed.
    mutating func popNext() -> Submission? {
        owner == nil ? everybody.popFirst() : sessionRequests.popFirst()
    }

    /// Puts a request back at the front of everybody's queue.
    mutating func putBack(_ submission: Submission) { everybody.prepend(submission) }

    /// Gives the connection to a session.
    mutating func begin(_ session: UInt64) { owner = session }

    /// Ends the session; returns its requests that were not served.
    mutating func endSession() -> [Submission] {
        owner = nil
        return sessionRequests.removeAll()
    }

    /// Takes out a request that was cancelled before it was served.
    mutating func remove(_ request: Request) -> Submission? {
        if let index = everybody.indices.first(where: { everybody[$0].request === request }) {
            return everybody.remove(at: index)
        }
        if let index = sessionRequests.indices.first(where: { sessionRequests[$0].request === request }) {
            return sessionRequests.remove(at: index)
        }
        return nil
    }

    /// Takes out everything.
    mutating func removeAll() -> [Submission] {
        owner = nil
        return sessionRequests.removeAll() + everybody.removeAll()
    }
}
