import Testing

@testable import HTTP2

@Suite struct StreamTableTests {
    @Test func findsWhatIsOpenAndNothingElse() throws {
        let table = StreamTable(empty: 0, capacity: 8)
        table.insert(1, 10)
        table.insert(3, 30)
        #expect(table.find(1)?.pointee.value == 10)
        #expect(table.find(3)?.pointee.value == 30)
        #expect(table.find(0) == nil)
        #expect(table.find(5) == nil)
        #expect(table.find(17) == nil)
        #expect(table.remove(try #require(table.find(1))) == 10)
        #expect(table.find(1) == nil)
        #expect(table.count == 1)
    }

    @Test func growsWithTheNumberOfOpenStreams() {
        let table = StreamTable(empty: 0, capacity: 8)
        for id in stride(from: 1, to: 2_001, by: 2) as StrideTo<Int32> { table.insert(id, Int(id)) }
        #expect(table.count == 1_000)
        for id in stride(from: 1, to: 2_001, by: 2) as StrideTo<Int32> {
            #expect(table.find(id)?.pointee.value == Int(id))
        }
    }

    /// One answer that never comes must not cost memory in proportion to all the requests that follow.
    @Test func aStreamLeftBehindDoesNotMakeItGrow() throws {
        let table = StreamTable(empty: 0, capacity: 64)
        table.insert(1, 1)
        for id in stride(from: 3, to: 1_000_001, by: 2) as StrideTo<Int32> {
            table.insert(id, Int(id))
            #expect(table.remove(try #require(table.find(id))) == Int(id))
        }
        #expect(table.capacity == 64)
        #expect(table.find(1)?.pointee.value == 1)
        #expect(table.openStreams() == [1])
        #expect(table.remove(try #require(table.find(1))) == 1)
        #expect(table.count == 0)
        #expect(table.openStreams().isEmpty)
    }

    /// On a server, the peer chooses the ids.
    @Test func idsFarApartDoNotMakeItGrow() {
        let table = StreamTable(empty: 0, capacity: 64)
        let ids = (0..<20).map { Int32(1) + Int32(128) << Int32($0) }
        for id in ids { table.insert(id, Int(id)) }
        #expect(table.capacity <= 128)
        for id in ids { #expect(table.find(id)?.pointee.value == Int(id)) }
        #expect(Set(table.openStreams()) == Set(ids))
    }

    @Test func walksFromTheOldestOn() throws {
        let table = StreamTable(empty: 0, capacity: 16)
        for id in stride(from: 1, to: 21, by: 2) as StrideTo<Int32> { table.insert(id, Int(id)) }
        for id in [1, 3, 7] as [Int32] { _ = table.remove(try #require(table.find(id))) }
        var seen: [Int32] = []
        table.forEachOldest(below: 21) { id, _ in
            guard id < 13 else { return false }
            seen.append(id)
            return true
        }
        #expect(seen == [5, 9, 11])
        #expect(table.oldest == 5)
    }

    @Test func walksOverThoseLeftBehindAsWell() throws {
        let table = StreamTable(empty: 0, capacity: 8)
        table.insert(1, 1)
        table.insert(3, 3)
        for id in stride(from: 5, to: 1_001, by: 2) as StrideTo<Int32> {
            table.insert(id, Int(id))
            if id < 995 { _ = table.remove(try #require(table.find(id))) }
        }
        var seen: Set<Int32> = []
        table.forEachOldest(below: 1_001) { id, _ in seen.insert(id).inserted }
        #expect(seen == [1, 3, 995, 997, 999])
    }

    @Test func agreesWithADictionary() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let table = StreamTable(empty: -1, capacity: 16)
        var model: [Int32: Int] = [:]
        var next: Int32 = 1
        for step in 0..<20_000 {
            if Int.random(in: 0..<100, using: &random) < 52 {
                table.insert(next, step)
                model[next] = step
                next += 2
            } else if let id = model.keys.randomElement(using: &random) {
                let slot = try #require(table.find(id), "seed \(seed)")
                try #require(table.remove(slot) == model.removeValue(forKey: id), "seed \(seed)")
            }
            try #require(table.count == model.count, "seed \(seed)")
        }
        #expect(Set(table.openStreams()) == Set(model.keys), "seed \(seed)")
        var walked: [Int32: Int] = [:]
        table.forEachOldest(below: next) { id, value in
            walked[id] = value
            return true
        }
        #expect(walked == model, "seed \(seed)")
    }

    @Test func letsGoOfWhatItHeld() throws {
        final class Token {}
        let table = StreamTable<Token?>(empty: nil, capacity: 8)
        weak var removed: Token?
        weak var left: Token?
        do {
            let token = Token()
            removed = token
            table.insert(1, token)
            for id in [17, 33] as [Int32] { table.insert(id, nil) }
            let other = Token()
            left = other
            table.insert(49, other)
        }
        #expect(removed != nil)
        _ = table.remove(try #require(table.find(1)))
        #expect(removed == nil)
        #expect(left != nil)
    }
}
