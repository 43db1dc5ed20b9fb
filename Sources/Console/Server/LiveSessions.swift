import Store

/// Which sessions with live pages are still valid: the database is asked once for all of them.
actor LiveSessions {
    private let database: ConsoleDatabase
    private let streams: LiveStreams
    private var asked: (at: ContinuousClock.Instant, sessions: Set<[UInt8]>, task: Task<Set<[UInt8]>, any Error>)?

    /// How long an answer is valid; pages ask half as often.
    private static let pause = Duration.seconds(7)

    init(database: ConsoleDatabase, streams: LiveStreams) {
        self.database = database
        self.streams = streams
    }

    /// Whether a session is valid; true while the database cannot tell.
    func isOpen(_ actor: ConsoleActor) async -> Bool {
        let now = ContinuousClock.now
        let task: Task<Set<[UInt8]>, any Error>
        if let asked, asked.at + Self.pause > now, asked.sessions.contains(actor.tokenHash) {
            task = asked.task
        } else {
            let sessions = streams.sessions + [actor.tokenHash]
            task = Task { [database] in
                try await database.run { try await $0.openConsoleSessions(sessions, asOf: actor) }
            }
            asked = (now, Set(sessions), task)
        }
        guard let open = try? await task.value else { return true }
        return open.contains(actor.tokenHash)
    }
}
