import PushCore
import Testing

@Suite("Fields of filters as they are written")
struct TargetFieldTests {
    @Test(
        arguments: [
            (.column(.locale), "locale"), (.recipient("city"), "recipient.city"),
            (.parameter("tier"), "parameters.tier"),
            (.device("größe"), "device.größe"), (.mapping("first name"), #"mapping."first name""#),
            (.recipient(#"a "b""#), #"recipient."a ""b""""#), (.recipient(""), #"recipient."""#),
            (.recipient("\"\u{301}"), "recipient.\"\"\"\u{301}\""), (.device("a.b"), #"device."a.b""#),
            (.mapping("1st"), #"mapping."1st""#), (.device("a\u{200B}😀"), "device.a\u{200B}😀"),
            (.device("“a”"), #"device."“a”""#), (.device("a\u{A0}b"), "device.\"a\u{A0}b\""),
        ] as [(TargetField, String)]
    )
    func written(_ field: TargetField, _ text: String) {
        #expect(field.description == text)
        #expect(TargetField(text) == field)
    }

    @Test func aParameterHasTwoNames() { #expect(TargetField("parameter.tier") == .parameter("tier")) }

    @Test(
        arguments: [
            "", "nothing", "recipient", "recipient.", "person.city", "recipient.a b", #"recipient."a"#,
            #"recipient."a"b""#,
            #"recipient.""#, "locale.x", " locale", "recipient.a or locale", "recipient.1", "'locale'",
        ]
    )
    func none(_ text: String) { #expect(TargetField(text) == nil) }

    @Test("The form of a field is another question than whether there is one")
    func form() {
        for text in ["locale", "lokale", "person.city", "größe", #"recipient."first name""#, "recipient.not", "_.a1"] {
            #expect(TargetField.isWritten(text), "\(text)")
        }
        for text in ["", ".", "recipient.", ".city", "recipient..city", "recipient.city.", "a b", "1st", #""locale""#] {
            #expect(!TargetField.isWritten(text), "\(text)")
        }
    }
}
