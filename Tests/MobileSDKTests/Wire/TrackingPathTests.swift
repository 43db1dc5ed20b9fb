import Foundation
import Testing

@testable import MobileSDK

/// The vectors of Adobe's two SDKs; ids of 64 bits as the Android one sends them.
@Suite struct TrackingPathTests {
    private func path(_ message: Any?, _ delivery: Any? = "deliveryId", _ action: TrackingAction = .click) -> String? {
        var userInfo: [AnyHashable: Any] = ["aps": ["alert": "text"]]
        userInfo["_mId"] = message
        userInfo["_dId"] = delivery
        return TrackingPath.path(PushMessage(userInfo: userInfo), action)
    }

    @Test func conversionsOfAnOpenedNotification() throws {
        let opened = try #require(path("12345", "f0190").flatMap(TrackingPath.opened))
        let end = TrackingPath.conversion("bought it & more", 19.99)
        #expect(opened + end == "/r/?id=h3039,f0190,4&name=bought%20it%20%26%20more&value=19.99")
        #expect(TrackingPath.conversion("a", 1e20) == "4&name=a&value=1e%2B20")
        #expect(
            TrackingPath.conversion("a", .nan) == "4&name=a" && TrackingPath.conversion("ö", nil) == "4&name=%C3%B6"
        )
        #expect(path("12345", "f0190", .receive).flatMap(TrackingPath.opened) == nil)
    }

    @Test func decimalIDs() {
        #expect(path("55336") == "/r/?id=hd828,deliveryId,2")
        #expect(path("12345", "testDeliveryId", .receive) == "/r/?id=h3039,testDeliveryId,1")
        #expect(path("5") == "/r/?id=h05,deliveryId,2")
        #expect(path("12345", "f0190") == "/r/?id=h3039,f0190,2")
    }

    @Test(arguments: [
        ("-673096100", "d7e15e5c"), ("673096100", "281ea1a4"), ("57904851586134", "34aa061c0c56"),
        ("2147483648", "80000000"), ("9223372036854775807", "7fffffffffffffff"), ("-1", "ffffffff"),
        ("-9223372036854775808", "8000000000000000"),
    ])
    func largeAndNegativeIDs(_ id: String, _ hex: String) {
        #expect(path(id) == "/r/?id=h\(hex),deliveryId,2")
    }

    @Test(arguments: ["6b6499a8-9d43-4bc5-acf0-b6aeb96846f6", "6B6499A8-9D43-4BC5-ACF0-B6AEB96846F6"])
    func uuidsGoBackAsTheyCame(_ id: String) {
        #expect(path(id, "deliveryId", .receive) == "/r/?id=h\(id),deliveryId,1")
        #expect(path(id) == "/r/?id=h\(id),deliveryId,2")
    }

    @Test func aRecallNamesTheDeliveryThatItRemoves() {
        let recall = PushMessage(userInfo: ["aps": ["content-available": 1], "_recall": "f0190", "_dId": "f0191"])
        #expect(recall.isSilent && recall.recalledDeliveryID == "f0190")
        let shown = PushMessage(userInfo: ["_mId": "12345", "_dId": "f0190"])
        #expect(recall.recalls(shown) && !recall.recalls(recall) && !shown.recalls(shown))
        #expect(!shown.recalls(PushMessage(userInfo: [:])))
        // Its message may have been replaced by that of another delivery.
        let both = PushMessage(userInfo: ["_recall": "f0190,f0191"])
        #expect(both.recalls(shown) && both.recalls(recall))
        #expect(!both.recalls(PushMessage(userInfo: ["_dId": "f019"])) && !both.recalls(both))
        #expect(TrackingPath.path(shown, .remove) == "/r/?id=h3039,f0190,3")
    }

    @Test(arguments: ["invalid", "", "1-1-1-1-1", "a8a", "9223372036854775808", "1.5", " 1"])
    func noIDs(_ id: String) {
        #expect(path(id) == nil)
    }

    @Test func whatIsNoStringOrMissingIsNotTracked() {
        #expect(path(nil) == nil)
        #expect(path(12345) == nil)
        #expect(path("12345", nil) == nil)
        #expect(path("12345", "") == nil)
        #expect(path("12345", 5) == nil)
    }

    @Test(arguments: ["a b", "a\r\nHost: x", "a#b", "\u{7F}"])
    func aDeliveryThatWouldBeAnotherRequestIsNotTracked(_ delivery: String) {
        #expect(path("12345", delivery) == nil)
    }
}
