import Foundation
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Saved audiences and control groups, as operators type them.
@Suite struct AudienceCommandTests: CommandSuite {
    let site: CommandSite

    init() async throws { site = try await CommandSite() }

    private func fill() async throws {
        try await addShop()
        try await sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, locale)
            SELECT 1, repeat('a' || n, 32), 'user-' || n, CASE WHEN n > 3 THEN 'fr' ELSE 'de' END FROM generate_series(1, 5) n
            """
        )
    }

    @Test func anAudienceFromItsFilterToADelivery() async throws {
        try await fill()
        let german = "locale = 'de'"
        #expect(try await run("audience", "save", "shop", "german", german).output.contains("was saved"))
        #expect(try await run("audience", "save", "shop", "german", german).output.contains("has this filter"))
        try await run("audience", "save", "shop", "broken", "locale =", expect: 65)
        let counted = try await run("audience", "count", "shop", "german", "--json").output
        #expect(counted.contains("\"subscriptions\":3") && counted.contains("\"margin\":null"), "\(counted)")
        let create = [
            "delivery", "create", "--app", "shop-ios", "--label", "d", "--content", #"{"ios": {"title": "a"}}"#,
        ]
        let made = try await program.run(
            create + ["--audience", "german"],
            environment: environment
        )
        #expect(made.status == 0, "\(made.errors)")
        let id = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await run("delivery", "status", id).output.contains("Filter: \(german), from audience german"))
        try await run("delivery", "update", id, "--audience", "german", "--filter", "locale = 'fr'", expect: 64)
        try await run("delivery", "update", id, "--audience", "nobody", expect: 65)
        #expect(try await run("audience", "list", "--service", "shop").output.contains("german"))
        try await run("audience", "list", "--service", "nowhere", expect: 65)
        try await run("audience", "remove", "shop", "german")
        try await run("audience", "remove", "shop", "german", expect: 65)
        #expect(try await run("delivery", "status", id).output.contains("Filter: \(german)"))
    }

    @Test func theControlGroupOfAService() async throws {
        try await fill()
        #expect(try await run("service", "control", "shop").output.contains("no control group"))
        let set = try await run("service", "control", "shop", "--percent", "7.25", "--category", "news").output
        #expect(set.contains("7.25 %") && set.contains("news") && set.contains("not counted yet"), "\(set)")
        try await run("service", "control", "shop", "--percent", "50.5", expect: 65)
        try await run("service", "control", "shop", "--category", "news", expect: 64)
        try await run("service", "control", "nowhere", expect: 65)
        let json = try await run("service", "control", "shop", "--json").output
        #expect(json.contains("\"percent\":7.25") && json.contains("\"results\":[]"), "\(json)")
        #expect(try await run("service", "control", "shop", "--percent", "0").output.contains("no control group"))
    }
}
