import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Messages of subscribers in the console")
struct PeopleHistoryTests {
    /// The session of an operator, in a database.
    private func actor(_ fixture: StoreFixture) async throws -> ConsoleActor {
        let author = AuditAuthor(name: "test", origin: "here")
        try await fixture.store.addConsoleUser("oda", role: .operate, passwordHash: "scrypt$hash", by: author)
        let token = [UInt8](repeating: 7, count: 32)
        let isOpen = try await fixture.store.beginConsoleSession(
            user: "oda",
            hash: "scrypt$hash",
            address: "192.0.2.1",
            tokenHash: token,
            formToken: "form",
            lastsSeconds: 3_600
        )
        #expect(isOpen)
        return ConsoleActor(tokenHash: token, idleSeconds: 600, address: "192.0.2.1")
    }

    /// Stores that the first message of a delivery was refused, and the second sent.
    private func outcomes(_ fixture: StoreFixture) async throws {
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        for row in [0, 1] {
            batch.append(
                part: part.id,
                token: part.fencingToken,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: row == 0 ? .failed : .sent,
                httpStatus: row == 0 ? 400 : 200,
                reason: row == 0 ? "=BadTopic" : "",
                failure: row == 0 ? MessageFailure(.hard, .refused) : nil
            )
        }
        #expect(try await fixture.store.storeOutcomes(batch).inserted == 2)
    }

    @Test("A subscription's messages with their outcomes, newest delivery first; older ones by key")
    func history() async throws {
        let (fixture, first) = try await StoreFixture.prepared(messages: 30, partSize: 10)
        let oda = try await actor(fixture)
        try await outcomes(fixture)
        let second = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: 7)
        let one = try await fixture.store.history(ofSubscription: 1, limit: 10, by: oda)
        #expect(one.messages.map(\.delivery) == [second, first] && one.next == nil && !one.isCut)
        #expect(
            one.messages.map(\.status) == ["pending", "failed"] && one.messages.map(\.reason) == ["", "=BadTopic"]
        )
        #expect(one.messages.map { $0.at == nil } == [true, false] && one.messages[1].httpStatus == 400)
        // In the last part, which the binary search reaches last.
        let last = try await fixture.store.history(ofSubscription: 30, limit: 10, by: oda)
        #expect(last.messages.map(\.delivery) == [second, first] && last.messages.map(\.sequence) == [30, 30])
        let page = try await fixture.store.history(ofSubscription: 1, limit: 1, by: oda)
        #expect(page.messages.map(\.delivery) == [second] && page.next == second)
        let next = try await fixture.store.history(ofSubscription: 1, below: try required(page.next), limit: 1, by: oda)
        #expect(next.messages.map(\.delivery) == [first])
        #expect(try await fixture.store.history(ofSubscription: 99, limit: 10, by: oda).messages.isEmpty)
    }

    @Test("Outcomes are read by numbers and logged; deleted ones are not found")
    func outcomesByNumber() async throws {
        let (fixture, delivery) = try await StoreFixture.prepared(messages: 30, partSize: 10)
        let oda = try await actor(fixture)
        try await outcomes(fixture)
        #expect(try await fixture.store.beginOutcomes(ofDelivery: delivery, by: oda) == 30)
        let noted =
            "SELECT count(*) FROM pushmta_engine.audit_log WHERE action = 'delivery.outcomes' AND subject = '\(delivery)'"
        #expect(try await fixture.sql(noted) == 1)
        let some = try await fixture.store.outcomes(ofDelivery: delivery, numbers: 1...3, by: oda)
        #expect(some.map(\.row.sequence) == [1, 2, 3] && some.map(\.row.status) == ["failed", "sent", "pending"])
        #expect(some[0].row.reason == "=BadTopic" && some[0].row.failureType == "hard")
        #expect(some[0].application == "shop-ios")
        #expect(some[2].row.attempt == 0 || some[2].row.loggedAt == nil)
        #expect(try await fixture.store.outcomes(ofDelivery: delivery, numbers: 29...99, by: oda).count == 2)
        for (id, code) in [(delivery, StoreError.Code.conflict), (99, .notFound)] {
            try await fixture.sql("UPDATE pushmta_engine.delivery SET purged = true")
            do {
                _ = try await fixture.store.beginOutcomes(ofDelivery: id, by: oda)
                Issue.record("it was not refused")
            } catch let error as StoreError {
                #expect(error.code == code)
            }
        }
        #expect(try await fixture.sql(noted) == 1)
    }

    /// A function's reads are counted in its transaction, so no plan can hide a full scan of a table.
    @Test("Look-ups and pages of the quarantine read by index, few rows of very many")
    func costs() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 20_000)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET quarantine_status = 2, quarantined_at = now() - id * interval '1 s',
                quarantine_reason = 'x' WHERE id > 10000
            """
        )
        _ = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: 100)
        try await fixture.sql("ANALYZE")
        _ = try await actor(fixture)
        let session = "sha256('')"
        try await fixture.sql("UPDATE pushmta_engine.console_session SET token_hash = \(session)")
        let who = "ROW(\(session), now(), '10 minutes', '')"
        let calls = [
            "console_find_people(\(who), 'user_key', 'shop-ios-700', 51)",
            "console_find_people(\(who), 'subscription', '700', 51)", "console_subscriber(\(who), 700)",
            "console_find_people(\(who), 'user_key', 'shop-ios-700', 51, 'shop')",
            "console_service_people(\(who), 'shop', 9223372036854775807, 51)",
            "console_service_people(\(who), 'shop', 10000, 51)",
            "console_history(\(who), 700, 9223372036854775807, 20)", "console_quarantine(\(who), 200)",
            "console_quarantined(\(who), now() - interval '12000 s', 1, 26)",
        ]
        for call in calls {
            let connection = try await fixture.database.connect()
            try await connection.run(script: "BEGIN")
            let rows = try await connection.execute(
                PostgresStatement("SELECT count(*) FROM pushmta_engine.\(call)", prepare: false)
            )
            #expect(try rows.int64(0, 0) > 0, "\(call)")
            let counts = try await connection.execute(
                PostgresStatement(
                    """
                    SELECT sum(seq_scan)::bigint, sum(coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_xact_user_tables
                    WHERE schemaname = 'pushmta_engine' AND relname ~ '^(subscription|delivery_part|token_event|broad_log|tracking_log)'
                    """,
                    prepare: false
                )
            )
            #expect(try counts.int64(0, 0) == 0, "\(call) reads a table whole")
            #expect(try counts.int64(0, 1) < 500, "\(call)")
            await connection.close()
        }
    }
}
