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

/// A first-in, first-out queue whose `popFirst` does not move the other elements each time.
struct FIFO<Element> {
    private var elements: [Element] = []
    private var head = 0

    /// The number of elements.
    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }
    var first: Element? { isEmpty ? nil : elements[head] }
    var last: Element? { isEmpty ? nil : elements[elements.count - 1] }
    var indices: Range<Int> { 0..<count }

    /// The element at this distance from the head.
    subscript(index: Int) -> Element {
        get { elements[head + index] }
        set { elements[head + index] = newValue }
    }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func prepend(_ element: Element) {
        elements.insert(element, at: head)
    }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        head += 1
        // A popped element stays alive until its slot is removed. So compact when empty, and when half is stale.
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 32, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    mutating func remove(at index: Int) -> Element { elements.remove(at: head + index) }

    mutating func removeAll() -> [Element] {
        defer {
            elements = []
            head = 0
        }
        return Array(elements[head...])
    }
}
