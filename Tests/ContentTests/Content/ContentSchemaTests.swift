import Foundation
import TestSupport
import Testing

@testable import Content
@testable import PushCore

@Suite struct ContentSchemaTests {
    private let checker: SchemaChecker

    init() throws {
        checker = SchemaChecker(root: try JSONParser.parse(Array(ContentSchema.json.utf8)))
    }

    /// The shipped file matches the tables of keys.
    @Test func fileIsUpToDate() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = try String(contentsOf: root.appendingPathComponent("Config/content.schema.json"), encoding: .utf8)
        let isSame = file == ContentSchema.json
        #expect(isSame, "write ContentSchema.json into Config/content.schema.json")
    }

    @Test func completeContentsAreValid() throws {
        for json in [Contents.ios, Contents.android, Contents.legacy, Contents.binary] {
            #expect(try checker.accepts(try JSONParser.parse(Array(json.utf8))))
        }
        for (template, _) in RichTemplateTests.iOS {
            #expect(
                try checker.accepts(try JSONParser.parse(Array(#"{"ios": {"template": \#(template)}}"#.utf8))),
                "\(template)"
            )
        }
        for (template, _) in RichTemplateTests.android {
            #expect(
                try checker.accepts(try JSONParser.parse(Array(#"{"android": {"template": \#(template)}}"#.utf8))),
                "\(template)"
            )
        }
    }

    /// The schema accepts every content that the checks accept.
    @Test func schemaIsNeverStricterThanTheChecks() throws {
        let seed = TestRandom.seed(for: "schema")
        var generator = ContentGenerator(random: TestRandom(seed: seed))
        var refused = 0
        for _ in 0..<TestCases.count(1_000) {
            let value = generator.content()
            let json = JSONText.compact(value)
            let isRight = PushContent.validate(json: json).isEmpty
            if try !checker.accepts(value) {
                refused += 1
                #expect(!isRight, "seed \(seed): \(json)")
            }
        }
        #expect(refused > 0)
    }

    /// Each key with a value of every JSON type: schema and checks find the same faults.
    @Test(arguments: Platform.allCases) func everyKeyIsInIt(platform: Platform) throws {
        let values: [JSONValue] = [
            .null, .boolean(true), .number("5"), .number("-5"), .number("0.5"), .string("x"), .string("#12345g"),
            .string("#123456"), .array([]), .array([.string("x")]), .array([.number("1")]), .array([.boolean(true)]),
            .object([]), .object([JSONEntry(name: "unknown", value: .string("x"))]),
        ]
        for key in ContentKey.keys(platform) {
            for value in values {
                let content = JSONValue.object([
                    JSONEntry(name: platform.rawValue, value: .object([JSONEntry(name: key.name, value: value)]))
                ])
                // The schema does not cover combinations of keys, nor whether a text has the form of a number or a
                // time.
                let path = "\(platform.rawValue).\(key.name)"
                let problems = PushContent.validate(json: JSONText.compact(content)).filter {
                    ($0.key == path || $0.key.hasPrefix(path + ".")) && $0.cause.hasPrefix("it is")
                        || $0.cause.contains("allowed")
                        || $0.cause.contains("range") || $0.cause.contains("unknown") || $0.cause.contains("elements")
                        || $0.cause.contains("color") || $0.cause.contains("label")
                        || $0.cause.contains("package") || $0.cause.contains("time")
                }
                let isText = if case .string = value { true } else { false }
                let isAccepted = try checker.accepts(content)
                if !isAccepted { #expect(!problems.isEmpty, "\(path): \(value)") }
                if isAccepted, !isText { #expect(problems.isEmpty, "\(path): \(value) \(problems)") }
            }
        }
    }
}
