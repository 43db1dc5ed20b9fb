import Store

/// A number in the menu of each page, read once for all requests within a few seconds.
actor MenuBadge<Count: Sendable> {
    /// Half the ten seconds between two checks of the supervisors.
    private static var pause: Duration { .seconds(5) }

    private let database: ConsoleDatabase
    private let read: @Sendable (Store) async throws -> Count
    private var known: (count: Count?, readAt: ContinuousClock.Instant)?

    init(database: ConsoleDatabase, read: @escaping @Sendable (Store) async throws -> Count) {
        self.database = database
        self.read = read
    }

    /// The number; nil if it cannot be read, which does not fail the page.
    func count() async -> Count? {
        if let known, known.readAt + Self.pause > .now { return known.count }
        // Concurrent requests get the last known number.
        known = (known?.count, .now)
        let count = try? await database.run(read)
        known = (count, .now)
        return count
    }

    /// Call after a user has changed what is counted.
    func forget() {
        known = nil
    }
}
