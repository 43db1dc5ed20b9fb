import PushCore
import Store
import Testing

/// A feedback service's reports about tokens.
@Suite("Feedback")
struct FeedbackTests {
    @Test("A token whose app was removed disables its subscription, unless it was registered since")
    func applied() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 4)
        let id = try await fixture.store.application(named: "shop-ios").id
        let android = try await fixture.store.application(named: "shop-android").id
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET push_token = CASE id WHEN 1 THEN 'aa01' WHEN 2 THEN 'AA02' WHEN 3 THEN 'aa03'
                ELSE push_token END, registered_at = CASE id WHEN 3 THEN now() ELSE to_timestamp(1000) END
            """
        )
        let tokens = ["aa01", "aa02", "aa03", "ffff"]
        let since = [Int64](repeating: 2_000, count: 4)
        #expect(try await fixture.store.storeFeedback(application: id, tokens: tokens, since: since) == 3)
        #expect(try await fixture.store.storeFeedback(application: android, tokens: tokens, since: since) == 0)
        #expect(try await fixture.store.applyTokenEvents() == 3)
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.subscription WHERE NOT enabled AND disabled_reason = 'token_invalid' AND id IN (1, 2)"
            ) == 2
        )
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE enabled") == 2)
        // A disabled subscription does not change, and a later registration takes precedence again.
        #expect(try await fixture.store.storeFeedback(application: id, tokens: tokens, since: since) == 1)
        #expect(try await fixture.store.applyTokenEvents() == 1)
        let counts = try await fixture.store.tokenEventCounts()
        #expect(counts.count == 1 && counts[0].deliveryID == nil && counts[0].reason == "Unregistered")
        #expect(counts[0].applied == 2 && counts[0].outdated == 2)
        #expect(try await fixture.store.storeFeedback(application: id, tokens: [], since: []) == 0)
    }

    @Test("A time in the future does not override a later registration, and an implausible time is ignored")
    func future() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2)
        let id = try await fixture.store.application(named: "shop-ios").id
        try await fixture.sql("UPDATE pushmta_engine.subscription SET push_token = 'aa0' || id")
        let now = try required(try await fixture.sql("SELECT extract(epoch FROM now())::bigint"))
        let times: [Int64] = [now + 3_600, -1, .max, .min, 253_402_300_800]
        let tokens = ["aa01", "aa02", "aa02", "aa02", "aa02"]
        #expect(try await fixture.store.storeFeedback(application: id, tokens: tokens, since: times) == 1)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET registered_at = now() WHERE id = 1")
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE enabled") == 2)
    }

    @Test("It also counts while effects are held, because no mix-up can cause it")
    func held() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1)
        let id = try await fixture.store.application(named: "shop-ios").id
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET push_token = 'aa01', registered_at = to_timestamp(1)"
        )
        try await fixture.store.openCircuit(application: id, reason: "mix-up", remedy: "", holdsTokenEffects: true)
        #expect(try await fixture.store.storeFeedback(application: id, tokens: ["aa01"], since: [5]) == 1)
        _ = try await fixture.store.applyTokenEvents()
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_event WHERE state = 'applied'") == 1)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE enabled") == 0)
    }
}
