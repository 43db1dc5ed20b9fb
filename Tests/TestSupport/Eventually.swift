/// Waits until something is so; the one place where tests ask again and again.
///
/// What can say by itself that it has happened is waited for as that: an event, a line of output, the end of a process.
///
/// - Parameters:
///   - what: what is waited for, for the error.
///   - limit: far more than it takes, as the machine may be busy.
/// - Throws: ``TestSupportError`` if the time passes; what `condition` throws.
public func eventually(
    _ what: String,
    within limit: Duration = .seconds(60),
    isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now.advanced(by: limit)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw TestSupportError("not within \(limit): \(what)") }
        // Asking without a pause would take the processor from what is waited for.
        try await Task.sleep(for: .milliseconds(20))
    }
}
