import PushCore

/// Gathers items that are committed together: while one transaction runs, the next one collects.
///
/// An item that comes while nothing runs waits for others for the delay, and no longer than until the batch is full; items that
/// come during a transaction have waited for its time and go as soon as it ends.
struct GroupCommit<Item: Sendable>: Sendable {
    /// What the owner does next.
    enum Action: Sendable {
        /// Store these, then say ``GroupCommit/finished()``.
        case commit([Item])
        /// Say ``GroupCommit/delayPassed()`` after the delay.
        case wait
        case none
        /// There is no room for the item.
        case refuse
    }

    private enum Phase {
        case idle, gathering, running
    }

    private let batchSize: Int
    private let capacity: Int
    private let hasDelay: Bool
    private var phase = Phase.idle
    private var waiting: [Item] = []

    /// - Parameters:
    ///   - batchSize: the most items of one transaction.
    ///   - capacity: the most items that wait.
    ///   - hasDelay: whether the first item of a batch waits for others at all.
    init(batchSize: Int, capacity: Int, hasDelay: Bool) {
        self.batchSize = max(batchSize, 1)
        self.capacity = max(capacity, 1)
        self.hasDelay = hasDelay
    }

    var count: Int { waiting.count }
    /// Whether nothing waits and nothing runs.
    var isIdle: Bool { phase == .idle }

    mutating func add(_ item: Item) -> Action {
        guard waiting.count < capacity else { return .refuse }
        waiting.append(item)
        switch phase {
        case .running: return .none
        case .gathering: return waiting.count >= batchSize ? commit() : .none
        case .idle:
            guard hasDelay, waiting.count < batchSize else { return commit() }
            phase = .gathering
            return .wait
        }
    }

    /// The delay after ``Action/wait`` is over; late or twice does no harm.
    mutating func delayPassed() -> Action {
        phase == .gathering ? commit() : .none
    }

    /// The transaction has ended, well or badly.
    mutating func finished() -> Action {
        guard phase == .running else { return .none }
        phase = .idle
        return waiting.isEmpty ? .none : commit()
    }

    private mutating func commit() -> Action {
        phase = .running
        if waiting.count <= batchSize {
            defer { waiting = [] }
            return .commit(waiting)
        }
        let batch = Array(waiting.prefix(batchSize))
        waiting.removeFirst(batchSize)
        return .commit(batch)
    }
}
