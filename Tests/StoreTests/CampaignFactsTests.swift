import LaboratoryStore
import PushCore
import Store
import TestSupport
import Testing

/// What drills read of deliveries with a plan.
@Suite("Facts of campaigns")
struct CampaignFactsTests {
    private static let zones = ["Pacific/Honolulu", "Europe/Berlin"]

    @Test("One in 56 seeded subscribers is chosen; every fourth is the second device of the one before")
    func people() async throws {
        let site = try await PlanFixture.make(560)
        let people = try await site.store.makeCampaignPeople(of: ["shop-ios"], zones: Self.zones)
        #expect(people.count == 10)
        let distinct = try await site.sql(
            """
            SELECT count(DISTINCT s.user_key) * 100 + count(DISTINCT s.time_zone) * 10 + count(s.person_id)
            FROM pushmta_engine.subscription s WHERE s.recipient ->> 'firstName' = 'Ada' AND s.recipient ->> 'city' = 'Lyon'
            """
        )
        #expect(distinct == 822, "8 persons, 2 zones, 2 second devices")
    }

    @Test("Waves, local times and messages are read as they were prepared")
    func plan() async throws {
        let site = try await PlanFixture.make(560)
        let people = try await site.store.makeCampaignPeople(of: ["shop-ios"], zones: Self.zones)
        let localTime = try await site.store.localTime(in: Self.zones[0], afterSeconds: 3_600)
        let id = try await site.edited(
            """
            {"local_time": "\(localTime)", "on_past": "now", "waves": [{"percent": 50}, {"after": "2 seconds"}]}
            """
        )
        try await site.store.setTarget(ofDelivery: id, DeliveryTarget(filter: Store.campaignFilter))
        try await site.store.startDelivery(id)
        try await site.prepare()
        try await site.advance()
        let facts = try await site.store.campaignFacts(delivery: id)
        #expect(facts.messages.map(\.subscription).sorted() == people && facts.exclusions.isEmpty)
        #expect(Set(facts.messages.map(\.person)).count == 8)
        #expect(facts.messages.count { $0.wave == 1 } == 5 && facts.messages.allSatisfy { $0.cell == nil })
        // An hour ahead in one zone, and long past in the other.
        let ahead = facts.messages.count { ($0.localAt ?? 0) > facts.startedAt }
        #expect(ahead == 5)
        #expect(facts.waves.map(\.pause) == [0, 2] && facts.waves.map { $0.openedAt != nil } == [true, false])
        #expect(facts.startedAt > 0 && facts.decidesAt == nil)
    }
}
