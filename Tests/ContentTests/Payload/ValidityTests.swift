import Foundation
import Testing

@testable import Content
@testable import PushCore

/// How long FCM keeps a message if the content does not set it.
@Suite struct ValidityTests {
    private func body(_ content: String, _ format: PayloadFormat, seconds: Int64?) throws -> String {
        let template = try PayloadTemplate.compile(
            content: PushContent(json: content),
            format: format,
            deliveryID: 16,
            messageIDFormat: .uuid,
            carriesValidity: true
        )
        var output: [UInt8] = []
        template.render(
            row: 0,
            fields: [],
            tokens: ByteColumn(["token"]),
            messageID: Rendering.uuid,
            sequence: 1,
            validitySeconds: seconds,
            into: &output
        )
        return String(decoding: output, as: UTF8.self)
    }

    private let plain = #"{"android":{"title":"a"},"tracking":false}"#

    @Test func itIsKeptAsLongAsItIsOfUse() throws {
        #expect(try body(plain, .fcmV1, seconds: 3_600).contains(#""ttl":"3600s""#))
        #expect(try body(plain, .fcmLegacy, seconds: 3_600).contains(#""time_to_live":3600"#))
        #expect(try body(plain, .fcmV1, seconds: 0).contains(#""ttl":"0s""#))
    }

    @Test func notLongerThanFourWeeksAndAsTheContentSays() throws {
        #expect(try body(plain, .fcmV1, seconds: 90 * 86_400).contains(#""ttl":"2419200s""#))
        let own = #"{"android":{"title":"a","ttl_seconds":60},"tracking":false}"#
        let text = try body(own, .fcmV1, seconds: 3_600)
        #expect(text.contains(#""ttl":"60s""#) && !text.contains("3600"))
        let merged = #"{"android":{"title":"a","message":{"android":{"ttl":"5s"}}},"tracking":false}"#
        #expect(try body(merged, .fcmV1, seconds: 3_600).contains(#""ttl":"5s""#))
    }

    @Test func whereItIsNotKnownNothingIsSaid() throws {
        let text = try body(plain, .fcmV1, seconds: nil)
        #expect(!text.contains("ttl") && (try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil, "\(text)")
        let equal = try PayloadTemplate.compile(
            content: PushContent(json: plain),
            format: .fcmLegacy,
            deliveryID: 16,
            messageIDFormat: .uuid,
            carriesValidity: true
        )
        #expect(equal.hasEqualBodies, "many of them share a request")
    }
}
