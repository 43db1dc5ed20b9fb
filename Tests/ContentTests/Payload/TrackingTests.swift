import Testing

@testable import Content
@testable import PushCore

@Suite struct TrackingTests {
    @Test func withoutTrackingThereAreNoIDs() throws {
        let content = #"{"tracking": false, "ios": {"body": "x"}, "android": {"body": "x", "variables": {"k": "v"}}}"#
        #expect(try Rendering(content, .apns).text == #"{"aps":{"alert":{"body":"x"}}}"#)
        #expect(
            try Rendering(content, .fcmLegacy).text == #"{"data":{"k":"v"},"notification":{"body":"x"}}"#
        )
        let bare = #"{"tracking": false, "android": {"kind": "data"}}"#
        #expect(try Rendering(bare, .fcmLegacy).text == "{}")
        #expect(try Rendering(bare, .fcmV1).text == #"{"message":{"token":"token:1"}}"#)
        #expect(try Rendering(bare, .fcmV1).size == 0)
    }

    @Test func bodiesAreEqualOnlyWithoutIDsAndFields() throws {
        func hasEqualBodies(_ tracking: Bool, _ body: String, _ format: PayloadFormat) throws -> Bool {
            let content = #"{"tracking": \#(tracking), "android": {"body": "\#(body)"}}"#
            return try Rendering(content, format).template.hasEqualBodies
        }
        #expect(try hasEqualBodies(false, "x", .fcmLegacy))
        #expect(try !hasEqualBodies(true, "x", .fcmLegacy))
        #expect(try !hasEqualBodies(false, "{{x}}", .fcmLegacy))
        #expect(try !hasEqualBodies(false, "{{#x}}y{{/x}}", .fcmLegacy))
        #expect(try !hasEqualBodies(false, "x", .fcmV1))
    }
}
