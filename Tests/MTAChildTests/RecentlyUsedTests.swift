import TestSupport
import Testing

@testable import MTAChild

@Suite struct RecentlyUsedTests {
    @Test func theLeastRecentlyUsedGoesFirst() {
        var kept = RecentlyUsed<Int64, String>(maxEntries: 3, maxWeight: 100)
        for id in 1...3 { kept.insert("v\(id)", Int64(id), weight: 1) }
        #expect(kept.use(1) == "v1")
        kept.insert("v4", 4, weight: 1)
        #expect(kept.use(2) == nil, "1 was used after it")
        #expect(kept.use(1) == "v1" && kept.use(3) == "v3" && kept.use(4) == "v4")
        #expect(kept.count == 3 && kept.weight == 3)
    }

    @Test func weightIsBounded() {
        var kept = RecentlyUsed<Int64, Int>(maxEntries: 100, maxWeight: 10)
        for id in 1...5 { kept.insert(id, Int64(id), weight: 2) }
        kept.insert(6, 6, weight: 5)
        #expect(kept.weight == 9 && kept.count == 3, "three of the old ones had to go")
        #expect(kept.use(3) == nil && kept.use(4) == 4 && kept.use(5) == 5)
        kept.insert(7, 7, weight: 11)
        #expect(kept.use(7) == nil && kept.count == 3, "what can never fit drives nothing out")
        kept.insert(60, 6, weight: 1)
        #expect(kept.use(6) == 60 && kept.weight == 5, "it took the place of the old one")
        kept.remove(6)
        kept.insert(8, 8, weight: 10)
        #expect(kept.use(8) == 8 && kept.count == 1, "it takes the place of all")
    }

    /// Compared with the simplest model: an array in the order of use.
    @Test func itDoesWhatAnArrayWould() {
        let seed = UInt64.random(in: .min ... .max)
        var random = TestRandom(seed: seed)
        var kept = RecentlyUsed<Int64, Int>(maxEntries: 8, maxWeight: 30)
        var model: [(id: Int64, value: Int, weight: Int)] = []
        for step in 0..<20_000 {
            let id = Int64.random(in: 0..<20, using: &random)
            let place = model.firstIndex { $0.id == id }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                #expect(kept.use(id) == place.map { model[$0].value }, "seed \(seed), step \(step)")
                if let place { model.append(model.remove(at: place)) }
            case 5..<9:
                let weight = Int.random(in: 1...9, using: &random)
                if let place { model.remove(at: place) }
                while model.count >= 8 || model.reduce(weight, { $0 + $1.weight }) > 30 { model.removeFirst() }
                model.append((id, step, weight))
                kept.insert(step, id, weight: weight)
            default:
                if let place { model.remove(at: place) }
                kept.remove(id)
            }
            #expect(
                kept.count == model.count && kept.weight == model.reduce(0) { $0 + $1.weight },
                "seed \(seed), step \(step)"
            )
        }
    }
}
