import Foundation
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct DrillResultTests {
    private func object(_ result: DrillResult) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(result.json.utf8)) as? [String: Any])
    }

    @Test func theLineHasEveryKey() throws {
        let result = DrillResult(
            drill: "kill-children",
            seed: 42,
            faults: 22,
            inFlight: 104,
            ambiguous: 9,
            duplicates: 8
        )
        let line = try object(result)
        #expect(
            Set(line.keys) == [
                "drill", "seed", "faults", "inFlight", "ambiguous", "lost", "duplicates", "unexplained",
                "recoverySeconds",
                "passed",
            ]
        )
        #expect(line["seed"] as? Int == 42)
        #expect(line["recoverySeconds"] is NSNull)
        #expect(line["passed"] as? Bool == true)
        #expect(DrillResult.columns.count == result.cells.count)
    }

    @Test func whatDidNotPassSaysWhy() throws {
        let seed = UInt64(Int64.max)
        let line = try object(DrillResult(drill: "x", seed: seed, recoverySeconds: 1.5, reasons: ["one", "two"]))
        #expect(line["passed"] as? Bool == false)
        #expect(line["reason"] as? String == "one; two")
        #expect(line["recoverySeconds"] as? Double == 1.5)
        #expect((line["seed"] as? NSNumber)?.int64Value == .max)
    }

    @Test func aSeedRepeatsItsNumbers() {
        var first = DrillRandom(seed: 7)
        var second = DrillRandom(seed: 7)
        var third = DrillRandom(seed: 8)
        let numbers = (0..<100).map { _ in first.next() }
        #expect(numbers == (0..<100).map { _ in second.next() })
        #expect(numbers != (0..<100).map { _ in third.next() })
        #expect(Set(numbers).count == numbers.count)
    }
}
