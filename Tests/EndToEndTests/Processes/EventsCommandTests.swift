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
        try await run("events", "drop", "crm")
        #expect(try await run("events", "list", "--json").rows().isEmpty)
    }
}
