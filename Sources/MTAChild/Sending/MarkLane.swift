import Logging
import Store
import Synchronization

/// Commits marks: after the outcomes on their connection, or on a separate connection while single messages come.
///
/// Marks are committed one at a time. While single messages are among them, no mark waits until outcomes of other parts
/// are stored. A bulk delivery's marks do wait. On a separate connection, fewer of them would share a transaction,
/// which costs more than a tenth of all CPU time.
final class MarkLane: Sendable {
    /// How long marks keep the separate connection after the last single message.
    private static let messagePause = Duration.seconds(1)

    /// The marks to commit.
    let asked = AsyncStream.makeStream(of: [PartMark].self)
    private let usual: Store
    private let ofMessages: Store
    /// Whether a task is opening the connection for single messages.
    private let isOpening = Atomic(false)
    /// Until when more single messages are expected.
    private let messagesUntil = Mutex(ContinuousClock.now)
    private let logger: Logger

    init(usual: Store, ofMessages: Store, logger: Logger) {
        self.usual = usual
        self.ofMessages = ofMessages
        self.logger = logger
    }

    /// Called when single messages were claimed: their marks are next.
    func messagesClaimed() {
        messagesUntil.withLock { $0 = .now + Self.messagePause }
        // In the background: marks that come meanwhile use the usual connection.
        guard !ofMessages.isConnected, !isOpening.exchange(true, ordering: .relaxed) else { return }
        Task {
            try? await ofMessages.awaitConnection()
            isOpening.store(false, ordering: .relaxed)
        }
    }

    /// Commits marks, and returns the parts that are still held. Marks go after the outcomes if the separate connection
    /// is down or its commit fails. A commit may fail because outcomes being stored lock the same parts.
    ///
    /// - Parameter journalLength: the journal's length in bytes, including what cuts have removed.
    func commit(_ marks: [PartMark], _ journalLength: Int64) async throws -> Set<Int64> {
        if messagesUntil.withLock({ $0 }) > .now, ofMessages.isConnected {
            do {
                return try await ofMessages.mark(marks, journalLength: journalLength)
            } catch {
                logger.debug("\(marks.count) marks are committed after the outcomes instead: \(error)")
            }
        }
        return try await usual.mark(marks, journalLength: journalLength)
    }
}
