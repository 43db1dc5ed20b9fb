import Synchronization

extension PostgresConnection {
    /// Copies rows into a table with a `COPY … FROM STDIN` statement, in a transaction of its own.
    ///
    /// Chunks may split rows anywhere; chunks of 64 KiB or more are fast. If the sequence throws, nothing is stored and
    /// the error is rethrown.
    ///
    /// - Returns: the number of rows stored.
    @discardableResult
    package func copyIn<Rows: AsyncSequence>(
        _ sql: String,
        rows: Rows,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Int64 where Rows.Element == [UInt8] {
        try await copyIn(sql, rows: rows, session: mailbox.newSession(), isolation: isolation)
    }

    /// Copies one buffer of rows into a table with a `COPY … FROM STDIN` statement.
    ///
    /// - Returns: the number of rows stored.
    @discardableResult
    package func copyIn(_ sql: String, rows: [UInt8]) async throws -> Int64 {
        try await copyIn(sql, rows: Self.stream(of: rows))
    }

    /// Copies rows out with a `COPY … TO STDOUT` statement, in chunks of whole rows, at the pace of the reader.
    ///
    /// Leaving the stream early cancels the statement; the connection stays usable.
    package func copyOut(_ sql: String) -> AsyncThrowingStream<[UInt8], any Error> {
        let reader = CopyReader(connection: self, sql: sql)
        return AsyncThrowingStream { try await reader.next() }
    }

    /// Copies rows in one transaction with statements before and after them. Meant for frequent stores: it takes four
    /// round trips where `transaction` takes six.
    ///
    /// - Parameters:
    ///   - sql: a `COPY … FROM STDIN (FORMAT binary)` statement.
    ///   - first: the statements before it; the transaction ends if one fails.
    ///   - rows: makes the rows, possibly none, from the results of the first statements.
    ///   - last: the statements after it, sent together with COMMIT.
    /// - Returns: the results of the first and the last statements, and the number of rows stored. All of it is
    ///   committed then. If the connection is lost during COMMIT, the outcome is unknown, as in `transaction`.
    package func copyIn(
        _ sql: String,
        after first: [PostgresStatement],
        rows: ([PostgresResult]) throws -> CopyRows,
        then last: [PostgresStatement],
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> (first: [PostgresResult], copied: Int64, last: [PostgresResult]) {
        try ParameterEncoder.check(first)
        try ParameterEncoder.check(last)
        let session = mailbox.newSession()
        let begin = PostgresStatement(PostgresTransactionMode.readCommitted.begin, prepare: false)
        // A failure ends the session.
        let opened = try await mailbox.perform(.open([begin] + first), session: session).results(first.count + 1)
        var copied: Int64 = 0
        do {
            let rows = try rows(Array(opened.dropFirst()))
            if rows.count > 0 {
                copied = try await copyIn(
                    sql,
                    rows: Self.stream(of: rows.stream),
                    session: session,
                    isolation: isolation
                )
            }
        } catch {
            let rollback = Request.Work.close([PostgresStatement("ROLLBACK", prepare: false)])
            _ = try? await mailbox.performUncancelled(rollback, session: session)
            throw error
        }
        let commit = PostgresStatement("COMMIT", prepare: false)
        let closed = try await mailbox.performUncancelled(.close(last + [commit]), session: session).results(
            last.count + 1
        )
        return (Array(opened.dropFirst()), copied, Array(closed.dropLast()))
    }

    func copyIn<Rows: AsyncSequence>(
        _ sql: String,
        rows: Rows,
        session: UInt64,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Int64 where Rows.Element == [UInt8] {
        _ = try await mailbox.perform(.copyIn(sql), session: session)
        do {
            for try await chunk in rows where !chunk.isEmpty {
                try await put(chunk, session: session)
            }
            try Task.checkCancellation()
        } catch {
            _ = try? await mailbox.performUncancelled(.copyEnd(failed: true), session: session)
            throw error
        }
        guard case .rows(let count) = try await mailbox.performUncancelled(.copyEnd(failed: false), session: session)
        else { return 0 }
        return count
    }

    /// libpq copies what it is given, so larger chunks are sent in pieces of 1 MiB.
    private static let maxPieceSize = 1 << 20

    private func put(_ chunk: [UInt8], session: UInt64) async throws {
        guard chunk.count > Self.maxPieceSize else {
            _ = try await mailbox.perform(.copyChunk(chunk), session: session)
            return
        }
        for start in stride(from: 0, to: chunk.count, by: Self.maxPieceSize) {
            let piece = Array(chunk[start..<min(start + Self.maxPieceSize, chunk.count)])
            _ = try await mailbox.perform(.copyChunk(piece), session: session)
        }
    }

    /// A sequence of one chunk.
    static func stream(of rows: [UInt8]) -> AsyncStream<[UInt8]> {
        AsyncStream { continuation in
            continuation.yield(rows)
            continuation.finish()
        }
    }
}

/// The reader of a COPY … TO STDOUT; if it is released early, the connection's thread cleans up.
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

    /// The next chunk of whole rows; nil at the end.
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

    /// Makes the thread end the COPY if it is still running.
    private func abandon() {
        let request = Request(.copyAbandon, session: session)
        connection.mailbox.submit(Submission(request: request, continuation: nil))
    }
}
