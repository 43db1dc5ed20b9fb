/// Waits until a condition holds; the only place where tests poll.
///
/// If an event, a line of output or the end of a process signals the condition, wait for that instead.
///
/// - Parameters:
///   - what: the condition in words, for the error.
///   - limit: the maximum time, far longer than needed, as the machine may be busy.
/// - Throws: ``TestSupportError`` after the limit; any error of `condition`.
package func eventually(
    _ what: String,
    within limit: Duration = .seconds(60),
    isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now.advanced(by: limit)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw TestSupportError("not within \(limit): \(what)") }
        // Polling without a pause would starve the work that the test waits for.
        try await Task.sleep(for: .milliseconds(20))
    }
}
