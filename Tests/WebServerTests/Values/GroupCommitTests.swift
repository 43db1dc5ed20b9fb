import TestSupport
import Testing

@testable import PushCore
@testable import WebServer

@Suite struct GroupCommitTests {
    @Test func whileOneRunsTheNextCollects() {
        var group = GroupCommit<Int>(batchSize: 3, capacity: 100, hasDelay: false)
        #expect(group.add(1).items == [1])
        for item in 2...6 { #expect(group.add(item).items == nil) }
        #expect(group.finished().items == [2, 3, 4])
        #expect(group.finished().items == [5, 6])
        #expect(group.finished().items == nil)
        #expect(group.isIdle)
        #expect(group.add(7).items == [7])
    }

    @Test func theFirstWaitsForOthersUntilTheBatchIsFull() {
        var group = GroupCommit<Int>(batchSize: 3, capacity: 100, hasDelay: true)
        #expect(group.add(1).isWait)
        #expect(group.add(2).items == nil)
        #expect(group.delayPassed().items == [1, 2])
        #expect(group.delayPassed().items == nil)
        #expect(group.add(3).items == nil)
        #expect(group.finished().items == [3])
        #expect(group.finished().items == nil)
        #expect(group.add(4).isWait)
        #expect(group.add(5).items == nil)
        #expect(group.add(6).items == [4, 5, 6])
        // The timer of that batch fires late.
        #expect(group.delayPassed().items == nil)
    }

    @Test func thereIsALimit() {
        var group = GroupCommit<Int>(batchSize: 2, capacity: 3, hasDelay: false)
        _ = group.add(0)
        for item in 1...3 { #expect(!group.add(item).isRefusal) }
        #expect(group.add(4).isRefusal)
        #expect(group.finished().items == [1, 2])
        #expect(!group.add(5).isRefusal)
    }

    /// In every order of events, each item is committed once, in order, in batches of the right size, and none is left.
    @Test func everyItemIsCommittedOnceAndInOrder() {
        var random = TestRandom(seed: TestRandom.seed(for: "everyItemIsCommittedOnceAndInOrder"))
        for _ in 0..<500 {
            let size = 1 + random.below(5)
            var group = GroupCommit<Int>(batchSize: size, capacity: 1_000, hasDelay: random.oneIn(2))
            var (next, committed, running, timers) = (0, [Int](), 0, 0)
            func note(_ action: GroupCommit<Int>.Action) {
                if action.isWait { timers += 1 }
                guard let items = action.items else { return }
                #expect(running == 0 && !items.isEmpty && items.count <= size)
                running = 1
                committed += items
            }
            for _ in 0..<200 {
                switch random.below(3) {
                case 0:
                    note(group.add(next))
                    next += 1
                case 1 where running == 1:
                    running = 0
                    note(group.finished())
                default:
                    if timers > 0, random.oneIn(2) {
                        timers -= 1
                        note(group.delayPassed())
                    }
                }
            }
            while !group.isIdle {
                note(group.delayPassed())
                running = 0
                note(group.finished())
            }
            #expect(committed == Array(0..<next))
        }
    }
}

extension GroupCommit.Action {
    fileprivate var items: [Item]? {
        if case .commit(let items) = self { items } else { nil }
    }

    fileprivate var isWait: Bool {
        if case .wait = self { true } else { false }
    }

    fileprivate var isRefusal: Bool {
        if case .refuse = self { true } else { false }
    }
}
