import PushCore

/// Whether the gateway can be reached, as far as is known, and when it is tried again if not.
struct LegacyReachability {
    /// Whether the last attempt to connect succeeded; before the first and after a failed one only one request is tried.
    private(set) var isReachable = false
    /// Whether a pause between two attempts lasts.
    private(set) var isPausing = false
    private var backOff: BackOff

    /// - Parameters: the first and the longest pause in milliseconds.
    init(firstMilliseconds: Int64, maximumMilliseconds: Int64) {
        let first = Duration.milliseconds(max(1, firstMilliseconds))
        backOff = BackOff(initial: first, maximum: max(first, .milliseconds(maximumMilliseconds)), floor: first / 2)
    }

    /// A connection came about.
    mutating func connected() {
        isReachable = true
        backOff.reset()
    }

    /// No connection came about; returns the number of the attempt and the pause to make now in milliseconds, nil when one lasts.
    mutating func failed() -> (attempt: Int, milliseconds: Int64)? {
        isReachable = false
        guard !isPausing else { return nil }
        isPausing = true
        let pause = backOff.next()
        return (backOff.failures, Int64(pause / .milliseconds(1)))
    }

    /// Somebody has put right what was wrong.
    mutating func retryNow() {
        isPausing = false
        backOff.reset()
    }

    /// The pause is over.
    mutating func paused() {
        isPausing = false
    }
}
