import PushCore
import Store
import Testing

@testable import WebServer

/// Health signals through the API.
@Suite struct APISignalTests {
    @Test func aDeliveryFollowsASignal() async throws {
        let site = try await APISite.start()
        let admin = site.web.admin
        try await admin.setHealthSignal(HealthSignal(name: "load", kind: .http, source: "https://m.example/load"))
        let id = try await admin.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        let key = try await site.key(.writeDeliveries, .readDeliveries)
        let list = try await site.call("GET", "/signals", key: key)
        #expect(list.status == 200 && list.count("signals") == 1 && list["signals.0.name"] == "load", "\(list.answer)")
        #expect(list["signals.0.source"] == nil && !list.answer.body.contains("m.example"))
        #expect(try await site.call("GET", "/deliveries/\(id)", key: key)["signal"] == "null")

        let follow = "/deliveries/\(id)/follow"
        let body = #"{"signal": "load", "target": 0.8, "floor": 10, "ceiling": 500}"#
        let followed = try await site.call("POST", follow, key: key, body)
        #expect(followed.status == 200 && followed["signal.name"] == "load", "\(followed.answer)")
        #expect(followed["signal.state"] == "idle" && followed["signal.messagesPerSecond"] == "10.0")
        #expect(followed["signal.value"] == "null" && followed["signal.ceiling"] == "500.0")
        let rate = try await site.call("POST", "/deliveries/\(id)/rate", key: key, #"{"messagesPerSecond": 5}"#)
        #expect(rate.status == 409, "\(rate.answer)")
        let listed = try await site.call("GET", "/deliveries", key: key)
        #expect(listed["deliveries.0.signal.name"] == "load", "\(listed.answer)")
        let left = try await site.call("POST", follow, key: key, "{}")
        #expect(left.status == 200 && left["signal"] == "null", "\(left.answer)")
        try await site.finish()
    }

    @Test func whatIsNotValidIsRefused() async throws {
        let site = try await APISite.start()
        let admin = site.web.admin
        try await admin.setHealthSignal(HealthSignal(name: "load", kind: .http, source: "https://m.example/load"))
        let id = try await admin.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        let key = try await site.key(.writeDeliveries, .readDeliveries)
        let follow = "/deliveries/\(id)/follow"
        let missing = try await site.call("POST", follow, key: key, #"{"signal": "load", "target": 0.8}"#)
        #expect(missing.status == 400, "\(missing.answer)")
        let none = #"{"signal": "none", "target": 0.8, "floor": 10, "ceiling": 500}"#
        #expect(try await site.call("POST", follow, key: key, none).status == 404)
        let upsideDown = #"{"signal": "load", "target": 0.8, "floor": 500, "ceiling": 10}"#
        let refused = try await site.call("POST", follow, key: key, upsideDown)
        #expect((400..<500).contains(refused.status), "\(refused.answer)")
        let reader = try await site.key(.readDeliveries)
        #expect(try await site.call("POST", follow, key: reader, "{}").status == 403)
        try await site.finish()
    }
}
