import Testing

@testable import Content

/// Tags of other template languages are reported, with ours as the remedy.
@Suite struct ForeignSyntaxTests {
    private func warnings(_ body: String) throws -> [ContentProblem] {
        let text = JSONTextForTests.quoted(body)
        return try PushContent(json: #"{"ios": {"body": \#(text), "variables": {"x": ["fine"]}}}"#).warnings
    }

    @Test(arguments: [
        ("Hello <%= recipient.firstName %>", "{{firstName}}"), ("<% if (recipient.age > 18) { %>a<% } %>", "{{#name}}"),
        ("Hello {{n | upcase}}", "there are no filters"), (#"Hello {{n|default: "you"}}"#, "{{n|you}}"),
        ("{{n|date: '%d'}}", "there are no filters"), ("{% if n %}x{% endif %}", "{{#name}}"),
        ("Hi ${firstName}", "{{firstName}}"),
        ("Hi %%FirstName%%", "{{FirstName}}"), ("Hi *|FNAME|*", "{{FNAME}}"), ("{{#if vip}}x{{/if vip}}", "{{#vip}}"),
        ("{{else}}", "{{^name}}"), ("Hi {{recipient.firstName}}", "{{firstName}}"),
        ("Hi <%= recipient.firstName.trim() %>", "{{#name}}"),
    ])
    func foreignTagsAreToldOf(_ body: String, _ ours: String) throws {
        let found = try warnings(body)
        let first = try #require(found.first, "\(body)")
        #expect(first.key == "ios.body")
        #expect(found.contains { $0.remedy.contains(ours) }, "\(found)")
    }

    @Test(arguments: [
        "Hello {{firstName}}", "{{n|you}} {{#vip}}{{name}}{{/vip}} {{order.id}}", "100 %% of 50 %%", "Only $5 {today}",
        "a < b % c > d",
        "50%% and 20%%", "{{name|friend}}", "*|", "<%", "Price: ${ ", "{{a|dated}}",
    ])
    func textsAreLeftAlone(_ body: String) throws {
        #expect(try warnings(body).isEmpty)
    }

    @Test func eachPlaceIsLookedAtAndNoMoreThanAnybodyReads() throws {
        let texts = (0..<50).map { #""v\#($0)": {"deep": ["<%= a\#($0) %>"]}"# }.joined(separator: ", ")
        let content = try PushContent(
            json:
                #"{"android": {"body": "x", "variables": {\#(texts)}}, "locales": {"fr": {"android": {"body": "${b}"}}}}"#
        )
        #expect(content.warnings.count == 20)
        #expect(content.warnings.first?.key == "android.variables.v0.deep")
    }
}

private enum JSONTextForTests {
    static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
