import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// Categories and opt-outs from them over the API.
@Suite struct APICategoryTests {
    @Test func aDevicesOptOutFromACategory() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let form = "registrationToken=token-one&mobileAppUuid=testIntegrationKey&userKey=ada"
        #expect(try await site.web.registerAndroid(form).status == 200)
        let id = try await site.call("GET", "/devices?userKey=ada", key: key)["devices.0.id"] ?? ""
        let before = try await site.call("GET", "/devices/\(id)/categories", key: key)
        #expect(before.status == 200 && before["categories.0.name"] == "marketing")
        #expect(before["categories.0.optedOut"] == "false" && before["categories.3.transactional"] == "true")
        let out = try await site.call("PUT", "/devices/\(id)/opt-outs/news", key: key)
        #expect(out["categories.1.optedOut"] == "true" && out["categories.1.source"] == "device", "\(out.answer)")
        #expect(try await site.call("GET", "/devices/\(id)", key: key)["optedOut"] == "false")
        let back = try await site.call("DELETE", "/devices/\(id)/opt-outs/news", key: key)
        #expect(back["categories.1.optedOut"] == "false")
        #expect(try await site.call("PUT", "/devices/\(id)/opt-outs/nothing", key: key).status == 404)
        #expect(try await site.call("PUT", "/devices/\(id)/opt-outs/transactional", key: key).status == 400)
        #expect(try await site.call("PUT", "/devices/999/opt-outs/news", key: key).status == 404)
        // A key for other applications does not reach the device.
        let other = try await site.key(applications: ["shop-ios"])
        #expect(try await site.call("PUT", "/devices/\(id)/opt-outs/news", key: other).status == 404)
        #expect(try await site.call("GET", "/devices/\(id)/categories", key: other).status == 404)
        try await site.finish()
    }

    @Test func aUsersOptOutFromACategory() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let form = "mobileAppUuid=testIntegrationKey&userKey=ada&registrationToken="
        #expect(try await site.web.registerAndroid(form + "token-one").status == 200)
        let put = { (body: String) in try await site.call("PUT", "/opt-outs", key: key, body) }
        #expect(try await put(#"{"userKey": "ada", "optedOut": true, "category": "news"}"#)["changed"] == "1")
        #expect(try await site.web.registerAndroid(form + "token-two").status == 200)
        let found = try await site.call("GET", "/devices?userKey=ada", key: key)
        for device in 0...1 {
            let id = found["devices.\(device).id"] ?? ""
            let row = try await site.call("GET", "/devices/\(id)/categories", key: key)
            #expect(row["categories.1.optedOut"] == "true" && row["categories.1.source"] == "user")
        }
        let said = try await site.call("GET", "/opt-outs?userKey=ada", key: key)
        #expect(said["optOuts.0.category"] == "news", "\(said.answer)")
        #expect(try await put(#"{"userKey": "ada", "optedOut": false, "category": "news"}"#)["changed"] == "2")
        #expect(try await site.call("GET", "/opt-outs?userKey=ada", key: key)["optOuts.0.category"] == nil)
        for (body, status) in [
            (#"{"userKey": "ada", "optedOut": true, "category": "nothing"}"#, 404),
            (#"{"userKey": "ada", "optedOut": true, "category": "transactional"}"#, 400),
            (#"{"userKey": "ada", "optedOut": true, "category": "No name"}"#, 400),
        ] {
            #expect(try await put(body).status == status, "\(body)")
        }
        #expect(try await site.call("GET", "/opt-outs", key: key).status == 400)
        try await site.finish()
    }

    @Test func aDeliveryHasACategory() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let list = try await site.call("GET", "/categories", key: key)
        #expect(list["categories.0.name"] == "marketing" && list["categories.0.label"] == "Marketing")
        func create(_ more: String) async throws -> APIExchange {
            let content = #""content": {"android": {"title": "Sale"}}"#
            return try await site.call(
                "POST",
                "/deliveries",
                key: key,
                #"{"label": "Sale", "applications": ["shop-android"], \#(content)\#(more)}"#
            )
        }
        let usual = try await create("")
        #expect(usual.status == 201 && usual["category"] == "marketing", "\(usual.answer)")
        let receipt = try await create(#", "category": "transactional""#)
        #expect(receipt["category"] == "transactional")
        #expect(try await create(#", "category": "nothing""#).status == 404)
        #expect(try await create(#", "category": "No name""#).status == 400)
        let changed = try await site.call(
            "PATCH",
            "/deliveries/\(usual["id"] ?? "")",
            key: key,
            #"{"category": "news"}"#
        )
        #expect(changed.status == 200 && changed["category"] == "news", "\(changed.answer)")
        try await site.finish()
    }
}
