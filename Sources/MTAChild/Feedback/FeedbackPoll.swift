import Gateways
import Logging
import NIOCore
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
            let keeper = FeedbackKeeper(logger: logger) { entries in
                try await store.storeFeedback(
                    application: applicationID,
                    tokens: entries.map(\.token),
                    since: entries.map(\.since)
                )
            }
            let report = try await reader.read(eventLoop: eventLoop) { await keeper.keep($0) }
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
}
