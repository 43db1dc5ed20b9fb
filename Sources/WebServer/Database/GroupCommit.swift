import PushCore

/// Gathers items to commit together: while one transaction runs, the items of the next gather.
///
/// An item that arrives while nothing runs waits for others until the delay has passed or the batch is full. Items that
/// arrive during a transaction go as soon as it ends.
struct GroupCommit<Item: Sendable>: Sendable {
    /// What the owner does next.
    enum Action: Sendable {
        /// Store these, then call ``GroupCommit/finished()``.
        case commit([Item])
        /// Call ``GroupCommit/delayPassed()`` after the delay.
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
    ///   - batchSize: the maximum number of items in a transaction.
    ///   - capacity: the maximum number of waiting items.
    ///   - hasDelay: whether the first item of a batch waits for others.
    init(batchSize: Int, capacity: Int, hasDelay: Bool) {
        self.batchSize = max(batchSize, 1)
        self.capacity = max(capacity, 1)
        self.hasDelay = hasDelay
    }

    var count: Int { waiting.count }
    /// Whether nothing is waiting or running.
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

    /// The delay of ``Action/wait`` has passed. Calling this late or twice is harmless.
    mutating func delayPassed() -> Action {
        phase == .gathering ? commit() : .none
    }

    /// The transaction has succeeded or failed.
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
