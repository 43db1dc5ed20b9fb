import PushCore

/// Stops a kind whose child could send nothing from taking places from others over and over.
///
/// It still gets a free place as usual; it only waits before another child is asked to leave for it. The time doubles
/// with each consecutive child that gave up its place. The first resolved message ends the back-off.
struct PreemptionBackOff: Sendable, Equatable {
    /// The maximum equals the longest interval between two probes of an application's circuit.
    static let pauses = BackOff(initial: .seconds(10), maximum: .seconds(300))

    /// The time that tokens and connections need at a slow gateway: usually a fraction of a second, while Google's
    /// libraries wait at most half a minute for a token.
    static let minTenure = Duration.seconds(10)

    private var until: ContinuousClock.Instant?
    private var timesInARow = 0

    /// How long the kind's next child keeps its place without sending anything. It doubles each time, so that the child
    /// succeeds however slow its gateway is.
    var tenure: Duration {
        BackOff(initial: Self.minTenure, maximum: Self.minTenure * 16).ceiling(afterFailures: timesInARow)
    }

    /// Takes that a child of the kind has given up its place.
    ///
    /// - Parameter wasProbing: whether it probed a gateway in trouble. The back-off then starts over, so that messages
    ///   do not wait minutes for a gateway that is back.
    mutating func gaveWay(wasProbing: Bool = false, at now: ContinuousClock.Instant) {
        if wasProbing { timesInARow = 0 }
        until = now.advanced(by: Self.pauses.ceiling(afterFailures: timesInARow))
        timesInARow += 1
    }

    /// Whether the kind must still wait.
    func isStandingBack(at now: ContinuousClock.Instant) -> Bool { until.map { now < $0 } ?? false }
}
