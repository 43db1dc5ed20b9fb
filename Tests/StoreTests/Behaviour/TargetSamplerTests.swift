import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Estimates of large targets")
struct TargetSamplerTests {
    @Test(
        "Every window is read once, in an order that is always the same",
        arguments: [1, 2, 3, 64, 1_000, 4_097] as [Int64]
    )
    func order(all: Int64) {
        let order = (0..<all).map { TargetSampler.window(at: $0, of: all) }
        #expect(order.sorted() == Array(0..<all))
        #expect(order == (0..<all).map { TargetSampler.window(at: $0, of: all) })
    }

    @Test("19 of 20 estimates are within their error, and the whole is exact")
    func coverage() {
        let seed = TestRandom.seed(for: "targetSamplerCoverage")
        var random = TestRandom(seed: seed)
        var within = 0
        for _ in 0..<200 {
            let all: Int64 = 2_000
            let chance = 1 + random.below(40)
            let windows = (0..<all).map { _ in Int64((0..<40).count { _ in random.below(100) < chance }) }
            var sums = TargetSampler.Sums()
            while sums.windows < all, !sums.isPrecise(of: all) {
                for place in sums.windows..<min(sums.windows + 64, all) {
                    let found = windows[Int(TargetSampler.window(at: place, of: all))]
                    sums.messages += found
                    sums.squares += Double(found * found)
                    sums.windows += 1
                }
            }
            let (count, truth) = (sums.total("shop", of: all), windows.reduce(0, +))
            #expect(count.estimate == (sums.windows < all))
            guard let error = count.error else {
                #expect(count.messages == truth)
                within += 1
                continue
            }
            #expect(Double(error) <= 0.0201 * Double(count.messages) + 1)
            if abs(count.messages - truth) <= error { within += 1 }
        }
        // 190 are expected. Fewer than 175 happen once in a hundred thousand times.
        #expect(within >= 175, "seed \(seed)")
    }

    @Test("A sample without a match says how many there may be")
    func none() {
        let sums = TargetSampler.Sums(windows: 64, messages: 0, squares: 0, excluded: 0)
        #expect(!sums.isPrecise(of: 10_000))
        let count = sums.total("shop", of: 10_000)
        #expect(count.messages == 0 && count.estimate && (400...500).contains(count.error ?? 0), "\(count)")
    }

    @Test(
        "A large application is estimated, twice alike, and one message a person is estimated, too",
        arguments: [false, true]
    )
    func large(onePerUser: Bool) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, locale)
            SELECT a.id, lpad(n::text, 64, '0'), 'user-' || n / 2, CASE WHEN n % 2 = 0 THEN 'fr' ELSE 'de' END
            FROM generate_series(1, 60000) n CROSS JOIN pushmta_engine.application a WHERE a.name = 'shop-ios'
            """
        )
        try await fixture.sql("ANALYZE pushmta_engine.subscription")
        let id = try await fixture.store.createDelivery(
            NewDelivery(
                label: "Sale",
                applications: ["shop-ios"],
                content: #"{"ios": {"title": "Hi"}}"#,
                onePerUser: onePerUser
            )
        )
        // Everybody, or everybody's later device.
        let truth: Int64 = onePerUser ? 30_001 : 60_000
        let first = try required(try await fixture.store.countTarget(ofDelivery: id).first)
        #expect(first.estimate && abs(first.messages - truth) <= truth / 50, "\(first)")
        #expect(try await fixture.store.countTarget(ofDelivery: id).first == first)
        // What is too rare for an estimate is counted to the end.
        try await fixture.store.setTarget(ofDelivery: id, DeliveryTarget(filter: "user_key = 'user-7'"))
        let rare = try required(try await fixture.store.countTarget(ofDelivery: id).first)
        #expect(
            rare == TargetCount(application: "shop-ios", messages: onePerUser ? 1 : 2, excluded: onePerUser ? 1 : 0)
        )
    }
}
