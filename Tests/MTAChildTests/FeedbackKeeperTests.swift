import Gateways
import Logging
import Synchronization
import Testing

@testable import MTAChild

@Suite struct FeedbackKeeperTests {
    private struct Trouble: Error {}

    /// A database that takes nothing for a while.
    private final class Database: Sendable {
        let left = Mutex(100)
        let taken = Mutex<[APNsFeedbackEntry]>([])

        func store(_ entries: [APNsFeedbackEntry]) throws {
            let isAway = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isAway { throw Trouble() }
            taken.withLock { $0 += entries }
        }
    }

    @Test(.timeLimit(.minutes(1))) func nothingIsLostHoweverLongAndWhyeverTheDatabaseTakesNothing() async throws {
        let database = Database()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let keeper = FeedbackKeeper(logger: logger, pause: .microseconds(1), longestPause: .microseconds(10)) {
            try database.store($0)
        }
        let entries = [APNsFeedbackEntry(token: "aa", since: 1), APNsFeedbackEntry(token: "bb", since: 2)]
        // A child that ends cancels its tasks; what was read is stored all the same.
        let task = Task { await keeper.keep(entries) }
        task.cancel()
        await task.value
        #expect(database.taken.withLock { $0 } == entries)
    }
}
