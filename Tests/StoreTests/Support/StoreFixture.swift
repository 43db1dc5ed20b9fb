import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// A migrated database with a service, an account and an application for each platform.
struct StoreFixture {
    let database: TestDatabase
    let store: Store
    /// A second connection, which acts as another process.
    let other: Store
    let host = "6f9619ff-8b86-4011-b42d-00cf4fc964ff"

    static func make() async throws -> StoreFixture {
        let database = try await TestDatabase.create(.migrated)
        let fixture = StoreFixture(
            database: database,
            store: try await Store.connect(database.configuration()),
            other: Store(configuration: database.configuration())
        )
        try await fixture.fill()
        return fixture
    }

    private func fill() async throws {
        try await store.createService(name: "shop", label: "Shop")
        try await store.createAccount(name: "apns", connector: .iosHTTP2, host: "localhost", port: 443)
        try await store.createAccount(name: "fcm", connector: .androidV2, host: "localhost", port: 443)
        try await store.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-ios",
                platform: .ios,
                integrationKey: "ios-key",
                bundleID: "com.shop",
                account: "apns"
            )
        )
        try await store.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-android",
                platform: .android,
                integrationKey: "android-key",
                account: "fcm"
            )
        )
        try await store.registerHost(
            HostReport(
                id: host,
                name: "one",
                pid: 1,
                version: "1",
                schemaVersion: Store.schemaVersion,
                state: .running,
                journalFolder: "/var/lib/pushmta"
            )
        )
    }

    /// A child of an application.
    func child(_ application: String = "shop-ios") async throws -> Int64 {
        let row = try await store.application(named: application)
        let account = try await store.account(try required(row.accountID))
        return try await store.insertChild(
            ChildRow(
                hostID: host,
                generation: 1,
                applicationID: row.id,
                accountID: account.id,
                connector: account.connector
            )
        )
    }

    /// Adds a service with an application and six subscribers.
    func addBank() async throws {
        try await store.createService(name: "bank", label: "Bank")
        try await store.createApplication(
            NewApplication(
                service: "bank",
                name: "bank-ios",
                platform: .ios,
                integrationKey: "bank-key",
                account: "apns"
            )
        )
        try await store.seedSubscriptions(application: "bank-ios", count: 6)
    }

    /// A started delivery to all subscribers.
    func startedDelivery(_ applications: [String] = ["shop-ios"], explicit: Bool = false, onePerUser: Bool = false)
        async throws -> Int64
    {
        let id = try await store.createDelivery(
            NewDelivery(
                label: "test",
                applications: applications,
                content: #"{"ios": {"title": "a"}, "android": {"title": "a"}}"#,
                explicitTargets: explicit,
                onePerUser: onePerUser
            )
        )
        if !explicit { try await store.startDelivery(id) }
        return id
    }

    /// Prepares all due deliveries completely; returns the sums over all chunks.
    @discardableResult
    func prepare(partSize: Int = 1000, partsPerChunk: Int = 50) async throws -> (
        messages: Int64, excluded: Int64, parts: Int
    ) {
        let job = try required(try await store.claimDeliveriesToPrepare(host: host).first)
        var total: (messages: Int64, excluded: Int64, parts: Int) = (0, 0, 0)
        while true {
            let chunk = try await store.prepareChunk(job, partSize: partSize, partsPerChunk: partsPerChunk)
            total = (total.messages + chunk.messages, total.excluded + chunk.excluded, total.parts + chunk.parts)
            if chunk.done { return total }
        }
    }

    /// Claims parts of an application for a new child.
    func claim(_ application: String = "shop-ios", limit: Int = 1) async throws -> [ClaimedPart] {
        let row = try await store.application(named: application)
        return try await store.claimParts(
            application: row.id,
            account: try required(row.accountID),
            child: try await child(application),
            limit: limit
        )
    }

    /// A seeded, started and prepared delivery with its first part claimed.
    static func withClaimedPart(messages: Int64 = 100) async throws -> (StoreFixture, ClaimedPart) {
        let fixture = try await make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: messages)
        _ = try await fixture.startedDelivery()
        try await fixture.prepare()
        return (fixture, try required(try await fixture.claim().first))
    }

    /// Runs a test's SQL and returns the first column of the first row.
    @discardableResult
    func sql(_ text: String) async throws -> Int64? {
        let connection = try await database.connect()
        defer { Task { await connection.close() } }
        let result = try await connection.execute(PostgresStatement(text, prepare: false))
        return result.rowCount > 0 && result.columnCount > 0 ? try result.int64OrNil(0, 0) : nil
    }

    /// The alarms of one kind.
    func alarms(_ code: String) async throws -> [AlarmRow] {
        try await store.alarms().filter { $0.code == code }
    }

    /// A delivery's counts from its rows and parts must match its counters.
    func assertEquation(_ delivery: Int64) async throws -> Bool {
        let connection = try await database.connect()
        defer { Task { await connection.close() } }
        let result = try await connection.execute(
            PostgresStatement(
                """
                SELECT p.target = p.pending + p.sent + p.failed + p.ignored + p.not_applicable + p.canceled + p.unknown
                    AND p.target = m.total AND p.pending = m.pending AND p.sent = m.sent AND p.failed = m.failed
                    AND p.ignored = m.ignored AND p.not_applicable = m.not_applicable AND p.canceled = m.canceled
                    AND p.unknown = m.unknown
                    -- Numbers of a part ascend, and are noted from the first to the last.
                    AND NOT EXISTS (SELECT FROM pushmta_engine.delivery_part_target t WHERE t.delivery_id = \(delivery)
                        AND (t.last_sequence <> coalesce((SELECT max(u) FROM unnest(t.sequences) u),
                                t.first_sequence + cardinality(t.subscription_ids) - 1)
                            OR t.first_sequence <> (SELECT min(u) FROM unnest(t.sequences) u)))
                FROM pushmta.delivery_progress p, (SELECT count(*) AS total,
                    count(*) FILTER (WHERE status = 'pending') AS pending, count(*) FILTER (WHERE status = 'sent') AS sent,
                    count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'ignored') AS ignored,
                    count(*) FILTER (WHERE status = 'not_applicable') AS not_applicable,
                    count(*) FILTER (WHERE status = 'canceled') AS canceled, count(*) FILTER (WHERE status = 'unknown') AS unknown
                    FROM pushmta.message_status WHERE delivery_id = \(delivery)) m
                WHERE p.id = \(delivery)
                """,
                prepare: false
            )
        )
        return try result.bool(0, 0)
    }
}

extension StoreFixture {
    /// A user with a role, signed in to the console.
    func actor(_ role: ConsoleRole) async throws -> ConsoleActor {
        let author = AuditAuthor(name: "test", origin: "here")
        try await store.addConsoleUser(role.rawValue, role: role, passwordHash: "scrypt$hash", by: author)
        let token = [UInt8](repeating: try required(role.rawValue.utf8.first), count: 32)
        let isOpen = try await store.beginConsoleSession(
            user: role.rawValue,
            hash: "scrypt$hash",
            address: "192.0.2.1",
            tokenHash: token,
            formToken: "form",
            lastsSeconds: 3_600
        )
        #expect(isOpen)
        return ConsoleActor(tokenHash: token, idleSeconds: 600, address: "192.0.2.1")
    }
}

/// A value that a test requires.
func required<T>(_ value: T?) throws -> T {
    guard let value else { throw Missing() }
    return value
}

/// A required value is missing.
struct Missing: Error {}

extension OutcomeBatch {
    /// Outcomes of some rows of a loaded part.
    mutating func append(
        _ part: ClaimedPart,
        _ loaded: LoadedPart,
        rows: Range<Int>,
        _ status: MessageStatus,
        reason: String = ""
    ) {
        for row in rows {
            append(
                part: part.id,
                token: part.fencingToken,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: status,
                httpStatus: status == .sent ? 200 : 400,
                reason: reason,
                attempt: part.attempt
            )
        }
    }
}
