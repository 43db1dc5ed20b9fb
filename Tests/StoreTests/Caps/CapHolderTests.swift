import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Deliveries that hold a frequency cap and have not left")
struct CapHolderTests {
    /// An analysed delivery to the subscriptions that a condition selects.
    private func analysed(_ fixture: StoreFixture, _ label: String, _ condition: String = "") async throws -> Int64 {
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: label, applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        if !condition.isEmpty {
            try await fixture.sql(
                "DO $$ BEGIN PERFORM pushmta.set_target(\(id), filter => $f$\(condition)$f$); END $$"
            )
        }
        try await fixture.store.analyzeDelivery(id)
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        while try await !fixture.store.prepareChunk(job).done {}
        _ = try await fixture.store.endAnalysis(of: job, AnalysisFindings())
        return id
    }

    private func holders(_ fixture: StoreFixture, _ id: Int64, limit: Int32 = 5) async throws -> CapHolders {
        try await fixture.store.capHolders(ofDelivery: id, limit: limit)
    }

    @Test("They are named with their caps, the largest first, as long as they hold a cap of people who are left out")
    func named() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 20)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET locale = 'fr' WHERE id % 2 = 0")
        try await fixture.store.setFrequencyCap(
            FrequencyCapRow(service: "shop", name: "week", maxMessages: 2, unit: .days, length: 7)
        )
        let small = try await analysed(fixture, "French", "locale = 'fr'")
        let large = try await analysed(fixture, "All")
        #expect(try await holders(fixture, large) == .empty, "nobody is left out of it")
        let last = try await analysed(fixture, "Last")
        #expect(try await fixture.store.deliveryProgress(last).target == 10)
        let found = try await holders(fixture, last)
        #expect(found.largest.map(\.delivery) == [large, small] && found.count == 2)
        #expect(found.largest.map(\.messages) == [20, 10])
        #expect(found.largest.map(\.label) == ["All", "French"] && found.largest.allSatisfy { $0.caps == ["week"] })
        let first = try await holders(fixture, last, limit: 1)
        #expect(first.largest.map(\.delivery) == [large] && first.count == 2)
        // One that has begun cannot be taken back.
        try await fixture.store.startDelivery(large)
        #expect(try await holders(fixture, last).largest.map(\.delivery) == [small])
        // One that is scheduled can.
        try await fixture.sql(
            "DO $$ BEGIN PERFORM pushmta.start_delivery(\(small), now() + interval '30 minutes'); END $$"
        )
        #expect(try await holders(fixture, last).largest.map(\.delivery) == [small])
        try await fixture.store.stopDelivery(small)
        #expect(try await holders(fixture, last) == .empty)
    }

    @Test("A delivery to other people holds nothing of those who are left out")
    func others() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 20)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET locale = 'fr' WHERE id % 2 = 0")
        try await fixture.store.setFrequencyCap(
            FrequencyCapRow(service: "shop", name: "day", maxMessages: 1, unit: .hours, length: 24)
        )
        let french = try await analysed(fixture, "French", "locale = 'fr'")
        _ = try await analysed(fixture, "Others", "NOT locale = 'fr'")
        let again = try await analysed(fixture, "French again", "locale = 'fr'")
        #expect(try await fixture.store.deliveryProgress(again).target == 0)
        #expect(try await holders(fixture, again).largest.map(\.delivery) == [french])
    }
}
