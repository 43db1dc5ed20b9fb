import PushCore
import Store
import TestSupport
import Testing

@Suite("A push token in two applications of a delivery")
struct SharedTokenTests {
    /// Two iOS applications of the same app, as after a change of the integration key: subscriptions 1 to 4 of the first one, 5 to
    /// 8 of the second, which have the tokens of 1 to 4. The later one is better but for the second pair.
    private func make() async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.store.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-new",
                platform: .ios,
                integrationKey: "new",
                bundleID: "com.shop",
                account: "apns"
            )
        )
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 4)
        try await fixture.store.seedSubscriptions(application: "shop-new", count: 4)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET push_token = 't' || (id - 1) % 4,
                registered_at = now() - interval '1 hour' + CASE id WHEN 2 THEN 100 ELSE id END * interval '1 s'
            """
        )
        return fixture
    }

    private let both = ["shop-ios", "shop-new"]

    @Test("Gets one message, in the application where it registered later")
    func subscribers() async throws {
        let fixture = try await make()
        let id = try await fixture.startedDelivery(both)
        #expect(try await fixture.prepare().excluded == 4)
        #expect(try await fixture.targets(id) == Set([5, 2, 7, 8]))
        #expect(
            try await fixture.store.exclusionCounts(delivery: id) == [
                OutcomeCount(status: nil, reason: "duplicate", count: 4)
            ]
        )
        #expect(try await fixture.assertEquation(id))
        let alone = try await fixture.startedDelivery(["shop-ios"])
        try await fixture.prepare()
        #expect(try await fixture.targets(alone) == Set(1...4))
    }

    @Test("Unless that one is disabled, excluded or not selected, or duplicates are allowed")
    func betterOnes() async throws {
        let fixture = try await make()
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id = 5")
        let chosen = try await fixture.store.createDelivery(
            NewDelivery(label: "x", applications: both, content: #"{"ios": {"title": "a"}}"#)
        )
        try await fixture.store.setTarget(ofDelivery: chosen, DeliveryTarget(filter: "subscription_id != 8"))
        try await fixture.store.exclude(Addressees(subscriptionIDs: [7]), fromDelivery: chosen)
        try await fixture.store.startDelivery(chosen)
        try await fixture.prepare()
        #expect(try await fixture.targets(chosen) == Set([1, 2, 3, 4]))
        let twice = try await fixture.store.createDelivery(
            NewDelivery(label: "x", applications: both, content: #"{"ios": {"title": "a"}}"#)
        )
        try await fixture.store.setTarget(ofDelivery: twice, DeliveryTarget(allowsDuplicates: true))
        try await fixture.store.startDelivery(twice)
        try await fixture.prepare()
        #expect(try await fixture.targets(twice) == Set([1, 2, 3, 4, 6, 7, 8]))
    }

    @Test("Also with explicit targets that name both, or the token")
    func explicit() async throws {
        let fixture = try await make()
        let id = try await fixture.startedDelivery(both, explicit: true)
        try await fixture.store.addTargets(
            [
                ExplicitTarget(.pushToken("t0")), ExplicitTarget(.subscription(2)), ExplicitTarget(.subscription(6)),
                ExplicitTarget(.subscription(3)), ExplicitTarget(.subscription(8)), ExplicitTarget(.subscription(8)),
            ],
            toDelivery: id
        )
        try await fixture.store.startDelivery(id)
        #expect(try await fixture.prepare().messages == 4)
        #expect(try await fixture.targets(id) == Set([5, 2, 3, 8]), "3 alone is named of its token")
        #expect(
            try await fixture.store.exclusionCounts(delivery: id) == [
                OutcomeCount(status: nil, reason: "duplicate", count: 3)
            ]
        )
        #expect(try await fixture.assertEquation(id))
    }

    @Test("Platforms and environments have separate tokens, so nothing is looked up across them")
    func otherKinds() async throws {
        let fixture = try await make()
        try await fixture.sql("UPDATE pushmta_engine.application SET environment = 'sandbox' WHERE name = 'shop-new'")
        let id = try await fixture.startedDelivery(both)
        try await fixture.prepare()
        #expect(try await fixture.targets(id) == Set(1...8))
    }
}
