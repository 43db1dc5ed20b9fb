import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The queue by application and age")
struct QueueTests {
    @Test("Ready messages are grouped by age; later and claimed ones are counted separately")
    func ages() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 70, partSize: 10)
        _ = try required(try await fixture.claim().first)
        // One part of each age and one that is due later, besides the claimed one.
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_part p SET not_before = now() - (ARRAY[0, 30, 300, 1800, 7200, -600])[o.place] * interval '1 s'
            FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM pushmta_engine.delivery_part WHERE state = 'ready') o
            WHERE p.id = o.id
            """
        )
        let row = try required(try await fixture.store.queue().first)
        #expect(row.application == "shop-ios" && row.account == "apns" && row.connector == .iosHTTP2)
        #expect(row.readyByAge == [10, 10, 10, 10, 10] && row.ready == 50 && !row.isReadyAtLeast)
        #expect(row.later == 10 && row.claimed == 10 && row.held == 0)
        #expect((7_200...7_300).contains(row.oldestSeconds ?? 0))
        #expect(row.waitingReason.contains("busy"), "\(row.waitingReason)")
    }

    @Test("At most the requested number of parts is counted, oldest first, and the row says so")
    func bound() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 10)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_part SET not_before = now() - interval '2 h'
            WHERE id = (SELECT max(id) FROM pushmta_engine.delivery_part)
            """
        )
        var row = try required(try await fixture.store.queue(countingAtMost: 4).first)
        #expect(row.ready == 40 && row.isReadyAtLeast && row.readyByAge.last == 10)
        try await fixture.store.pauseDelivery(id)
        row = try required(try await fixture.store.queue(countingAtMost: 4).first)
        #expect(row.ready == 0 && row.held == 40 && row.isHeldAtLeast && row.oldestSeconds == nil)
        row = try required(try await fixture.store.queue().first)
        #expect(row.held == 60 && !row.isHeldAtLeast && row.waitingReason == "its deliveries are paused")
    }

    @Test("It says why messages wait: no host, no child, the gateway's trouble, the circuit, the account")
    func reasons() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 20, partSize: 10)
        let application = try await fixture.store.application(named: "shop-ios")
        let account = try required(application.accountID)
        func reason() async throws -> String { try required(try await fixture.store.queue().first).waitingReason }
        #expect(try await reason() == "no child serves it yet")
        try await fixture.sql("UPDATE pushmta_engine.mta_host SET last_heartbeat = now() - interval '1 min'")
        #expect(try await reason() == "no host is alive")
        try await fixture.store.enterTrouble(
            application: application.id,
            account: account,
            reason: "connection refused",
            nextProbeIn: .seconds(60),
            keepsProber: false
        )
        #expect(try await reason() == "the gateway takes nothing: connection refused")
        try await fixture.store.openCircuit(
            application: application.id,
            account: account,
            reason: "APNs answered 403",
            remedy: "set another key",
            holdsTokenEffects: false
        )
        #expect(try await reason() == "the circuit is open: APNs answered 403")
        try await fixture.sql("UPDATE pushmta_engine.external_account SET active = false")
        #expect(try await reason() == "external account apns is not active")
    }

    @Test("Monitoring may read it, marketing systems may not, and nothing waits if nothing was started")
    func rights() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.store.queue().isEmpty)
        let connection = try await fixture.database.connect()
        try await connection.run(script: "SET ROLE pushmta_monitoring; SELECT * FROM pushmta.queue()")
        await #expect {
            try await connection.run(script: "SET ROLE pushmta_marketing; SELECT * FROM pushmta.queue()")
        } throws: {
            "\($0)".contains("permission denied")
        }
        await connection.close()
    }

    @Test("A delivery's messages are counted by application")
    func applications() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 30)
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 20)
        let id = try await fixture.startedDelivery(["shop-ios", "shop-android"])
        try await fixture.prepare(partSize: 10)
        let part = try required(try await fixture.claim().first)
        var batch = OutcomeBatch()
        batch.append(part, try await fixture.store.loadPart(part, fieldNames: []), rows: 0..<4, .sent)
        batch.closing = [ClosingPart(part: part.id, token: 1, restStatus: .failed, restReason: "refused")]
        #expect(try await fixture.store.storeOutcomes(batch).closedParts == [part.id])
        #expect(
            try await fixture.store.applicationProgress(delivery: id) == [
                ApplicationProgress(application: "shop-android", target: 20, pending: 20, sent: 0, failed: 0, other: 0),
                ApplicationProgress(application: "shop-ios", target: 30, pending: 20, sent: 4, failed: 6, other: 0),
            ]
        )
    }
}
