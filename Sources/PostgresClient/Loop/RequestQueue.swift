import Synchronization

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

    mutating func removeAll() -> [Submission] {
        owner = nil
        return sessionRequests.removeAll() + everybody.removeAll()
    }
}

/// One thing that a caller asks of a connection, on its way through the connection's thread.
final class Request: Sendable {
    /// What is to be done.
    let work: Work
    /// The exclusive session it belongs to (a transaction, a COPY), nil for everybody's.
    let session: UInt64?
    private let cancelled = Atomic<Bool>(false)

    init(_ work: Work, session: UInt64? = nil) {
        self.work = work
        self.session = session
    }

    /// Whether the caller's task was cancelled; the thread looks at it before it sends.
    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Notes that the caller's task was cancelled.
    func markCancelled() { cancelled.store(true, ordering: .releasing) }

    enum Work: Sendable {
        /// Statements in one pipeline sync.
        case group([PostgresStatement])
        /// As `group`, and from then on only the session's requests are served.
        case open([PostgresStatement])
        /// As `group`, and then the session is over.
        case close([PostgresStatement])
        /// Several statements in the simple protocol.
        case script(String)
        /// Starts COPY … FROM STDIN; the session stays on the connection until `copyEnd`.
        case copyIn(String)
        /// Bytes of a COPY FROM STDIN.
        case copyChunk([UInt8])
        /// The end of a COPY FROM STDIN, or that it is given up.
        case copyEnd(failed: Bool)
        /// Starts COPY … TO STDOUT.
        case copyOut(String)
        /// The next bytes of a COPY TO STDOUT.
        case copyNext
        /// The reader of a COPY TO STDOUT has gone.
        case copyAbandon
        /// Waits for a notification.
        case notification(deadline: ContinuousClock.Instant)
    }
}

/// A request with the one who waits for its reply.
struct Submission: Sendable {
    let request: Request
    /// Nil when nobody waits (clean-up work).
    let continuation: CheckedContinuation<Reply, any Error>?

    func succeed(_ reply: Reply) { continuation?.resume(returning: reply) }
    func fail(_ error: any Error) { continuation?.resume(throwing: error) }
}

/// What a request ends with.
enum Reply: Sendable {
    /// A result for each statement.
    case results([PostgresResult])
    /// The number of rows copied.
    case rows(Int64)
    /// Bytes copied out; nil at the end.
    case bytes([UInt8]?)
    /// A notification; nil at the deadline.
    case notification(PostgresNotification?)
    /// Nothing more to say.
    case done

    /// The results of so many statements.
    func results(_ count: Int) throws(PostgresError) -> [PostgresResult] {
        guard case .results(let results) = self, results.count == count else {
            throw PostgresError(code: .connection, message: "the server's answers do not match the statements")
        }
        return results
    }
}

/// A first-in, first-out queue whose `popFirst` does not move the rest each time.
struct FIFO<Element> {
    private var elements: [Element] = []
    private var head = 0

    /// The number of elements waiting.
    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }
    var first: Element? { isEmpty ? nil : elements[head] }
    var last: Element? { isEmpty ? nil : elements[elements.count - 1] }
    var indices: Range<Int> { 0..<count }

    /// The element at that distance from the head.
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
        // An element keeps what it holds alive until its slot goes: compact when empty, and when half is stale.
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
