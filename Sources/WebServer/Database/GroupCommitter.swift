import PushCore
import Synchronization

/// Commits what many callers have at the same time in common transactions, and tells each what became of his.
///
/// One transaction runs at a time, and they run in the order in which their items came.
final class GroupCommitter<Item: Sendable, Answer: Sendable>: Sendable {
    private struct Entry: Sendable {
        let item: Item
        /// Told the answer, nil if there was no room.
        let answer: @Sendable (Answer?) -> Void
    }

    private let state: Mutex<GroupCommit<Entry>>
    private let delay: Duration
    /// Stores items; gives an answer for each, in their order.
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

    /// Items that wait for their transaction.
    var waiting: Int { state.withLock(\.count) }

    /// Waits until the item is stored; nil if there was no room for it.
    func submit(_ item: Item) async -> Answer? {
        await withCheckedContinuation { continuation in
            submit(item) { continuation.resume(returning: $0) }
        }
    }

    /// Has the item stored and tells when it is, nil if there was no room for it; from whatever thread.
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
            // The next one is under way before those who waited for this one take the processor.
            let action = state.withLock { $0.finished() }
            for (entry, answer) in zip(entries, answers) { entry.answer(answer) }
            for entry in entries.dropFirst(answers.count) { entry.answer(nil) }
            if case .commit(let more) = action { next = more } else { next = nil }
        }
    }
}
