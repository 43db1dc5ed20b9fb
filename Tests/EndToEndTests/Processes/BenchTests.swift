import Testing

/// `pushmta bench`, far below what it is made for.
@Suite struct BenchTests {
    @Test func readersHoldTheirSnapshotsWhileADeliveryGoes() async throws {
        let bench = ["bench", "delivery", "--messages", "2000", "--readers", "2", "--json"]
        let ending = try await Program.pushmta().run(bench)
        #expect(ending.status == 0, "\(ending.errors)")
        let line = try ending.json()
        #expect(line["sent"] as? Int == 2_000 && line["complete"] as? Bool == true)
        #expect(line["readers"] as? Int == 2)
        #expect((line["reads"] as? Int).map { $0 >= 2 } == true)
    }

    @Test func tooManyReadersAreRefused() async throws {
        #expect(try await Program.pushmta().run(["bench", "delivery", "--readers", "33"]).status == 64)
    }
}
