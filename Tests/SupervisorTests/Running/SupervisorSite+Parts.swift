import PostgresClient
import PushCore
import Store
import SystemPackage
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SupervisorSite {
    /// The row of a child.
    func row(of child: Int64) async throws -> ChildRow {
        try #require(try await store.children(includeExited: true).first { $0.id == child }?.row)
    }

    /// The header that a child of this site writes.
    func header(_ child: Int64) throws -> JournalHeader {
        let data = FileManager.default.contents(atPath: folder.path.appending("host/host-id").string)
        let text = String(decoding: try #require(data).prefix(36), as: UTF8.self)
        return JournalHeader(childID: child, generation: 1, hostID: try #require(UUID(uuidString: text)))
    }

    /// Claims a part for a child. With a header, also journals the intents of half of its messages and some answers.
    func holdPart(child: Int64, header: JournalHeader? = nil, damage: Bool = false) async throws -> ClaimedPart {
        let row = try await row(of: child)
        let parts = try await store.claimParts(
            application: row.applicationID,
            account: row.accountID,
            child: child,
            limit: 1
        )
        let part = try #require(parts.first)
        _ = try await store.mark([PartMark(part: part.id, token: part.fencingToken, through: part.size)])
        guard let header else { return part }
        var bytes: [UInt8] = []
        JournalEncoder.append(header, to: &bytes)
        for record in Self.records(part) { JournalEncoder.append(record, to: &bytes) }
        if damage {
            JournalEncoder.appendIntent(part: part.id, token: part.fencingToken, ranges: [6...9], to: &bytes)
            bytes[bytes.count - 1] ^= 0x55
        }
        try folder.write(bytes, to: "host/child-\(child).journal")
        return part
    }

    /// Records all messages of a part as sent and closes the part.
    func finish(_ part: ClaimedPart) async throws {
        let loaded = try await store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        for row in 0..<Int(part.size) {
            batch.append(
                part: part.id,
                token: part.fencingToken,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .sent,
                httpStatus: 200,
                reason: "",
                attempt: part.attempt
            )
        }
        batch.closing = [ClosingPart(part: part.id, token: part.fencingToken, retries: [])]
        _ = try await store.storeOutcomes(batch)
    }

    /// Creates a child of a lost host, for the same application and account as one of our own.
    func lostChild(like own: Int64) async throws -> Int64 {
        let row = try await row(of: own)
        return try await lostChild(application: row.applicationID, account: row.accountID, row.connector)
    }

    /// Creates a child that is only a row.
    func lostChild(application: Int32 = 1, account: Int32 = 1, _ connector: Connector = .iosHTTP2) async throws -> Int64
    {
        let host = UUID().uuidString.lowercased()
        try await store.registerHost(
            HostReport(
                id: host,
                name: "lost",
                pid: 1,
                version: "",
                schemaVersion: 1,
                state: .running,
                journalFolder: "/"
            )
        )
        return try await store.insertChild(
            ChildRow(hostID: host, generation: 1, applicationID: application, accountID: account, connector: connector)
        )
    }

    /// Opens a transaction, as another user may keep one open for hours.
    func hold(_ script: String) async throws -> PostgresConnection {
        let connection = try await database.connect()
        // Sessions of PushMTA are not allowed to.
        try await connection.run(script: "SET idle_in_transaction_session_timeout = 0; BEGIN; \(script)")
        return connection
    }

    /// Makes the database unreachable for the supervisor, like a lost server, or reachable again.
    func setDatabaseAway(_ isAway: Bool) async throws {
        let statements = [
            "UPDATE pg_database SET datallowconn = \(!isAway) WHERE datname = current_database()",
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE \(isAway) AND datname = current_database() AND application_name LIKE '%supervisor%'
            """,
        ]
        for statement in statements {
            _ = try await connection.execute(PostgresStatement(statement, prepare: false))
        }
    }

    static func records(_ part: ClaimedPart) -> [JournalRecord] {
        [
            .intent(part: part.id, token: part.fencingToken, ranges: [1...5]),
            .answers(
                part: part.id,
                token: part.fencingToken,
                timeMilliseconds: 0,
                [
                    JournalAnswer(sequence: 1, outcomeClass: .accepted, status: 200),
                    JournalAnswer(sequence: 2, outcomeClass: .permanent, status: 400, reason: "BadTopic"),
                    JournalAnswer(sequence: 3, outcomeClass: .retry, status: 503, reason: "ServiceUnavailable"),
                    JournalAnswer(sequence: 4, outcomeClass: .unprocessed),
                ]
            ),
        ]
    }
}
