/// Instants that a test chooses.
struct ManualTime {
    private let origin = ContinuousClock.now

    subscript(_ seconds: Double) -> ContinuousClock.Instant {
        origin.advanced(by: .milliseconds(Int64(seconds * 1_000)))
    }
}
