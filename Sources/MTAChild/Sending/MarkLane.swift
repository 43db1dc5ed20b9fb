import Logging
import Store
import Synchronization

/// How marks get into the database: behind outcomes, and while single messages come over a connection of their own.
///
/// Marks come one after the other. As long as single messages are among them, none waits until outcomes of other parts are stored. A bulk
/// delivery's do: on a connection of their own they are fewer a transaction, which costs more than a tenth of all CPU.
final class MarkLane: Sendable {
    /// After the last single message marks keep their own connection for so long.
    private static let messagePause = Duration.seconds(1)

    /// What is to be marked.
    let asked = AsyncStream.makeStream(of: [PartMark].self)
    private let usual: Store
    private let ofMessages: Store
    /// A task waits for the connection of messages.
    private let isOpening = Atomic(false)
    /// Until when they are taken to come.
    private let messagesUntil = Mutex(ContinuousClock.now)
    private let logger: Logger

    init(usual: Store, ofMessages: Store, logger: Logger) {
        self.usual = usual
        self.ofMessages = ofMessages
        self.logger = logger
    }

    /// Single messages were claimed: their marks are next.
    func messagesClaimed() {
        messagesUntil.withLock { $0 = .now + Self.messagePause }
        // Beside: what is to be marked meanwhile goes the usual way.
        guard !ofMessages.isConnected, !isOpening.exchange(true, ordering: .relaxed) else { return }
        Task {
            try? await ofMessages.awaitConnection()
            isOpening.store(false, ordering: .relaxed)
        }
    }

    /// Commits marks, and returns the parts that are still held. They go behind the outcomes if their own connection is not there or
    /// cannot do it: the outcomes that are being stored may be of the same parts and lock them.
    ///
    /// - Parameter journalLength: how long the journal is, with what cuts have taken out.
    func commit(_ marks: [PartMark], _ journalLength: Int64) async throws -> Set<Int64> {
        if messagesUntil.withLock({ $0 }) > .now, ofMessages.isConnected {
            do {
                return try await ofMessages.mark(marks, journalLength: journalLength)
            } catch {
                logger.debug("\(marks.count) marks go behind the outcomes: \(error)")
            }
        }
        return try await usual.mark(marks, journalLength: journalLength)
    }
}
