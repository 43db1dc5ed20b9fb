/// Sums up pieces of work that follow each other, so that the log has one line for all of them.
struct FeedbackBursts: Sendable {
    private struct Burst {
        var start: ContinuousClock.Instant
        var count: Int64 = 0
    }

    private var bursts: [FeedbackDuty: Burst] = [:]

    /// Takes a piece that began at a moment; returns the line for the log if it was the last of its burst and something was done.
    mutating func add(
        _ duty: FeedbackDuty,
        _ round: FeedbackRound,
        from start: ContinuousClock.Instant,
        to now: ContinuousClock.Instant
    ) -> String? {
        var burst = bursts[duty] ?? Burst(start: start)
        burst.count &+= round.count
        guard !round.isMore else {
            bursts[duty] = burst
            return nil
        }
        bursts[duty] = nil
        guard burst.count > 0 else { return nil }
        let time = (now - burst.start).components
        return "\(duty.words): \(burst.count), in \(time.seconds) s \(time.attoseconds / 1_000_000_000_000_000) ms"
    }
}
