import Foundation
import Testing

@testable import MobileSDK

@Suite struct PushMessageTests {
    @Test func silent() throws {
        let json = #"{"aps":{"content-available":1},"_mId":"12345","_dId":"f0190"}"#
        let userInfo = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [AnyHashable: Any])
        let message = PushMessage(userInfo: userInfo)
        #expect(message.isSilent && message.isContentAvailable)
        #expect(message.messageID == "12345" && message.deliveryID == "f0190")
        #expect(message.mediaURL == nil && message.category == nil)
    }

    @Test func rich() {
        let message = PushMessage(userInfo: [
            "aps": ["alert": ["title": "t"], "mutable-content": 1, "content-available": 1, "category": "image"],
            "mediaUrl": "https://example.com/a.png",
        ])
        #expect(message.isContentAvailable && !message.isSilent)
        #expect(message.category == "image")
        #expect(message.mediaURL == "https://example.com/a.png")
    }

    @Test func somethingElse() {
        let message = PushMessage(userInfo: ["aps": "no dictionary", "_mId": 5, 7: "x"])
        #expect(message.messageID == nil && message.deliveryID == nil && !message.isSilent)
    }
}
