/// Keeps a kind of child that could send nothing from taking places from others over and over.
///
/// While a place is free it gets one as ever; only to ask another child to leave for it has to wait. The time doubles with each
/// child that gave way in a row, and the first message that is settled ends it.
struct SetBack: Sendable, Equatable {
    static let firstPause = Duration.seconds(10)
    /// As long as the longest interval between two probes of an application's circuit.
    static let longestPause = Duration.seconds(300)

    private var until: ContinuousClock.Instant?
    private var timesInARow = 0

    /// Says that a child of the kind has given way.
    ///
    /// - Parameter wasProbing: a gateway in trouble was probed: nobody is to wait for minutes for one that is back.
    mutating func gaveWay(wasProbing: Bool = false, at now: ContinuousClock.Instant) {
        if wasProbing { timesInARow = 0 }
        until = now.advanced(by: min(Self.firstPause * (1 << min(timesInARow, 10)), Self.longestPause))
        timesInARow += 1
    }

    /// Whether the kind has to stand back now.
    func isStandingBack(at now: ContinuousClock.Instant) -> Bool { until.map { now < $0 } ?? false }
}
