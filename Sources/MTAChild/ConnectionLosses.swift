import Synchronization

/// Remembers that a connection to the database was lost, and with it, perhaps, the answer to a claim.
final class ConnectionLosses: Sendable {
    private let hasLost = Atomic(false)

    func note() {
        hasLost.store(true, ordering: .relaxed)
    }

    /// Whether there was a loss since the last call.
    func take() -> Bool {
        hasLost.exchange(false, ordering: .relaxed)
    }
}
