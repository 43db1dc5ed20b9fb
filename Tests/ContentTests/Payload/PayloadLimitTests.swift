import Testing

@testable import Content
@testable import PushCore

@Suite struct PayloadLimitTests {
    @Test func contentThatNeverFitsIsAnError() throws {
        let long = String(repeating: "x", count: 4_100)
        for platform in Platform.allCases {
            let content = try PushContent(json: #"{"\#(platform.rawValue)": {"body": "\#(long)"}}"#)
            let error = #expect(throws: ContentError.self) {
                try PayloadTemplate.compile(
                    content: content,
                    format: platform == .ios ? .apns : .fcmV1,
                    deliveryID: 1,
                    messageIDFormat: .uuid
                )
            }
            #expect(error?.problems.first?.key == platform.rawValue)
            #expect(error?.description.contains("limit is 4096") == true)
        }
    }

    @Test func oneLongValueIsSeenBySize() throws {
        let content = #"{"ios": {"body": "{{a}}"}}"#
        let short = try Rendering(content, .apns)
        let exact = try Rendering(
            content,
            .apns,
            values: ["a": String(repeating: "é", count: (4_096 - short.size) / 2)]
        )
        #expect(exact.size <= exact.template.payloadLimit)
        let long = try Rendering(content, .apns, values: ["a": String(repeating: "\"", count: 3_000)])
        #expect(long.size > long.template.payloadLimit)
        #expect(short.size == short.template.minimumPayloadSize)
        let reason = PayloadLimits.tooLongReason(limit: 4_096)
        #expect(reason.hasPrefix("PayloadTooLarge: the payload has more than the 4096 bytes that the gateway takes"))
    }

    @Test func missingPlatformIsAnError() throws {
        let content = try PushContent(json: #"{"android": {"kind": "data"}}"#)
        #expect(content.platforms == [.android])
        let error = #expect(throws: ContentError.self) {
            try PayloadTemplate.compile(content: content, format: .apns, deliveryID: 1, messageIDFormat: .uuid)
        }
        #expect(error?.problems.first?.key == "ios")
    }
}
