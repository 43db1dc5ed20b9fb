import Gateways
import Logging
import PushCore

/// Stores what a feedback service told, however often it takes: the service has forgotten it, so nobody else knows.
///
/// It is in memory only: what the database has not taken when the process ends is lost, and these subscriptions go on until the
/// service names them again.
struct FeedbackKeeper: Sendable {
    let logger: Logger
    /// The pause before the second attempt; it doubles, up to ``longestPause``.
    var pause = Duration.milliseconds(200)
    /// A database that comes back after a failover is not kept waiting longer than this.
    var longestPause = Duration.seconds(5)
    let store: @Sendable ([APNsFeedbackEntry]) async throws -> Void

    /// Returns when the entries are stored; throws only what an attempt after its task's cancellation throws.
    func keep(_ entries: [APNsFeedbackEntry]) async throws {
        var backOff = BackOff(initial: pause, maximum: longestPause)
        while true {
            do {
                return try await store(entries)
            } catch {
                guard !Task.isCancelled else {
                    logger.critical("\(entries.count) tokens of a feedback service are lost: \(error)")
                    throw error
                }
                logger.warning(
                    "\(entries.count) tokens of a feedback service could not be stored, trying again: \(error)"
                )
                try? await Task.sleep(for: backOff.next())
            }
        }
    }
}
