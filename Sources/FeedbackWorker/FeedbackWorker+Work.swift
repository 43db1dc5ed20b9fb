import Logging
import PushCore
import Store

extension FeedbackWorker {
    /// How long what was seen of whether somebody sends is believed.
    private static let lookInterval = Duration.milliseconds(500)

    /// Does its duties, as long as it acts, until cancelled.
    func keepWorking() async {
        guard let store = await open("feedback") else { return }
        guard let second = await open("feedback-second") else { return await store.close() }
        let rounds = FeedbackRounds(store: store, second: second, worker: id, settings: setup.settings)
        let clock = ContinuousClock()
        var plan = FeedbackPlan(
            sharePercent: setup.settings.feedback.shareWhileSendingPercent,
            longestPause: longestPause,
            at: clock.now
        )
        var bursts = FeedbackBursts()
        var isSending = false
        var lastLook = clock.now - Self.lookInterval
        while !Task.isCancelled {
            plan.setActing(progress.isActing)
            switch plan.next(at: clock.now) {
            case .rest(let time):
                try? await clock.sleep(until: min(time, clock.now + FeedbackPlan.standbyInterval))
            case .run(let duty):
                let start = clock.now
                do {
                    // Whoever sends has the other processor.
                    let inTwos = plan.hasTokenBacklog && !isSending
                    guard let round = try await rounds.run(duty, inTwos: inTwos) else {
                        // The next beat says who acts.
                        _ = progress.setActing(false)
                        continue
                    }
                    let end = clock.now
                    if round.count > 0, end - lastLook >= Self.lookInterval {
                        isSending = try await store.isSending()
                        lastLook = end
                    }
                    plan.finished(duty, round, took: end - start, isSending: isSending, at: clock.now)
                    progress.add(duty, round.count)
                    if let line = bursts.add(duty, round, from: start, to: end) { setup.logger.info("\(line)") }
                } catch {
                    if Task.isCancelled { break }
                    let pause = plan.failed(duty, at: clock.now)
                    setup.logger.warning("\(duty.rawValue): failed and is tried again in \(pause): \(error)")
                }
            }
        }
        await second.close()
        await store.close()
    }
}
