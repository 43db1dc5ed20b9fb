import PushCore

/// The deliveries whose messages could not be read a moment ago, for a reason that all of their parts share.
///
/// Until one of them is tried again, the others go back without being asked for: a delivery may have thousands, and what keeps one
/// from being read, such as somebody's lock of the view, may take the connection up for seconds.
struct LoadTroubles: Sendable {
    struct Trouble {
        var reason: String
        var until: ContinuousClock.Instant
        var wait: Duration
    }

    /// As parts wait in the database.
    private static let firstWait = Duration.seconds(5)
    private static let longestWait = Duration.seconds(60)
    /// A child serves few deliveries at a time.
    private static let most = 64

    private(set) var troubles: [Int64: Trouble] = [:]

    /// Why a delivery need not be tried now; nil if it may be.
    func reason(ofDelivery id: Int64, at now: ContinuousClock.Instant) -> String? {
        guard let trouble = troubles[id], now < trouble.until else { return nil }
        return trouble.reason
    }

    /// The deliveries that need not be tried now.
    func deliveries(at now: ContinuousClock.Instant) -> Set<Int64> {
        troubles.isEmpty ? [] : Set(troubles.filter { now < $0.value.until }.keys)
    }

    /// A part of a delivery could not be read.
    mutating func failed(_ id: Int64, _ reason: String, at now: ContinuousClock.Instant) {
        var wait = Self.firstWait
        if let last = troubles[id] {
            // Parts that were asked for at the same moment tell the same once.
            guard now >= last.until else { return }
            wait = min(last.wait * 2, Self.longestWait)
        }
        if troubles.count >= Self.most { troubles = troubles.filter { now < $0.value.until } }
        troubles[id] = Trouble(reason: reason, until: now + wait, wait: wait)
    }

    /// A part of a delivery was read.
    mutating func loaded(_ id: Int64) {
        if !troubles.isEmpty { troubles[id] = nil }
    }
}
