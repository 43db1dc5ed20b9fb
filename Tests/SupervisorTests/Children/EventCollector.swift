import Synchronization

@testable import Supervisor

/// Collects the events for a supervisor's mailbox and lets a test wait for them.
final class EventCollector: Sendable {
    private let stream: AsyncStream<SupervisorEvent>
    private let writer: AsyncStream<SupervisorEvent>.Continuation
    private let lines = Mutex<[UInt8]>([])

    init() {
        (stream, writer) = AsyncStream.makeStream()
    }

    func tell(_ event: SupervisorEvent) { writer.yield(event) }

    func forward(_ bytes: [UInt8]) { lines.withLock { $0 += bytes } }

    /// All text forwarded from standard error.
    var forwarded: String { lines.withLock { String(decoding: $0, as: UTF8.self) } }

    /// The first matching event; nil if none comes before the deadline.
    func first(within time: Duration = .seconds(30), where fits: (SupervisorEvent) -> Bool) async -> SupervisorEvent? {
        let writer = writer
        let deadline = Task {
            try await Task.sleep(for: time)
            writer.finish()
        }
        defer { deadline.cancel() }
        for await event in stream where fits(event) { return event }
        return nil
    }

    /// How the child's process ended.
    func end() async -> ChildTermination? {
        let event = await first {
            if case .childEnded = $0 { true } else { false }
        }
        guard case .childEnded(_, let termination, _) = event else { return nil }
        return termination
    }
}
