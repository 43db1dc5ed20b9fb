import TestSupport
import Testing

/// Consumers and their events, as operators type it.
@Suite struct EventsCommandTests: CommandSuite {
    let site: CommandSite

    init() async throws { site = try await CommandSite() }

    @Test func consumers() async throws {
        try await addShop()
        #expect(try await run("events", "list").output.contains("no consumers"))
        let kinds = try await run("events", "kinds", "--json").rows()
        #expect(kinds.contains { $0["kind"] as? String == "device.renewed" })
        try await run("events", "create", "crm", "--kind", "device", "--service", "shop", "--max-age-hours", "24")
        try await run("events", "create", "crm", expect: 65)
        let unknown = try await run("events", "create", "x", "--kind", "device.sold", expect: 65)
        #expect(unknown.errors.contains("device.sold"))
        try await run("events", "create", "x", "--max-age-hours", "0", expect: 64)
        let reader = try await run("events", "create", "x", "--reader", "no_such_role", expect: 65)
        #expect(reader.errors.contains("no_such_role"))
        try await run("webhook", "set", "crm", "http://hooks.example", expect: 65)
        let hook = try await run("webhook", "set", "crm", "https://hooks.example/x", expect: 65)
        #expect(hook.errors.contains("no webhook"))
        try await sql(
            """
            SELECT pushmta_engine.register_devices(ARRAY[1], ARRAY[repeat('ab', 32)], ARRAY['ada'], ARRAY[NULL], ARRAY[''],
                ARRAY[''], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL])
            """
        )
        let listed = try #require(try await run("events", "list", "--json").rows().first)
        #expect(listed["consumer"] as? String == "crm" && listed["service"] as? String == "shop")
        let events = try await run("events", "read", "crm", "--json").rows()
        #expect(events.count == 1 && events.first?["kind"] as? String == "device.registered")
        #expect(events.first?["user_key"] as? String == "ada" && events.first?["subscription"] as? Int == 1)
        #expect(try await run("events", "read", "crm").output.contains("No new events."))
        try await run("events", "read", "nobody", expect: 65)
        try await run("events", "create", "own", "--reader", "key:none", expect: 65)
        try await run("events", "create", "own", "--reader", "pushmta_events")
        let own = try #require(try await run("events", "list", "--json").rows().last)
        #expect(own["consumer"] as? String == "own" && own["reader"] as? String == "pushmta_events")
        try await run("events", "drop", "own")
        try await run("events", "drop", "crm")
        #expect(try await run("events", "list", "--json").rows().isEmpty)
    }
}
