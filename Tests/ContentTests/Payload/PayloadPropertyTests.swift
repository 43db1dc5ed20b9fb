import Foundation
import TestSupport
import Testing

@testable import Content
@testable import PushCore

@Suite struct PayloadPropertyTests {
    /// For any field values, the body is JSON with exactly these values.
    @Test func anyValueComesThrough() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "payload rendering"))
        let content = """
            {"ios": {"body": "{{a}}|{{b|x}}", "variables": {"v": {"deep": ["{{b|x}}"]}}},
            "android": {"body": "{{a}}|{{b|x}}", "variables": {"v": {"deep": ["{{b|x}}"]}}}}
            """
        for _ in 0..<1_000 {
            let (a, b) = (text(&random), text(&random))
            // Invisible text is not a value.
            let isBlank = { (text: String) in text.unicodeScalars.allSatisfy { $0.properties.isWhitespace } }
            let (expectedA, expectedB) = (isBlank(a) ? "" : a, isBlank(b) ? "x" : b)
            let ios = try Rendering(content, .apns, values: ["a": a, "b": b]).object()
            let aps = try #require(ios["aps"] as? [String: Any])
            #expect((aps["alert"] as? [String: String])?["body"] == "\(expectedA)|\(expectedB)")
            #expect((ios["v"] as? [String: [String]])?["deep"] == [expectedB])
            let android = try Rendering(content, .fcmV1, values: ["a": a, "b": b]).object()
            let message = try #require(android["message"] as? [String: Any])
            let nested = try #require((message["data"] as? [String: String])?["v"])
            let inner = try JSONSerialization.jsonObject(with: Data(nested.utf8)) as? [String: [String]]
            #expect(inner?["deep"] == [expectedB])
        }
    }

    private func text(_ random: inout TestRandom) -> String {
        let scalars: [Unicode.Scalar] = [
            "\"", "\\", "\n", "\0", "{", "}", "|", "a", "é", "\u{2028}", "\u{301}", "😀", "\u{7F}",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<random.below(10) { text.append(scalars[random.below(scalars.count)]) }
        return String(text)
    }
}
