import PushCore
import Store
import Testing

@testable import WebServer

/// Events through the API.
@Suite struct APIEventTests {
    private func register(_ site: APISite, _ key: String, _ user: String) async throws {
        let device = """
            {"application": "shop-ios", "pushToken": "\(String(repeating: "ab", count: 31))\(user)", "userKey": "user-\(user)"}
            """
        let answer = try await site.call("POST", "/devices", key: key, device)
        #expect((200..<300).contains(answer.status), "\(answer.answer)")
    }

    @Test func aPageIsGivenUntilItIsProcessed() async throws {
        let site = try await APISite.start()
        try await site.web.admin.createConsumer(NewConsumer(name: "crm"))
        let key = try await site.key(.readEvents, .writeDevices)
        let none = try await site.call("GET", "/events?consumer=crm", key: key)
        #expect(none.status == 200 && none["page"] == "null" && none.count("events") == 0, "\(none.answer)")
        for user in ["01", "02", "03"] { try await register(site, key, user) }
        let first = try await site.call("GET", "/events?consumer=crm&limit=2", key: key)
        #expect(first.count("events") == 2 && first["events.0.kind"] == "device.registered", "\(first.answer)")
        #expect(first["events.0.userKey"] == "user-01" && first["events.1.userKey"] == "user-02")
        let again = try await site.call("GET", "/events?consumer=crm&limit=2", key: key)
        #expect(again.answer.body == first.answer.body)
        let page = try #require(first["page"])
        let second = try await site.call("GET", "/events?consumer=crm&limit=2&processed=\(page)", key: key)
        #expect(second.count("events") == 1 && second["events.0.userKey"] == "user-03", "\(second.answer)")
        let last = try #require(second["page"])
        let end = try await site.call("GET", "/events?consumer=crm&processed=\(last)", key: key)
        #expect(end["page"] == "null")
        // What was processed long ago changes nothing.
        let old = try await site.call("GET", "/events?consumer=crm&processed=\(page)", key: key)
        #expect(old["page"] == "null" && old.status == 200)
        try await site.finish()
    }

    @Test func whatIsRefused() async throws {
        let site = try await APISite.start()
        try await site.web.admin.createConsumer(NewConsumer(name: "crm"))
        let key = try await site.key(.readEvents)
        #expect(try await site.call("GET", "/events", key: key).status == 400)
        #expect(try await site.call("GET", "/events?consumer=crm&limit=0", key: key).status == 400)
        #expect(try await site.call("GET", "/events?consumer=crm&processed=1", key: key).status == 400)
        #expect(try await site.call("GET", "/events?consumer=nobody", key: key).status == 404)
        let limited = try await site.key(.readEvents, applications: ["shop-ios"])
        #expect(try await site.call("GET", "/events?consumer=crm", key: limited).status == 404)
        try await site.finish()
    }
}
