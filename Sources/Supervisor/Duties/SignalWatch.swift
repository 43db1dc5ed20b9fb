import PushCore
import Store

/// Reads the health signals that deliveries under way follow, and sets the rates of these deliveries.
///
/// Any host takes the next read that is due, so no host has to notice that another one is gone. A read that takes long
/// delays only its own signal.
struct SignalWatch: Sendable {
    /// How soon it notices that a delivery follows another signal.
    private static let maxPause = Duration.seconds(1)
    /// Between two looks, when another host has just taken what was due.
    private static let minPause = Duration.milliseconds(20)

    let store: Store
    let reader: SignalReader

    /// Works as long as a delivery under way follows a signal.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                for due in try await store.claimSignals() {
                    group.addTask { try await follow(due) }
                }
                guard let pause = try await store.timeToSignal() else { return }
                try await Task.sleep(for: min(max(pause, Self.minPause), Self.maxPause))
            }
        }
    }

    /// Reads a signal and sets the rates of its followers.
    private func follow(_ due: DueSignal) async throws {
        let reading = await reader.read(due.signal)
        guard try await store.note(reading, of: due) else { return }
        let found = try await store.followers(of: due)
        var followers = found.followers
        if let sample = found.sample {
            // The last value may still do, but says nothing new.
            guard case .value = reading else { return }
            for index in followers.indices {
                let sent = followers[index].sent(at: sample.at)
                let isForgotten = followers[index].isForgotten(at: sample.at, after: due.signal)
                if isForgotten { followers[index].controller.handle(.stale) }
                followers[index].controller.handle(.sample(sample.value, sent: isForgotten ? nil : sent, at: sample.at))
            }
        } else {
            for index in followers.indices { followers[index].controller.handle(.stale) }
        }
        try await store.setRates(of: due, followers)
    }
}

extension SignalFollower {
    /// Whether the last value that its controller handled is stale, because the delivery was paused or nobody read the
    /// signal.
    fileprivate func isForgotten(at moment: Duration, after signal: HealthSignal) -> Bool {
        controller.memory.sampledAt.map { moment - $0 > .seconds(signal.staleAfterSeconds) || moment < $0 } ?? false
    }
}
