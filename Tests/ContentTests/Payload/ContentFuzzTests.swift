import TestSupport
import Testing

@testable import Content
@testable import PushCore

/// Valid contents with randomly changed bytes: no crash, no hang, and only complete JSON comes out.
@Suite struct ContentFuzzTests {
    @Test func mutatedContent() throws {
        let seed = TestRandom.seed(for: "mutated contents")
        var random = TestRandom(seed: seed)
        let seeds = [Contents.ios, Contents.android, Contents.legacy, Contents.binary].map { Array($0.utf8) }
        let pieces = [
            "{{", "}}", "{{#", "{{/", "{{^", "\\u0000", "\\ud800", "\"", "}", "{", "[", ",", ":", "null", "1e999", "\\",
            "-", "\u{301}",
        ]
        var rendered = 0
        for number in 0..<TestCases.count(5_000) {
            var json = seeds[random.below(seeds.count)]
            for _ in 0...random.below(3) {
                let index = random.below(json.count)
                switch random.below(4) {
                case 0: json[index] = UInt8(truncatingIfNeeded: random.next())
                case 1: json.remove(at: index)
                case 2: json.insert(contentsOf: pieces[random.below(pieces.count)].utf8, at: index)
                default: json.removeSubrange(index..<min(json.count, index + random.below(20)))
                }
            }
            guard let content = try? PushContent(json: json) else { continue }
            for format in PayloadFormat.allCases where content.platforms.contains(format.platform) {
                guard
                    let template = try? PayloadTemplate.compile(
                        content: content,
                        format: format,
                        deliveryID: 1,
                        messageIDFormat: .uuid
                    )
                else { continue }
                rendered += 1
                var body: [UInt8] = []
                template.render(
                    row: 0,
                    fields: template.fields.map { ByteColumn([Contents.values[$0.name]]) },
                    tokens: ByteColumn(["t"]),
                    messageID: Rendering.uuid,
                    sequence: 0,
                    into: &body
                )
                #expect(throws: Never.self, "seed \(seed), case \(number)") { try JSONParser.parse(body) }
            }
        }
        #expect(rendered > 0)
    }
}
