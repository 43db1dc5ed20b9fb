import Foundation
import PushCore
import TestSupport
import Testing

@Suite("Filters of random text")
struct FilterFuzzTests {
    /// So many cases, or as many as `PUSHMTA_FUZZ_CASES` says.
    private static var cases: Int {
        ProcessInfo.processInfo.environment["PUSHMTA_FUZZ_CASES"].flatMap(Int.init) ?? 100_000
    }

    private static let words = [
        "recipient", "recipient.city", "parameters.tier", "mapping.\"a b\"", "locale", "registered_at", "enabled",
        "soft_errors",
        "and", "or", "not", "in", "is", "null", "contains", "starts", "with", "true", "false", "now", "date", "days",
        "weeks",
        "=", "!=", "<", "<=", ">", ">=", "<>", "(", ")", ",", ".", "+", "-", "'Lyon'", "'it''s'", "''", "'2026-01-31'",
        "7", "-1.5",
        "9999999999999999999999", "\"", "'", "!", ";", "--", "/*", "\\", "$1", "é", "日本", "\u{0}", "\u{301}", "🙂", "\n",
        "x",
    ]

    @Test("No text crashes or hangs the parser; what it refuses it refuses with a place inside the text")
    func garbage() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "filter garbage"))
        var accepted = 0
        for _ in 0..<Self.cases {
            let text = random.oneIn(4) ? Self.scalars(&random) : Self.sentence(&random)
            do {
                _ = try TargetFilter(parsing: text)
                accepted += 1
            } catch {
                guard let position = error.position else { continue }
                guard (1...text.unicodeScalars.count + 1).contains(position), !error.cause.isEmpty,
                    !error.remedy.isEmpty
                else {
                    Issue.record("\(text.debugDescription): \(error)")
                    return
                }
            }
        }
        #expect(accepted > 0, "some of it is a filter")
    }

    @Test("A filter with one thing changed in it is read or refused, and stays within its limits")
    func mutations() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "filter mutations"))
        let whole = Array(
            "recipient.city in ('Lyon', 'Oslo') and not (parameters.tier = 'gold' or registered_at < now - 90 days)"
                .unicodeScalars
        )
        for _ in 0..<Self.cases / 2 {
            var scalars = whole
            for _ in 0...random.below(3) { Self.change(&scalars, &random) }
            let text = String(String.UnicodeScalarView(scalars))
            do { _ = try TargetFilter(parsing: text) } catch {
                if error.description.isEmpty { Issue.record("\(text.debugDescription)") }
            }
        }
    }

    /// Words in any order are hardly ever a filter; three words in a row sometimes are.
    private static let comparisons = [
        ["recipient.city", "locale", "soft_errors"], ["=", "!=", "<", ">="], ["'Lyon'", "7", "-1.5", "true"],
    ]

    private static func sentence(_ random: inout TestRandom) -> String {
        if random.oneIn(100) { return comparisons.map { $0[random.below($0.count)] }.joined(separator: " ") }
        return (0..<random.below(30)).map { _ in words[random.below(words.count)] }
            .joined(separator: random.oneIn(3) ? "" : " ")
    }

    private static func scalars(_ random: inout TestRandom) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<random.below(60) {
            let limit = random.oneIn(2) ? 0x80 : 0x11_0000
            if let scalar = Unicode.Scalar(UInt32(random.below(limit))) { text.append(scalar) }
        }
        return String(text)
    }

    private static func change(_ scalars: inout [Unicode.Scalar], _ random: inout TestRandom) {
        let place = random.below(scalars.count)
        switch random.below(4) {
        case 0: scalars.remove(at: place)
        case 1: scalars.insert(Unicode.Scalar(UInt8(truncatingIfNeeded: random.below(128))), at: place)
        case 2: scalars[place] = scalars[random.below(scalars.count)]
        default: scalars.insert(contentsOf: scalars[place...].prefix(random.below(20)), at: random.below(scalars.count))
        }
        if scalars.isEmpty { scalars = ["x"] }
    }
}
