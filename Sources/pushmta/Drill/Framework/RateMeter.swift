import Synchronization

/// How many pushes the gateways accept a second, from samples of a count that only grows.
final class RateMeter: Sendable {
    /// A count at a moment.
    struct Sample: Sendable {
        let moment: ContinuousClock.Instant
        let count: Int64
    }

    /// The time between two samples.
    private static let interval = Duration.milliseconds(100)
    /// The time over which a rate is taken.
    private static let window = Duration.seconds(1)
    /// The time before a fault that tells the usual rate.
    private static let past = Duration.seconds(10)
    /// A rate counts as back from this share of the usual one on.
    private static let share = 0.95
    /// So many windows make a rate that a fault can be compared with.
    private static let leastWindows = 20

    private let samples = Mutex<[Sample]>([])

    /// Takes samples until the task is cancelled; a gateway that does not answer is asked again.
    func measure(_ count: @Sendable () async throws -> Int64) async {
        while !Task.isCancelled {
            if let count = try? await count() { add(Sample(moment: .now, count: count)) }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Adds a sample.
    func add(_ sample: Sample) {
        samples.withLock { $0.append(sample) }
    }

    /// Whether the rate of the last seconds can be compared with.
    var isSteady: Bool { rates(before: .now).count >= Self.leastWindows }

    /// The usual rate before a moment, messages a second: the median over windows of a second in which something was accepted.
    func medianRate(before moment: ContinuousClock.Instant) -> Double? {
        let rates = rates(before: moment).sorted()
        return rates.isEmpty ? nil : rates[rates.count / 2]
    }

    /// Seconds from a moment until a window of a second has this rate again; `nil` if none has.
    func secondsToRate(_ rate: Double, after moment: ContinuousClock.Instant) -> Double? {
        windows(from: moment, to: nil).first { $0.rate >= rate * Self.share }.map { ($0.end - moment) / .seconds(1) }
    }

    private func rates(before moment: ContinuousClock.Instant) -> [Double] {
        windows(from: moment.advanced(by: .zero - Self.past), to: moment).map(\.rate).filter { $0 > 0 }
    }

    /// The windows of a second that lie between two moments, by their ends.
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
