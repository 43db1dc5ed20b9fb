import Foundation
import PushCore
import Store
import TestSupport
import Testing

@Suite("Filters of random text")
struct FilterFuzzTests {
    /// The number of cases, or the value of `PUSHMTA_FUZZ_CASES`.
    private static var cases: Int {
        ProcessInfo.processInfo.environment["PUSHMTA_FUZZ_CASES"].flatMap(Int.init) ?? 20_000
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

    /// Texts that one statement reads.
    private static let batch = 1_000

    @Test("No text aborts the statement that reads it; a refused text has a position inside it")
    func garbage() async throws {
        var random = TestRandom(seed: TestRandom.seed(for: "filter garbage"))
        let store = try await Store(configuration: TestDatabase.create().configuration())
        var accepted = 0
        for _ in 0..<max(1, Self.cases / Self.batch) {
            var texts: [String] = []
            for _ in 0..<Self.batch {
                texts.append(random.oneIn(4) ? Self.scalars(&random) : Self.sentence(&random))
            }
            for (text, parsed) in zip(texts, try await store.parseFilters(texts)) {
                switch parsed {
                case .success: accepted += 1
                case .failure(let error):
                    if !Self.isTold(error, of: text) { Issue.record("\(text.debugDescription): \(error)") }
                }
            }
        }
        #expect(accepted > 0, "some of it is a filter")
        await store.close()
    }

    /// Whether an error has a position inside the text, and a message.
    private static func isTold(_ error: TargetFilterError, of text: String) -> Bool {
        (1...text.unicodeScalars.count + 1).contains(error.position ?? 1) && !error.cause.isEmpty
            && !error.remedy.isEmpty
    }

    @Test("A filter with one change is read or refused, and stays within the limits")
    func mutations() async throws {
        var random = TestRandom(seed: TestRandom.seed(for: "filter mutations"))
        let whole = Array(
            "recipient.city in ('Lyon', 'Oslo') and not (parameters.tier = 'gold' or registered_at < now - 90 days)"
                .unicodeScalars
        )
        let store = try await Store(configuration: TestDatabase.create().configuration())
        for _ in 0..<max(1, Self.cases / 2 / Self.batch) {
            var texts: [String] = []
            for _ in 0..<Self.batch {
                var scalars = whole
                for _ in 0...random.below(3) { Self.change(&scalars, &random) }
                texts.append(String(String.UnicodeScalarView(scalars)))
            }
            for (text, parsed) in zip(texts, try await store.parseFilters(texts)) {
                guard case .failure(let error) = parsed, !Self.isTold(error, of: text) else { continue }
                Issue.record("\(text.debugDescription): \(error)")
            }
        }
        await store.close()
    }

    /// Words in random order are hardly ever a filter; three words in a row sometimes are.
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
