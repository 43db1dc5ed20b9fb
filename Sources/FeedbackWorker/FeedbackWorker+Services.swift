import Logging
import PushCore
import Store

extension FeedbackWorker {
    /// How often it is looked whether a service is due.
    private static let serviceInterval = Duration.seconds(1)
    /// A worker that is asked to end brings a reading under way to its end, as the service has forgotten what it told; but it does not
    /// wait longer than this, well within the time that service managers give.
    private static let longestFarewell = Duration.seconds(30)

    /// Reads the feedback services of binary gateways, as long as it acts, until cancelled.
    func keepReading() async {
        guard let store = await open("feedback-reader") else { return }
        let round = FeedbackServiceRound(
            store: store,
            readers: FeedbackReaders(store: store, settings: setup.settings, environment: setup.environment),
            worker: id,
            periodSeconds: setup.settings.nmac.binary.feedbackPeriodSec,
            logger: setup.logger
        )
        var pause = makeBackOff()
        while !Task.isCancelled {
            do {
                let count = progress.isActing ? try await finish({ try await round.run() }, store) : 0
                pause.reset()
                if count == 0 { try? await Task.sleep(for: Self.serviceInterval) }
            } catch {
                if Task.isCancelled { break }
                let time = pause.next()
                setup.logger.warning("Feedback services could not be claimed, next attempt in \(time): \(error)")
                try? await Task.sleep(for: time)
            }
        }
        await store.close()
    }

    /// Lets something come to its end even when this task is cancelled meanwhile. Who waits for a database that does not answer is
    /// freed by the end of its connection alone.
    private func finish<T: Sendable>(_ work: @escaping @Sendable () async throws -> T, _ store: Store) async throws -> T
    {
        let task = Task { try await work() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            Task {
                try await Task.sleep(for: Self.longestFarewell)
                task.cancel()
                await store.close()
            }
        }
    }
}
