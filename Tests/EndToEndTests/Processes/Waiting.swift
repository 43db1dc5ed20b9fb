import Testing

/// Waits until something is so; says what was waited for if it never is.
///
/// - Parameter limit: far more than it takes, as the machine may be busy.
func wait(
    for label: String,
    within limit: Duration,
    until condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now.advanced(by: limit)
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("the deadline passed: \(label)")
            return
        }
        // Asking without a pause would take the processor from the processes that are waited for.
        try await Task.sleep(for: .milliseconds(20))
    }
}
