import Testing

@testable import PushCore

/// Numbered message ids that cannot be counted out.
@Suite struct MessageNumbersTests {
    private static let key = (0..<16).map { UInt8($0 * 11 % 251) }

    @Test func everyNumberHasItsOwnIDInTheRange() throws {
        let numbers = try NumberPermutation.make(key: Self.key)
        var seen: Set<Int64> = []
        let samples = [
            1...50_000, Int64(1) << 30...(Int64(1) << 30) + 50_000, Int64(Int32.max) - 50_000...Int64(Int32.max),
        ]
        for number in samples.joined() {
            let id = numbers.id(of: number)
            #expect(MessageNumbers.range.contains(id) && numbers.number(of: id) == number)
            #expect(seen.insert(id).inserted, "an id twice")
        }
        // Backwards it is a permutation, too: every id is some number's.
        for id in [1, 2, 3, Int64(Int32.max) - 1, Int64(Int32.max)] {
            let number = try #require(numbers.number(of: id))
            #expect(MessageNumbers.range.contains(number) && numbers.id(of: number) == id)
        }
        for none in [Int64.min, -1, 0, Int64(Int32.max) + 1, .max] { #expect(numbers.number(of: none) == nil) }
    }

    @Test func neighboursAreFarApartAndDependOnTheKey() throws {
        let numbers = try MessageNumbers(base: 1_000, key: Self.key)
        let ids = (1...2_000).map { numbers.id(sequence: $0) }
        // Sequential ids differ by one; of 2,000 random pairs hardly any are nearer than 1,000.
        let near = zip(ids, ids.dropFirst()).count { abs($0 - $1) < 1_000 }
        #expect(near < 10)
        // They are spread over the range: each of eight parts of it has about an eighth.
        var counts = [Int](repeating: 0, count: 8)
        for id in ids { counts[Int(id >> 28)] += 1 }
        #expect(counts.allSatisfy { (150...350).contains($0) }, "\(counts)")
        let others = try MessageNumbers(base: 1_000, key: Self.key.map { $0 ^ 1 })
        #expect((1...2_000).count { numbers.id(sequence: $0) == others.id(sequence: $0) } < 3)
        #expect(throws: MessageIDError.self) { try MessageNumbers(base: 0, key: []) }
        // What is given out must never change: devices send it back for months.
        #expect(numbers.id(sequence: 1) == ids[0])
    }

    @Test func trackingResolvesThemWithTheKeyOnly() throws {
        let permutation = try NumberPermutation.make(key: Self.key)
        let id = TrackingID(message: .number(permutation.id(of: 4_711)), deliveries: [16], kind: .clicked)
        #expect(TrackingKeyring(numbers: permutation).resolve(id) == .number(4_711))
        #expect(TrackingKeyring().resolve(id) == .unknown)
        let guessed = TrackingID(message: .number(4_711), deliveries: [16], kind: .clicked)
        #expect(TrackingKeyring(numbers: permutation).resolve(guessed) != .number(4_711))
    }
}
