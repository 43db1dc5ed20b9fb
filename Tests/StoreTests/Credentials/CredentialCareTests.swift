import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Maintenance of credentials")
struct CredentialCareTests {
    private static let day: Int64 = 86_400_000_000

    private func save(
        _ fixture: StoreFixture,
        _ application: String = "shop-ios",
        kind: CredentialKind = .apnsCertificate,
        fingerprint: String = "f",
        keyID: String = "old",
        daysLeft: Double? = nil,
        both: Bool = false
    ) async throws -> Int64 {
        let id = try await fixture.store.nextCredentialID()
        let now = try await fixture.store.databaseClock().microsecondsSince1970
        let row = CredentialRow(
            id: id,
            kind: kind,
            name: "\(application)-\(id)",
            sealKeyID: keyID,
            sealed: [1, 2, 3],
            attributes: "{}",
            fingerprint: fingerprint,
            expiresAt: daysLeft.map { DatabaseTime(microsecondsSince1970: now + Int64($0 * Double(Self.day))) }
        )
        try await fixture.store.saveCredential(row, application: application, allowsBothEnvironments: both)
        return id
    }

    private func sandbox(_ fixture: StoreFixture) async throws {
        try await fixture.store.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-ios-sandbox",
                platform: .ios,
                environment: .sandbox,
                integrationKey: "ios-sandbox",
                bundleID: "com.shop",
                account: "apns"
            )
        )
    }

    @Test("A replaced credential is deleted, unless another application uses it")
    func replaced() async throws {
        let fixture = try await StoreFixture.make()
        let first = try await save(fixture)
        let second = try await save(fixture)
        #expect(try await fixture.store.credentials().map(\.id) == [second])
        try await fixture.sql(
            "UPDATE pushmta_engine.application SET credential_id = \(second) WHERE name = 'shop-android'"
        )
        let third = try await save(fixture)
        #expect(try await fixture.store.credentials().map(\.id) == [second, third])
        #expect(try await fixture.store.credentials().map(\.applications) == [["shop-android"], ["shop-ios"]])
        #expect(try await fixture.store.credential(first) == nil)
    }

    @Test("A certificate serves one environment, unless it is said to be for both")
    func environments() async throws {
        let fixture = try await StoreFixture.make()
        try await sandbox(fixture)
        _ = try await save(fixture, fingerprint: "same")
        let error = await #expect(throws: StoreError.self) {
            try await save(fixture, "shop-ios-sandbox", fingerprint: "same")
        }
        #expect(error?.code == .conflict)
        #expect(
            error?.message.contains("already belongs to application \"shop-ios\" of the production environment") == true
        )
        #expect(try await fixture.store.credentials().count == 1, "nothing of the refused one stays")
        _ = try await save(fixture, "shop-ios-sandbox", fingerprint: "other")
        _ = try await save(fixture, "shop-ios-sandbox", fingerprint: "same", both: true)
        // A key always serves both environments.
        _ = try await save(fixture, kind: .apnsKey, fingerprint: "key")
        _ = try await save(fixture, "shop-ios-sandbox", kind: .apnsKey, fingerprint: "key")
    }

    @Test("If two sessions set the same certificate at once, one of them is refused")
    func race() async throws {
        let fixture = try await StoreFixture.make()
        try await sandbox(fixture)
        let rival = StoreFixture(database: fixture.database, store: fixture.other, other: fixture.store)
        async let own = Result { try await save(fixture, fingerprint: "same") }
        async let theirs = Result { try await save(rival, "shop-ios-sandbox", fingerprint: "same") }
        let failures = await [own, theirs].filter { if case .failure = $0 { true } else { false } }
        #expect(failures.count == 1)
    }

    @Test("Credentials near their expiry")
    func expiring() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await save(fixture, fingerprint: "a", daysLeft: 29)
        #expect(try await fixture.store.expiringCredentials(withinDays: 30).map(\.fingerprint) == ["a"])
        #expect(try await fixture.store.expiringCredentials(withinDays: 28).isEmpty)
        _ = try await save(fixture, "shop-android", kind: .fcmServiceAccount, fingerprint: "b", daysLeft: -2)
        let found = try await fixture.store.expiringCredentials(withinDays: 30)
        #expect(found.map(\.fingerprint) == ["b", "a"])
        let left = try #require(found.first?.secondsLeft)
        #expect(left < -2 * 86_400 + 60 && left > -2 * 86_400 - 600)
        _ = try await save(fixture, fingerprint: "c")
        #expect(try await fixture.store.expiringCredentials(withinDays: 30).map(\.fingerprint) == ["b"])
    }

    @Test("Credentials are sealed again once, and not over another session's change")
    func reseal() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await save(fixture)
        #expect(try await fixture.store.reseal(id, from: "old", to: "new", sealed: [9]))
        #expect(!(try await fixture.store.reseal(id, from: "old", to: "new", sealed: [8])))
        let row = try #require(try await fixture.store.credential(id))
        #expect(row.sealed == [9] && row.sealKeyID == "new")
    }

    @Test("Monitoring sees fingerprint and expiry; only the runtime role sees the sealed credential")
    func roles() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await save(fixture, fingerprint: "a", daysLeft: 29.5)
        for role in ["pushmta_marketing", "pushmta_monitoring"] {
            let connection = try await fixture.database.connect()
            try await connection.run(script: "SET ROLE \(role)")
            for column in ["sealed", "fingerprint", "*"] {
                await #expect {
                    try await connection.execute(PostgresStatement("SELECT \(column) FROM pushmta_engine.credential"))
                } throws: {
                    ($0 as? PostgresError)?.sqlState == "42501"
                }
            }
            let view = PostgresStatement("SELECT fingerprint, days_left, applications FROM pushmta.credential")
            if role == "pushmta_monitoring" {
                let rows = try await connection.execute(view)
                #expect(try rows.text(0, 0) == "a" && rows.int32(0, 1) == 29)
                #expect(try rows.textArray(0, 2) == ["shop-ios"])
            } else {
                await #expect(throws: PostgresError.self) { try await connection.execute(view) }
            }
            await connection.close()
        }
        let runtime = try await fixture.database.connect()
        try await runtime.run(script: "SET ROLE pushmta_runtime")
        #expect(
            try await runtime.execute(PostgresStatement("SELECT sealed FROM pushmta_engine.credential")).rowCount == 1
        )
        await runtime.close()
        let columns = try await fixture.database.connect().execute(
            PostgresStatement("SELECT * FROM pushmta.credential LIMIT 0")
        )
        #expect(columns.rowCount == 0)
    }

    @Test("A delivery's job knows the credential of each application")
    func job() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await save(fixture, "shop-android", kind: .fcmProjectKey, fingerprint: "b", daysLeft: -1)
        let id = try await fixture.startedDelivery(["shop-ios", "shop-android"])
        let job = try await fixture.store.job(id)
        #expect(job.applications.map(\.name) == ["shop-ios", "shop-android"])
        #expect(job.credentials.map { $0?.kind } == [nil, .fcmProjectKey])
        #expect(try #require(job.credentials[1]?.secondsLeft) < 0)
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
