import TestSupport
import Testing

@testable import PushCore

@Suite struct AdditionalParametersTests {
    @Test(arguments: [
        ("", [:]), ("  \n", [:]),
        ("<additionalParams></additionalParams>", [:]), ("<additionalParameters/>", [:]),
        (#"<additionalParams><param name="k" value="v" /></additionalParams>"#, ["k": "v"]),
        (#"<additionalParameters><param name="k" value="v"/></additionalParameters>"#, ["k": "v"]),
        (#"<additionalParameters><param name="" value=""/></additionalParameters>"#, ["": ""]),
        (
            #"<additionalParams><param name="g" value="&#x27;h&gt;e&amp;l&quot;l&lt;o&#x27;" /></additionalParams>"#,
            ["g": #"'h>e&l"l<o'"#]
        ),
        (
            #"<additionalParameters><param name="g" value="&#39;h&gt;e&amp;l&quot;l&lt;o&#39;&apos;"/></additionalParameters>"#,
            ["g": #"'h>e&l"l<o''"#]
        ),
        ("<additionalParams>\n <param value='a\"b' name='x'></param>\n</additionalParams>\n", ["x": "a\"b"]),
        (#"<additionalParams><param name="e" value="&#x1F600;&#8364;é>'"/></additionalParams>"#, ["e": "😀€é>'"]),
        (
            #"<additionalParams><param name="a" value="1"/><param name="a" value="2"/></additionalParams>"#,
            ["a": "2"]
        ),
        ("<additionalParams><param name=\"a\" value=\"b\r\nc\td\"/></additionalParams>", ["a": "b\r\nc\td"]),
    ])
    func whatSDKsWriteIsRead(_ text: String, _ expected: [String: String]) throws {
        #expect(try AdditionalParameters.parse(text) == expected)
    }

    /// XML has no control characters; a device that has one in a name is no reason to lose it.
    @Test(arguments: ["\u{1}", "\u{B}", "\u{1F}", "\u{7F}", "\u{FFFE}", "\u{FFFF}"])
    func controlCharactersAreTakenInBothForms(_ character: Unicode.Scalar) throws {
        for form in ["\(character)", "&#\(character.value);", "&#x\(String(character.value, radix: 16));"] {
            let text = #"<additionalParams><param name="a" value="b\#(form)c"/></additionalParams>"#
            #expect(try AdditionalParameters.parse(text)["a"] == "b\(character)c", "\(form.count)")
        }
    }

    @Test(arguments: [
        ("x", AdditionalParametersError.Code.root), ("<additional/>", .root), ("<params></params>", .root),
        ("<additionalParamsX/>", .root), ("<?xml version=\"1.0\"?><additionalParams/>", .root),
        ("<!DOCTYPE x><additionalParams/>", .root), ("<additionalParams", .root),
        ("<additionalParams a=\"b\"/>", .root),
        ("<additionalParams>", .element), ("<additionalParams></additionalParameters>", .element),
        ("<additionalParams></additionalParams>x", .element), ("<additionalParams>text</additionalParams>", .element),
        ("<additionalParams><!-- c --></additionalParams>", .element),
        ("<additionalParams><![CDATA[x]]></additionalParams>", .element),
        ("<additionalParams><other/></additionalParams>", .element),
        (#"<additionalParams><param name="a" value="b">x</param></additionalParams>"#, .element),
        ("<additionalParams><param/></additionalParams>", .attribute),
        (#"<additionalParams><param name="a"/></additionalParams>"#, .attribute),
        (#"<additionalParams><param name="a" name="b" value="c"/></additionalParams>"#, .attribute),
        (#"<additionalParams><param name="a" value="c" x="y"/></additionalParams>"#, .attribute),
        (#"<additionalParams><param name="a"value="c"/></additionalParams>"#, .attribute),
        (#"<additionalParams><param name=a value="c"/></additionalParams>"#, .attribute),
        (#"<additionalParams><param name="a" value="<"/></additionalParams>"#, .attribute),
        (#"<additionalParams><param name="a" value="c"#, .attribute),
        (#"<additionalParams><param name="a" value="&"/></additionalParams>"#, .reference),
        (#"<additionalParams><param name="a" value="&nbsp;"/></additionalParams>"#, .reference),
        (#"<additionalParams><param name="a" value="&#0;"/></additionalParams>"#, .reference),
        (#"<additionalParams><param name="a" value="&#xD800;"/></additionalParams>"#, .reference),
        (#"<additionalParams><param name="a" value="&#x110000;"/></additionalParams>"#, .reference),
        (#"<additionalParams><param name="a" value="&#99999999999999999999;"/></additionalParams>"#, .reference),
        (#"<additionalParams><param name="a" value="&#x;"/></additionalParams>"#, .reference),
        (#"<additionalParams><param name="a" value="&#39"/></additionalParams>"#, .reference),
    ])
    func everythingElseIsAnError(_ text: String, _ code: AdditionalParametersError.Code) {
        #expect { try AdditionalParameters.parse(text) } throws: { ($0 as? AdditionalParametersError)?.code == code }
    }

    @Test func thereIsALimit() throws {
        func document(_ count: Int) -> String {
            "<additionalParams>" + (0..<count).map { #"<param name="p\#($0)" value="v"/>"# }.joined()
                + "</additionalParams>"
        }
        #expect(try AdditionalParameters.parse(document(AdditionalParameters.maxCount)).count == 200)
        #expect { try AdditionalParameters.parse(document(AdditionalParameters.maxCount + 1)) } throws: {
            ($0 as? AdditionalParametersError)?.code == .tooMany
        }
    }

    /// A document with one change somewhere crashes nothing, and is read as something only if it is well formed.
    @Test func mutatedDocumentsCrashNothing() {
        var random = TestRandom(seed: TestRandom.seed(for: "mutatedDocumentsCrashNothing"))
        let whole = Array(
            #"<additionalParams><param name="a&#x27;" value="&amp;é" /><param name='b' value=""></param></additionalParams>"#
                .utf8
        )
        let pieces = ["<", ">", "&", ";", "\"", "'", "/", "=", " ", "&#", "x", "é", "param", "</"].map {
            Array($0.utf8)
        }
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...random.below(3) {
                let at = random.below(bytes.count + 1)
                if random.oneIn(2), at < bytes.count {
                    bytes.removeSubrange(at..<min(bytes.count, at + 1 + random.below(5)))
                } else {
                    bytes.insert(contentsOf: pieces[random.below(pieces.count)], at: at)
                }
                if bytes.isEmpty { break }
            }
            _ = try? AdditionalParameters.parse(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// What an SDK's serializer makes of any values comes back.
    @Test func serialisedValuesComeBack() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "serialisedValuesComeBack"))
        let alphabet: [Character] = ["a", "&", "<", ">", "\"", "'", "é", "网", "😀", ";", "#", " ", "%", "/"]
        func text() -> String { String((0..<random.below(12)).map { _ in alphabet[random.below(alphabet.count)] }) }
        for _ in 0..<2_000 {
            var values: [String: String] = [:]
            for _ in 0..<random.below(5) { values[text()] = text() }
            let isIOS = random.oneIn(2)
            let params = values.sorted { $0.key < $1.key }.map { name, value in
                "<param name=\"\(escaped(name, isIOS))\" value=\"\(escaped(value, isIOS))\"\(isIOS ? " " : "")/>"
            }.joined()
            let root = isIOS ? "additionalParams" : "additionalParameters"
            #expect(try AdditionalParameters.parse("<\(root)>\(params)</\(root)>") == values)
        }
    }

    private func escaped(_ text: String, _ isIOS: Bool) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: isIOS ? "&#x27;" : "&#39;")
    }
}
