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

    @Test(
        "19 of 20 estimates are within their error, however rare what they count is, and the whole is exact",
        arguments: [3, 20, 100, 1_000, 5_000]
    )
    func coverage(inTenThousand share: Int) {
        let seed = TestRandom.seed(for: "targetSamplerCoverage\(share)")
        var random = TestRandom(seed: seed)
        var within = 0
        for _ in 0..<100 {
            let all: Int64 = 1_000
            let windows = (0..<all).map { _ in Int64((0..<40).count { _ in random.below(10_000) < share }) }
            var sample = TargetSample(of: all)
            // A bound that rare targets reach.
            while case let more = sample.next(limit: 500), more > 0 {
                for place in sample.sums.windows..<sample.sums.windows + more {
                    let found = windows[Int(TargetSampler.window(at: place, of: all))]
                    sample.add(
                        TargetSample.Sums(windows: 1, messages: found, squares: Double(found * found), excluded: 0)
                    )
                }
            }
            let (count, truth) = (sample.total("shop"), windows.reduce(0, +))
            guard let error = count.error else {
                Issue.record("500 of 1,000 windows are not a count: \(count)")
                continue
            }
            #expect(sample.sums.windows == 500 || Double(error) <= 0.0201 * Double(count.messages) + 1)
            if abs(count.messages - truth) <= error { within += 1 }
        }
        // 95 are expected. Fewer than 83 happen once in a hundred thousand times.
        #expect(within >= 83, "\(within), seed \(seed)")
    }

    @Test("A sample asks for as much as it needs, and for all of what is very rare")
    func need() {
        // A half of 100 in each window, give or take 5: 103 windows are enough.
        var common = TargetSample(of: 100_000)
        #expect(common.next(limit: 10_000) == 64)
        common.add(TargetSample.Sums(windows: 64, messages: 3_200, squares: 64 * 2_525, excluded: 0))
        #expect(!common.isPrecise && common.next(limit: 10_000) == 64)
        common.add(TargetSample.Sums(windows: 64, messages: 3_200, squares: 64 * 2_525, excluded: 0))
        #expect(common.isPrecise && common.next(limit: 10_000) == 0)
        // One in each window, give or take one: 9,954 windows, 9,053 because they are a tenth of all, seven tenths at first.
        var rare = TargetSample(of: 100_000)
        rare.add(TargetSample.Sums(windows: 64, messages: 64, squares: 128, excluded: 0))
        #expect((6_270...6_280).contains(rare.next(limit: 100_000)), "\(rare.next(limit: 100_000))")
        #expect(rare.next(limit: 1_000) == 936 && rare.next(limit: 64) == 0)
        var none = TargetSample(of: 100_000)
        none.add(TargetSample.Sums(windows: 64, messages: 0, squares: 0, excluded: 0))
        #expect(none.next(limit: 1_000_000) == 99_936)
        // A small application is read to its end, and then counted.
        var small = TargetSample(of: 3)
        #expect(small.next(limit: 10_000) == 3)
        small.add(TargetSample.Sums(windows: 3, messages: 7, squares: 21, excluded: 2))
        #expect(small.next(limit: 10_000) == 0)
        #expect(small.total("shop") == TargetCount(application: "shop", messages: 7, excluded: 2))
    }

    @Test("A sample without a match says how many there may be")
    func none() {
        var sample = TargetSample(of: 10_000)
        sample.add(TargetSample.Sums(windows: 64, messages: 0, squares: 0, excluded: 0))
        #expect(!sample.isPrecise)
        let count = sample.total("shop")
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
        // A step that is too short for it says so, twice alike, and the next ones end with the count.
        var (one, other) = (
            try await fixture.store.targetCounting(ofDelivery: id),
            try await fixture.store.targetCounting(ofDelivery: id)
        )
        try await one.advance(by: 20_000)
        try await other.advance(by: 20_000)
        let rough = try required(one.counts.first)
        #expect(!one.isPrecise && one.counts == other.counts && DeliveryLookAnswer.counts([rough]).isRough, "\(rough)")
        #expect(try abs(rough.messages - rare.messages) <= required(rough.error), "\(rough)")
        while !one.isPrecise { try await one.advance(by: 20_000) }
        #expect(one.counts == [rare])
    }
}
