import LegacyGateways
import Logging
import Synchronization
import Testing

@testable import FeedbackWorker

@Suite("What a feedback service told", .timeLimit(.minutes(1)))
struct FeedbackStoringTests {
    private struct Trouble: Error {}

    /// A database that takes nothing for a while.
    private final class Database: Sendable {
        let left: Mutex<Int>
        let taken = Mutex<[APNsFeedbackEntry]>([])

        init(refusals: Int) {
            left = Mutex(refusals)
        }

        func store(_ entries: [APNsFeedbackEntry]) throws {
            let isAway = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isAway { throw Trouble() }
            taken.withLock { $0 += entries }
        }
    }

    private let entries = [APNsFeedbackEntry(token: "aa", since: 1), APNsFeedbackEntry(token: "bb", since: 2)]

    private func storing(_ database: Database) -> FeedbackStoring {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return FeedbackStoring(logger: logger, pause: .microseconds(1), maxPause: .microseconds(10)) {
            try database.store($0)
        }
    }

    @Test("Nothing is lost, however long and whyever the database takes nothing")
    func kept() async throws {
        let database = Database(refusals: 100)
        try await storing(database).keep(entries)
        #expect(database.taken.withLock { $0 } == entries)
    }

    @Test("A process whose time is over tries once more and then says what is lost")
    func givenUp() async throws {
        for (refusals, stored) in [(0, entries), (2, [])] {
            let database = Database(refusals: refusals)
            let storing = storing(database)
            let entries = entries
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await storing.keep(entries)
            }
            let result = await task.result
            #expect((try? result.get()) == nil ? stored.isEmpty : !stored.isEmpty)
            #expect(database.taken.withLock { $0 } == stored)
        }
    }
}
