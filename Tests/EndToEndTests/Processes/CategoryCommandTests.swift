import Foundation
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Categories and opt-outs, as operators type them.
@Suite struct CategoryCommandTests: CommandSuite {
    let site: CommandSite

    init() async throws { site = try await CommandSite() }

    private func fill() async throws {
        try await addShop()
        try await sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key)
            SELECT 1, repeat('a' || n, 32), 'ada' FROM generate_series(1, 2) n
            """
        )
    }

    @Test func aServicesCategories() async throws {
        try await fill()
        let first = try await run("category", "list", "--service", "shop", "--json").output
        for name in ["marketing", "news", "service", "transactional"] { #expect(first.contains("\"\(name)\"")) }
        try await run("category", "set", "shop", "orders", "--label", "Your orders", "--transactional")
        #expect(try await run("category", "list").output.contains("Your orders"))
        try await run("category", "set", "shop", "No name", expect: 65)
        try await run("category", "list", "--service", "none", expect: 65)
        let content = #"{"ios": {"title": "a"}}"#
        let create = ["delivery", "create", "--app", "shop-ios", "--content", content, "--label"]
        let made = try await program.run(
            create + ["Receipt", "--category", "orders"],
            environment: environment
        )
        #expect(made.status == 0, "\(made.errors)")
        let id = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await run("delivery", "status", id).output.contains("Category: orders"))
        try await run("delivery", "update", id, "--category", "news")
        #expect(try await run("delivery", "status", id, "--json").output.contains(#""category":"news""#))
        try await run("delivery", "update", id, "--category", "nothing", expect: 65)
        try await run("category", "drop", "shop", "orders")
        try await run("category", "drop", "shop", "news", expect: 65)
    }

    @Test func whoWantsWhat() async throws {
        try await fill()
        try await run("optout", "add", "--device", "1", "--category", "news")
        #expect(try await run("optout", "list", "--device", "1").output.contains("news"))
        #expect(try await value("SELECT count(*) FROM pushmta.category_opt_out") == "1")
        try await run("optout", "add", "--service", "shop", "--user-key", "ada", "--category", "service")
        #expect(try await value("SELECT count(*) FROM pushmta.category_opt_out") == "3")
        try await run("optout", "remove", "--service", "shop", "--user-key", "ada", "--category", "service")
        try await run("optout", "remove", "--device", "1", "--category", "news")
        #expect(try await value("SELECT count(*) FROM pushmta.category_opt_out") == "0")
        try await run("optout", "add", "--device", "1")
        #expect(try await value("SELECT count(*) FROM pushmta_engine.subscription WHERE opted_out") == "1")
        try await run("optout", "add", "--service", "shop", "--user-key", "ada")
        #expect(try await value("SELECT count(*) FROM pushmta_engine.subscription WHERE opted_out") == "2")
        try await run("optout", "add", "--device", "1", "--category", "transactional", expect: 65)
        try await run("optout", "add", "--device", "1", "--user-key", "ada", expect: 64)
        try await run("optout", "add", "--service", "shop", expect: 64)
        try await run("optout", "list", "--device", "99", expect: 65)
    }
}
