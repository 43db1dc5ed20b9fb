import Hummingbird
import NIOCore
import Store
import Synchronization

/// What a live page is sent.
enum LiveEvent: Sendable, Hashable {
    /// Bytes as they go on the wire, made once for all who are sent them.
    case made(ByteBuffer)
    /// The page itself is another one by now, and is loaded again.
    case changed
    /// Nothing new; it only shows that somebody is there.
    case alive
    /// Why there will be no events, for a person.
    case refused(String)

    /// The live part, to be shown in place of the one before.
    static func html(_ html: String) -> LiveEvent { .made(ByteBuffer(string: data(html))) }

    var bytes: ByteBuffer {
        if case .made(let bytes) = self { bytes } else { ByteBuffer(string: text) }
    }

    /// Its text on the wire (WHATWG HTML, section 9.2).
    var text: String {
        switch self {
        case .made(let bytes): String(buffer: bytes)
        // An event without data is none.
        case .changed: "event: changed\n" + Self.data("-")
        case .alive: ":\n\n"
        case .refused(let why): "event: refused\n" + Self.data(why)
        }
    }

    private static func data(_ text: String) -> String {
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        return lines.map { "data: \($0)\n" }.joined() + "\n"
    }
}

/// Writes server-sent events.
enum EventWriter {
    static func run(
        _ writer: inout any ResponseBodyWriter,
        _ body: (_ send: (LiveEvent) async throws -> Void) async throws -> Void
    ) async throws {
        var current = writer
        try await body { event in
            try await current.write(event.bytes)
        }
        writer = current
    }
}

/// How many live pages each session has open.
final class LiveStreams: Sendable {
    /// A browser opens six connections to a host: two are left for pages that are looked at.
    static let mostOfSession = 4

    private let open = Mutex<[[UInt8]: Int]>([:])

    /// Counts one more of a session; false if it has as many as it may.
    func enter(_ session: [UInt8]) -> Bool {
        open.withLock { open in
            guard open[session, default: 0] < Self.mostOfSession else { return false }
            open[session, default: 0] += 1
            return true
        }
    }

    /// The sessions that have any.
    var sessions: [[UInt8]] { open.withLock { Array($0.keys) } }

    /// Counts one less of a session.
    func leave(_ session: [UInt8]) {
        open.withLock { open in
            let left = (open[session] ?? 1) - 1
            open[session] = left > 0 ? left : nil
        }
    }
}

/// Which sessions of live pages are open, asked of the database once for all of them.
actor LiveSessions {
    private let database: ConsoleDatabase
    private let streams: LiveStreams
    private var asked: (at: ContinuousClock.Instant, sessions: Set<[UInt8]>, task: Task<Set<[UInt8]>, any Error>)?

    /// An answer is good for so long; pages ask half as often.
    private static let pause = Duration.seconds(7)

    init(database: ConsoleDatabase, streams: LiveStreams) {
        self.database = database
        self.streams = streams
    }

    /// Whether a session is open; true while the database does not say.
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

/// The clock of all live pages: one timer for any number of them, which runs while there is one.
///
/// It also watches how long readers take for what they are sent.
final class LiveTicks: Sendable {
    private struct State {
        var number = 0
        var isRunning = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var sending: [Int: (since: ContinuousClock.Instant, hangUp: @Sendable () -> Void)] = [:]
    }

    private let pause: Duration
    private let longest: Duration
    private let state = Mutex(State())

    /// A clock.
    ///
    /// - Parameter longest: the time that a reader may take. A live page is sent something every 2 s at most; who is behind by ten of
    ///   these has gone, or only holds memory.
    init(pause: Duration = NowFeed.pause, longest: Duration = .seconds(20)) {
        self.pause = pause
        self.longest = longest
    }

    /// Returns with the next tick, or at once when the task is canceled.
    func next() async {
        let number = number()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume() }
                state.withLock { $0.waiting[number] = continuation }
                run()
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    /// Sends something; a reader who has not taken it in time loses the connection, with which the sending fails.
    func sending(hangUp: @escaping @Sendable () -> Void, _ send: () async throws -> Void) async throws {
        let number = number()
        state.withLock { $0.sending[number] = (.now, hangUp) }
        defer { state.withLock { $0.sending[number] = nil } }
        run()
        try await send()
    }

    private func number() -> Int {
        state.withLock { state in
            state.number += 1
            return state.number
        }
    }

    private func run() {
        let starts = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        Task { [self] in
            repeat { try? await Task.sleep(for: pause) } while tick()
        }
    }

    /// Wakes all who wait, and ends what takes too long; false if nobody is left.
    private func tick() -> Bool {
        let now = ContinuousClock.now
        let (waiting, late, goesOn) = state.withLock { state in
            let late = state.sending.filter { $0.value.since + longest <= now }
            for number in late.keys { state.sending[number] = nil }
            let waiting = state.waiting.values
            state.waiting = [:]
            state.isRunning = !waiting.isEmpty || !state.sending.isEmpty
            return (Array(waiting), late.values.map(\.hangUp), state.isRunning)
        }
        for hangUp in late { hangUp() }
        for continuation in waiting { continuation.resume() }
        return goesOn
    }
}
