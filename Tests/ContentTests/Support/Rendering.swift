import Foundation
import Testing

@testable import Content
@testable import PushCore

/// Renders one message of a content like the child.
struct Rendering {
    static let uuid = MessageUUID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
    static let uuidText = "01234567-89ab-cdef-fedc-ba9876543210"

    let template: PayloadTemplate
    let body: [UInt8]
    let size: Int

    init(
        _ json: String,
        _ payloadFormat: PayloadFormat,
        values: [String: String] = [:],
        token: String = "token:1",
        format: MessageIDFormat = .uuid,
        numbers: MessageNumbers? = nil
    ) throws {
        template = try PayloadTemplate.compile(
            content: PushContent(json: json),
            format: payloadFormat,
            deliveryID: 0x123,
            messageIDFormat: format,
            messageNumbers: numbers
        )
        var body: [UInt8] = []
        size = template.render(
            row: 0,
            fields: template.fields.map { ByteColumn([values[$0.name]]) },
            tokens: ByteColumn([token]),
            messageID: Self.uuid,
            sequence: 5,
            into: &body
        )
        self.body = body
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    func object() throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
    }
}
