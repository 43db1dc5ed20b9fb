import Foundation
import Synchronization

/// Records when each host of a network sent something to the gateways, from continuous samples.
final class HostTraffic: Sendable {
    /// A counter and when it was read.
    struct Sample: Sendable {
        let moment: ContinuousClock.Instant
        let bytes: Int64
    }

    /// The interval between samples.
    private static let interval = Duration.milliseconds(250)
    /// The minimum number of bytes per interval that shows that a host sends messages. Without messages it sends only
    /// acknowledgements and PINGs, which are fewer.
    private static let minBytes: Int64 = 2_048

    private let samples = Mutex<[Int: [Sample]]>([:])

    init() {}

    /// Takes samples until the task is cancelled.
    func watch(_ hosts: [Int], bytes: @Sendable (Int) -> Int64) async {
        while !Task.isCancelled {
            for host in hosts { add(Sample(moment: .now, bytes: bytes(host)), host) }
            try? await Task.sleep(for: Self.interval)
        }
    }

    func add(_ sample: Sample, _ host: Int) {
        samples.withLock { $0[host, default: []].append(sample) }
    }

    /// Whether a host has sent messages since a moment.
    func sends(_ host: Int, since moment: ContinuousClock.Instant) -> Bool {
        steps(host, from: moment, to: .now).contains { $0.isSending }
    }

    /// The longest pause between two moments during which a host sent no message.
    func standstill(_ host: Int, from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) -> Duration {
        var last = start
        var longest = Duration.zero
        for step in steps(host, from: start, to: end) {
            if step.isSending { last = step.moment }
            longest = max(longest, step.moment - last)
        }
        return longest
    }

    private func steps(
        _ host: Int,
        from start: ContinuousClock.Instant,
        to end: ContinuousClock.Instant
    ) -> [(moment: ContinuousClock.Instant, isSending: Bool)] {
        let samples = samples.withLock { $0[host] ?? [] }
        return zip(samples, samples.dropFirst()).filter { $1.moment > start && $1.moment <= end }.map {
            ($1.moment, $1.bytes - $0.bytes > Self.minBytes)
        }
    }
}
