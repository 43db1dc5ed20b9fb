import Gateways
import Logging
import NIOPosix
import PushCore
import Store

/// Reads feedback services of APNs' binary gateway: which tokens have died. The gateway itself takes messages to them like any other,
/// so that this is the only way to hear of it.
struct FeedbackServiceRound: Sendable {
    let store: Store
    let readers: FeedbackReaders
    let worker: String
    let periodSeconds: Int
    let logger: Logger

    /// Services that are read at the same time.
    private static let width = 8
    /// A service that could not be reached is asked again after so long: it keeps what it has to tell for days.
    private static let pauseAfterTrouble = 300
    /// The most that is kept of what went wrong.
    private static let longestTrouble = 1_000

    /// Claims what is due and reads it; returns how many services that were.
    func run() async throws -> Int {
        let claimed = try await store.claimFeedbackReadings(
            worker: worker,
            limit: Self.width,
            periodSeconds: periodSeconds
        )
        await withDiscardingTaskGroup { group in
            for reading in claimed { group.addTask { await read(reading) } }
        }
        return claimed.count
    }

    private func read(_ reading: FeedbackReading) async {
        var trouble = ""
        do {
            let application = try await store.application(reading.applicationID)
            let account = try await store.account(reading.accountID)
            do {
                let reader = try await readers.reader(application, account)
                trouble = try await read(reader, reading, application.name).trouble
            } catch {
                trouble = "\(error)"
            }
            if !trouble.isEmpty {
                logger.warning(
                    "the feedback service of application \(application.name), account \(account.name), was not read to its end: \(trouble)"
                )
            }
        } catch {
            trouble = "\(error)"
            logger.warning("a feedback service cannot be read: \(error)")
        }
        let pause = trouble.isEmpty ? periodSeconds : min(periodSeconds, Self.pauseAfterTrouble)
        do {
            let words = String(trouble.prefix(Self.longestTrouble))
            try await store.endFeedbackReading(reading, trouble: words, pauseSeconds: pause)
        } catch {
            logger.warning("the end of a reading could not be noted, so the service is read again soon: \(error)")
        }
    }

    private func read(
        _ reader: APNsFeedbackReader,
        _ reading: FeedbackReading,
        _ application: String
    ) async throws -> APNsFeedbackReport {
        let keeper = FeedbackKeeper(logger: logger) { entries in
            try await store.storeFeedback(reading, tokens: entries.map(\.token), since: entries.map(\.since))
        }
        let report = try await reader.read(eventLoop: MultiThreadedEventLoopGroup.singleton.next()) {
            try await keeper.keep($0)
        }
        if report.entries > 0 {
            logger.info(
                "the feedback service has named \(report.entries) tokens of application \(application) whose app is gone"
            )
        }
        return report
    }
}
