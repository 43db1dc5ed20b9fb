import PostgresClient

extension DrillSite {
    /// What the database says; `nil` while it cannot be asked, which in a drill is nothing special.
    @discardableResult
    func ifReachable<Answer>(_ ask: () async throws -> Answer) async throws -> Answer? {
        do {
            return try await ask()
        } catch let error as PostgresError {
            note("the database: \(error)")
            return nil
        }
    }

    /// Waits until a condition holds. While the database cannot be asked it does not.
    ///
    /// - Throws: `DrillSetback` that names what was waited for.
    func until(
        _ what: String,
        within limit: Duration,
        every interval: Duration = .milliseconds(20),
        _ condition: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now.advanced(by: limit)
        while try await !(ifReachable { try await condition() } ?? false) {
            guard ContinuousClock.now < deadline else { throw DrillSetback("\(what): not within \(limit)") }
            try await Task.sleep(for: interval)
        }
    }
}
