import Foundation
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Filters against a model of them", .timeLimit(.minutes(10)))
struct FilterModelTests {
    @Test("A random filter selects what the model selects, and is read as written")
    func random() async throws {
        let seed =
            ProcessInfo.processInfo.environment["PUSHMTA_TEST_SEED"].flatMap { UInt64($0) }
            ?? .random(in: .min ... .max)
        let rounds = ProcessInfo.processInfo.environment["PUSHMTA_FILTER_ROUNDS"].flatMap(Int.init) ?? 150
        print("filters against the model: PUSHMTA_TEST_SEED=\(seed)")
        var generator = FilterGenerator(seed: seed)
        let fixture = try await StoreFixture.make()
        try await fixture.makePeople()
        let subscribers = try await fixture.subscribe(people: 200, &generator)
        var chosen = 0
        for round in 0..<rounds {
            let filter = generator.filter(depth: 4)
            let text = FilterWriter.text(filter)
            #expect(try await fixture.store.parseFilter(text).get() == filter, "\(text)")
            let id = try await fixture.filteredDelivery(text, ["shop-ios", "shop-android"])
            try await fixture.prepare(partSize: 40, partsPerChunk: 2)
            let model = FilterModel(start: try await fixture.startOf(id))
            let expected = Set(
                subscribers.filter { model.holds(filter, $0.subscriber) && $0.exclusion == nil }.map(\.subscriber.id)
            )
            let found = try await fixture.targets(id)
            guard found == expected else {
                Issue.record(
                    "round \(round): \(text)\nnot chosen: \(expected.subtracting(found)), wrongly: \(found.subtracting(expected))"
                )
                return
            }
            let excluded = subscribers.filter { model.holds(filter, $0.subscriber) && $0.exclusion != nil }.count
            #expect(try await fixture.store.deliveryProgress(id).excluded == Int64(excluded), "\(text)")
            #expect(try await fixture.assertEquation(id))
            chosen += found.count
        }
        #expect(chosen > 0 && chosen < rounds * subscribers.count, "filters choose some and leave some")
    }
}
