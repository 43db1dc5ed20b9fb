import Foundation
import TestSupport
import Testing

@testable import Content
@testable import PushCore

/// Random contents and field values: every accepted content gives JSON that an independent parser accepts, with the
/// reported size.
///
/// The default number of cases takes a few seconds; set `PUSHMTA_TEST_CASES=1000000` for a longer run.
@Suite struct ContentPropertyTests {
    private static let contents = TestCases.count(1_000)
    private static let texts = TestCases.count(25_000)

    @Test func acceptedContentMakesJSON() throws {
        let seed = TestRandom.seed(for: "random contents")
        var generator = ContentGenerator(random: TestRandom(seed: seed))
        var accepted = 0
        var rendered = 0
        for number in 0..<Self.contents {
            let json = JSONText.compact(generator.content())
            guard let content = try? PushContent(json: json) else {
                #expect(!PushContent.validate(json: json).isEmpty)
                continue
            }
            accepted += 1
            for format in PayloadFormat.allCases where content.platforms.contains(format.platform) {
                guard
                    let template = try? LocalisedTemplate.compile(
                        content: content,
                        format: format,
                        deliveryID: 0x123,
                        messageIDFormat: number.isMultiple(of: 2) ? .uuid : .int32
                    )
                else { continue }
                rendered += 1
                try check(template, format, &generator, "seed \(seed), case \(number): \(json)")
            }
        }
        // Most generated contents must be valid, or this test would find nothing.
        #expect(accepted * 2 > Self.contents && rendered > accepted)
    }

    private func check(
        _ localised: LocalisedTemplate,
        _ format: PayloadFormat,
        _ generator: inout ContentGenerator,
        _ place: String
    ) throws {
        let columns = localised.fields.map { _ in
            var column = ByteColumn()
            if let value = generator.fieldValue() { column.append(value) } else { column.appendNull() }
            return column
        }
        for template in localised.templates {
            var body: [UInt8] = []
            let size = template.render(
                row: 0,
                fields: columns,
                tokens: ByteColumn(["to\"ken\\"]),
                messageID: Rendering.uuid,
                sequence: 7,
                into: &body
            )
            _ = template.missingField(row: 0, fields: columns)
            #expect(throws: Never.self, "\(place)") { try JSONSerialization.jsonObject(with: Data(body)) }
            let value = try JSONParser.parse(body)
            #expect(PayloadSizes.duplicates(value).isEmpty, "\(place)")
            guard size < PayloadTemplate.hopelessSize else { continue }
            #expect(size == PayloadSizes.counted(value, body, format), "\(place)")
            #expect(template.hasPersonalisedCollapseID || template.collapseSegments.isEmpty)
        }
    }

    /// Compares the compiler of texts with a simple evaluator of Mustache's rules.
    @Test func textsSayWhatTheirTagsMean() throws {
        let seed = TestRandom.seed(for: "random texts")
        var generator = ContentGenerator(random: TestRandom(seed: seed))
        var compiled = 0
        for number in 0..<Self.texts {
            // Lines with only a tag are removed, which the evaluator does not do.
            let text = generator.text().filter { !$0.isNewline }
            guard let tokens = try? TextToken.tokens(of: text), (try? TextTemplate(text)) != nil else { continue }
            compiled += 1
            var values: [String: [UInt8]] = [:]
            for name in ["a", "b", "list", "Ünï", "x.y", "vip"] { values[name] = generator.fieldValue() }
            let fields = values.mapValues { String(decoding: $0, as: UTF8.self).filter { !$0.isNewline } }
            let expected = try MustacheReference(tokens, fields).text
            let section = ContentSection(platform: .ios, entries: [JSONEntry(name: "body", value: .string("x" + text))])
            let variant = ContentVariant(locale: "", section: section)
            let template = try PayloadTemplate(
                variant,
                content: PushContent(variants: [variant], missing: .default, hasTracking: false),
                format: .apns,
                ids: MessageIDSource(deliveryID: 1, format: .uuid, numbers: nil),
                fields: []
            )
            var body: [UInt8] = []
            template.render(
                row: 0,
                fields: template.fields.map { ByteColumn([fields[$0.name]]) },
                tokens: ByteColumn(["t"]),
                messageID: Rendering.uuid,
                sequence: 0,
                into: &body
            )
            let wanted = #"{"aps":{"alert":{"body":\#(JSONText.compact(.string("x" + expected)))}}}"#
            #expect(body == Array(wanted.utf8), "seed \(seed), case \(number): \(text) \(fields)")
        }
        #expect(compiled * 10 > Self.texts * 9)
    }
}
