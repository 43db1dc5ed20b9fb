import Logging
import PushCore
import Store

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension FeedbackWorker {
    /// Four beats fit into a lease of 15 s, so that one or two may be lost.
    private static let beatInterval = Duration.seconds(3)
    /// How long the database may take to hear that the worker has ended.
    private static let goodbyeTime = Duration.seconds(2)

    /// Keeps this worker's row, and with it the right to act, until cancelled.
    func keepBeating() async {
        guard let store = await open("feedback-beat") else { return }
        var pause = makeBackOff()
        while !Task.isCancelled {
            var beat = FeedbackBeat(worker: id, host: setup.hostName, pid: getpid(), version: setup.version)
            progress.move(into: &beat)
            do {
                let isActing = try await store.feedbackBeat(beat, leaseSeconds: setup.leaseSeconds)
                pause.reset()
                tell(isActing)
                await tellSpools(beat, store)
                try? await Task.sleep(for: Self.beatInterval)
            } catch {
                progress.restore(beat)
                if Task.isCancelled { break }
                let time = pause.next()
                setup.logger.warning("The feedback worker could not report, next attempt in \(time): \(error)")
                try? await Task.sleep(for: time)
            }
        }
        await sayGoodbye(store)
    }

    /// The beat is out; what it was to say of spools is said with the next one if this fails.
    private func tellSpools(_ beat: FeedbackBeat, _ store: Store) async {
        do {
            try await store.noteFeedbackSpools(beat)
        } catch {
            progress.restore(spoolsOf: beat)
            guard !Task.isCancelled else { return }
            setup.logger.warning("The feedback worker could not report what it knows of tracking spools: \(error)")
        }
    }

    private func tell(_ isActing: Bool) {
        guard progress.setActing(isActing) else { return }
        setup.logger.notice(
            isActing ? "This feedback worker acts now" : "Another feedback worker acts now; this one stands by"
        )
    }

    /// A statement that waits for a server out of reach ends with its connection, not with its cancellation.
    private func sayGoodbye(_ store: Store) async {
        let id = id
        let goodbye = Task { try? await store.feedbackStop(worker: id) }
        let alarm = Task {
            try await Task.sleep(for: Self.goodbyeTime)
            await store.close()
        }
        _ = await goodbye.value
        alarm.cancel()
        await store.close()
    }
}
