import PushCore
import Synchronization

/// Commits the items of concurrent callers in common transactions, and gives each caller its result.
///
/// One transaction runs at a time, in the order in which the items arrived.
final class GroupCommitter<Item: Sendable, Answer: Sendable>: Sendable {
    private struct Entry: Sendable {
        let item: Item
        /// Called with the result; nil if there was no room.
        let answer: @Sendable (Answer?) -> Void
    }

    private let state: Mutex<GroupCommit<Entry>>
    private let delay: Duration
    /// Stores items and returns a result for each, in their order.
    private let commit: @Sendable ([Item]) async -> [Answer]

    init(
        batchSize: Int,
        capacity: Int,
        delay: Duration,
        commit: @escaping @Sendable ([Item]) async -> [Answer]
    ) {
        state = Mutex(GroupCommit(batchSize: batchSize, capacity: capacity, hasDelay: delay > .zero))
        self.delay = delay
        self.commit = commit
    }

    /// The number of items that wait for their transaction.
    var waiting: Int { state.withLock(\.count) }

    /// Waits until the item is stored; nil if there is no room for it.
    func submit(_ item: Item) async -> Answer? {
        await withCheckedContinuation { continuation in
            submit(item) { continuation.resume(returning: $0) }
        }
    }

    /// Queues the item and calls `answer` with the result, on any thread; nil if there is no room for it.
    func submit(_ item: Item, answer: @escaping @Sendable (Answer?) -> Void) {
        let action = state.withLock { $0.add(Entry(item: item, answer: answer)) }
        if case .refuse = action { answer(nil) } else { perform(action) }
    }

    private func perform(_ action: GroupCommit<Entry>.Action) {
        switch action {
        case .none, .refuse: break
        case .wait:
            Task {
                try? await Task.sleep(for: delay)
                perform(state.withLock { $0.delayPassed() })
            }
        case .commit(let entries):
            Task { await run(entries) }
        }
    }

    /// Runs transactions until nothing waits.
    private func run(_ first: [Entry]) async {
        var next: [Entry]? = first
        while let entries = next {
            let answers = await commit(entries.map(\.item))
            // Determines the next batch before the callers of this one are resumed.
            let action = state.withLock { $0.finished() }
            for (entry, answer) in zip(entries, answers) { entry.answer(answer) }
            for entry in entries.dropFirst(answers.count) { entry.answer(nil) }
            if case .commit(let more) = action { next = more } else { next = nil }
        }
    }
}
