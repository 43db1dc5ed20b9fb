import Gateways
import Logging
import NIOCore
import PostgresClient
import PushCore
import Store

/// Asks the feedback service of APNs' binary gateway which tokens have died, at once and then from time to time, and stores what
/// it says.
///
/// The gateway itself takes messages to dead tokens like any other, so that this is the only way to hear of them.
struct FeedbackPoll: Sendable {
    let reader: APNsFeedbackReader
    let store: Store
    let applicationID: Int32
    let eventLoop: any EventLoop
    let period: Duration
    let logger: Logger

    /// A service that could not be reached is asked again after so long: it keeps what it has to tell for days.
    private static let pauseAfterTrouble = Duration.seconds(300)
    /// The pause between two attempts to store what was read, and how many there are: the service has forgotten it.
    private static let storePause = Duration.seconds(1)
    private static let storeAttempts = 60

    /// Reads until it is cancelled; a reading under way then comes to its end.
    func run() async {
        while !Task.isCancelled {
            // A task of its own is not cancelled with this one.
            let isGood = await Task { await read() }.value
            let pause = isGood ? period : min(period, Self.pauseAfterTrouble)
            guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
    }

    private func read() async -> Bool {
        do {
            let report = try await reader.read(eventLoop: eventLoop) { try await keep($0) }
            if report.entries > 0 {
                logger.info("the feedback service has named \(report.entries) tokens whose app is gone")
            }
            guard !report.trouble.isEmpty else { return true }
            logger.warning("the feedback service was not read to its end: \(report.trouble)")
        } catch {
            logger.warning("the feedback service cannot be read: \(error)")
        }
        return false
    }

    private func keep(_ entries: [APNsFeedbackEntry]) async throws {
        for attempt in 1... {
            do {
                try await store.storeFeedback(
                    application: applicationID,
                    tokens: entries.map(\.token),
                    since: entries.map(\.since)
                )
                return
            } catch let error as PostgresError {
                guard attempt < Self.storeAttempts else { throw error }
                try? await Task.sleep(for: Self.storePause)
            }
        }
    }
}
