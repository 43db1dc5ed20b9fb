import Synchronization

/// Measures how many pushes the gateways accept a second, from samples of a growing count.
final class RateMeter: Sendable {
    /// A count and when it was read.
    struct Sample: Sendable {
        let moment: ContinuousClock.Instant
        let count: Int64
    }

    /// The interval between samples.
    private static let interval = Duration.milliseconds(100)
    /// The window over which a rate is computed.
    private static let window = Duration.seconds(1)
    /// The time before a fault from which the usual rate is taken.
    private static let past = Duration.seconds(10)
    /// The share of the usual rate at which a rate counts as recovered.
    private static let share = 0.95
    /// The minimum number of windows for a steady rate.
    private static let minWindows = 20

    private let samples = Mutex<[Sample]>([])

    /// Takes samples until the task is cancelled. If a gateway does not answer, it is asked again.
    func measure(_ count: @Sendable () async throws -> Int64) async {
        while !Task.isCancelled {
            if let count = try? await count() { add(Sample(moment: .now, count: count)) }
            try? await Task.sleep(for: Self.interval)
        }
    }

    func add(_ sample: Sample) {
        samples.withLock { $0.append(sample) }
    }

    /// Whether the last seconds give a steady rate.
    var isSteady: Bool { rates(before: .now).count >= Self.minWindows }

    /// The usual rate before a moment, in messages a second: the median over one-second windows in which something was
    /// accepted.
    func medianRate(before moment: ContinuousClock.Instant) -> Double? {
        let rates = rates(before: moment).sorted()
        return rates.isEmpty ? nil : rates[rates.count / 2]
    }

    /// Seconds from a moment until a one-second window has this rate again; `nil` if none has.
    func secondsToRate(_ rate: Double, after moment: ContinuousClock.Instant) -> Double? {
        windows(from: moment, to: nil).first { $0.rate >= rate * Self.share }.map { ($0.end - moment) / .seconds(1) }
    }

    /// The longest pause between two moments during which nothing was accepted.
    func maxPause(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) -> Duration {
        let samples = samples.withLock { $0 }.filter { $0.moment >= start && $0.moment <= end }
        var last = start
        var longest = Duration.zero
        for (before, sample) in zip(samples, samples.dropFirst()) {
            longest = max(longest, sample.moment - last)
            if sample.count > before.count { last = sample.moment }
        }
        return longest
    }

    private func rates(before moment: ContinuousClock.Instant) -> [Double] {
        windows(from: moment.advanced(by: .zero - Self.past), to: moment).map(\.rate).filter { $0 > 0 }
    }

    /// The one-second windows between two moments, each with its end and rate.
    private func windows(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant?) -> [(
        end: ContinuousClock.Instant, rate: Double
    )] {
        let samples = samples.withLock { $0 }
        guard var first = samples.firstIndex(where: { $0.moment >= start }) else { return [] }
        var found: [(end: ContinuousClock.Instant, rate: Double)] = []
        for sample in samples[first...] where end.map({ sample.moment <= $0 }) ?? true {
            while first + 1 < samples.count, sample.moment - samples[first + 1].moment >= Self.window { first += 1 }
            let length = sample.moment - samples[first].moment
            guard length >= Self.window else { continue }
            found.append((sample.moment, Double(sample.count - samples[first].count) / (length / .seconds(1))))
        }
        return found
    }
}
