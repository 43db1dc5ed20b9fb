import Hummingbird
import NIOCore
import Store
import Synchronization

/// An event that is sent to a live page.
enum LiveEvent: Sendable, Hashable {
    /// Bytes in wire format, made once for all recipients.
    case made(ByteBuffer)
    /// The page itself has changed and must be reloaded.
    case changed
    /// Nothing new: a sign of life.
    case alive
    /// Why there will be no events, for the user.
    case refused(String)

    /// The live part, which replaces the one before.
    static func html(_ html: String) -> LiveEvent { .made(ByteBuffer(string: data(html))) }

    var bytes: ByteBuffer {
        if case .made(let bytes) = self { bytes } else { ByteBuffer(string: text) }
    }

    /// The event in wire format (WHATWG HTML, section 9.2).
    var text: String {
        switch self {
        case .made(let bytes): String(buffer: bytes)
        // Browsers ignore an event without data.
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

/// The number of open live pages of each session.
final class LiveStreams: Sendable {
    /// A browser opens six connections to a host: two are left for other pages.
    static let maxOfSession = 4

    private let open = Mutex<[[UInt8]: Int]>([:])

    /// Counts one more page of a session; false if it has the maximum.
    func enter(_ session: [UInt8]) -> Bool {
        open.withLock { open in
            guard open[session, default: 0] < Self.maxOfSession else { return false }
            open[session, default: 0] += 1
            return true
        }
    }

    /// The sessions that have live pages.
    var sessions: [[UInt8]] { open.withLock { Array($0.keys) } }

    /// Counts one page less of a session.
    func leave(_ session: [UInt8]) {
        open.withLock { open in
            let left = (open[session] ?? 1) - 1
            open[session] = left > 0 ? left : nil
        }
    }
}

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

/// The clock of all live pages: one timer for any number of them, which runs only while there is one.
///
/// It also limits how long a reader may take to receive an event.
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

    /// Creates a clock.
    ///
    /// - Parameter longest: the maximum time for receiving an event. A live page gets one every 2 s at most; a reader
    ///   ten events behind has gone, or only holds memory.
    init(pause: Duration = NowFeed.pause, longest: Duration = .seconds(20)) {
        self.pause = pause
        self.longest = longest
    }

    /// Returns at the next tick, or at once when the task is canceled.
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

    /// Sends something. A reader that does not receive it in time loses its connection, which makes `send` fail.
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

    /// Wakes all waiting tasks and closes connections that are too slow; false if no page is left.
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
