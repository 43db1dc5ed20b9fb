import Synchronization

/// The reading end of a COPY … TO STDOUT; when it is dropped early, the connection's thread cleans up.
final class CopyReader: Sendable {
    private enum Phase {
        case unstarted, running, over
    }

    private let connection: PostgresConnection
    private let session: UInt64
    private let sql: String
    private let phase = Mutex(Phase.unstarted)

    init(connection: PostgresConnection, sql: String) {
        self.connection = connection
        self.sql = sql
        session = connection.mailbox.newSession()
    }

    deinit {
        if phase.withLock({ $0 == .running }) { abandon() }
    }

    /// The next chunk of whole rows, nil at the end.
    func next() async throws -> [UInt8]? {
        var current = phase.withLock { $0 }
        if current == .over { return nil }
        do {
            if current == .unstarted {
                _ = try await connection.mailbox.perform(.copyOut(sql), session: session)
                phase.withLock { $0 = .running }
                current = .running
            }
            let reply = try await connection.mailbox.perform(.copyNext, session: session)
            if case .bytes(let bytes?) = reply { return bytes }
            phase.withLock { $0 = .over }
            return nil
        } catch {
            if current == .running { abandon() }
            phase.withLock { $0 = .over }
            throw error
        }
    }

    /// Has the thread end the COPY if it still runs.
    private func abandon() {
        let request = Request(.copyAbandon, session: session)
        connection.mailbox.submit(Submission(request: request, continuation: nil))
    }
}
