import Content
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// A person who opted out of a category stays so, whatever happens to the device's tokens, until an opt-in names it.
@Suite struct CategoryOptOutTests {
    /// Registers, and returns how many names of categories changed nothing.
    @discardableResult
    private func register(
        _ site: StoreSite,
        _ token: String,
        user: String = "ada",
        device: String? = "d1",
        outs: String = "",
        ins: String = ""
    ) async throws -> Int {
        var form = FormParameters()
        let text = "registrationToken=device-token-\(token)&mobileAppUuid=k&userKey=\(user)"
        let words = "&categoriesOptOut=\(outs)&categoriesOptIn=\(ins)"
        try form.read(Array((text + words + (device.map { "&deviceImei=\($0)" } ?? "")).utf8))
        let placed = try PlacedRegistration(
            DeviceRegistration(form, platform: .android),
            application: 1,
            declarations: ApplicationDeclarations()
        )
        return try await site.store.register([placed]).unknownCategories
    }

    /// The registered tokens, each with the categories that its person does not want.
    private func enabled(_ site: StoreSite) async throws -> String? {
        try await site.value(
            """
            SELECT string_agg(right(s.push_token, 1) || coalesce((SELECT string_agg(' ' || k.name, '' ORDER BY k.name)
                FROM pushmta_engine.category_opt_out o JOIN pushmta_engine.category k ON k.id = o.category_id
                WHERE o.subscription_id = s.id), ''), ',' ORDER BY s.id)
            FROM pushmta_engine.subscription s WHERE s.enabled
            """
        )
    }

    private func set(_ site: StoreSite, _ token: String, _ category: String, _ optedOut: Bool) async throws {
        try await site.run(
            """
            SELECT pushmta.set_category_opt_out(id, '\(category)', \(optedOut)) FROM pushmta_engine.subscription
            WHERE push_token = 'device-token-\(token)'
            """
        )
    }

    @Test func whatIsNotNamedStaysAsItIs() async throws {
        let site = try await StoreSite.make()
        try await register(site, "1", outs: "news")
        try await register(site, "1", outs: "marketing")
        #expect(try await enabled(site) == "1 marketing news")
        try await register(site, "1")
        #expect(try await enabled(site) == "1 marketing news")
        try await register(site, "1", ins: "news")
        #expect(try await enabled(site) == "1 marketing")
        // Of both, the narrower one counts.
        try await register(site, "1", outs: "service", ins: "service,marketing")
        #expect(try await enabled(site) == "1 service")
    }

    @Test func unknownNamesAreCountedAndDoNotRefuseIt() async throws {
        let site = try await StoreSite.make()
        #expect(try await register(site, "1", outs: "sport,news", ins: "weather") == 2)
        // Nobody opts out of what they have ordered; an opt-in to it changes nothing.
        #expect(try await register(site, "1", outs: "transactional", ins: "marketing") == 1)
        #expect(try await register(site, "1", ins: "transactional") == 0)
        #expect(try await enabled(site) == "1 news")
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.category_opt_out") == "1")
    }

    @Test func theDevicesNextTokenHasThem() async throws {
        let site = try await StoreSite.make()
        try await register(site, "1", outs: "news")
        try await register(site, "2")
        #expect(try await enabled(site) == "2 news")
        // An opt-in counts for its own token alone: any client can send any device id.
        try await register(site, "3", ins: "news")
        #expect(try await enabled(site) == "3")
        try await register(site, "3")
        #expect(try await enabled(site) == "3")
        try await register(site, "4", outs: "service")
        #expect(try await enabled(site) == "4 news service")
        // Another person, or another device.
        try await register(site, "5", user: "ben", device: "d2")
        try await register(site, "6", device: "d3")
        #expect(try await enabled(site) == "4 news service,5,6")
        // A token that comes back has what was said since.
        try await set(site, "4", "marketing", true)
        try await register(site, "2")
        #expect(try await enabled(site) == "2 marketing news service,5,6")
        // Who knows the person may opt in all tokens of the device.
        for category in ["marketing", "news", "service"] { try await set(site, "2", category, false) }
        try await register(site, "7")
        #expect(try await enabled(site) == "5,6,7")
    }

    @Test func aUserIsOptedOutOnLaterDevicesToo() async throws {
        let site = try await StoreSite.make()
        try await register(site, "1", device: nil)
        let service = try await site.value("SELECT min(name) FROM pushmta_engine.service") ?? ""
        func set(_ isOut: Bool) async throws -> String? {
            try await site.value("SELECT pushmta.set_user_category_opt_out('\(service)', 'ada', 'news', \(isOut))")
        }
        #expect(try await set(true) == "1")
        #expect(try await set(true) == "0")
        try await register(site, "2", device: nil)
        try await register(site, "3", user: "ben", device: nil)
        #expect(try await enabled(site) == "1 news,2 news,3")
        // The app lifts it for its own token.
        try await register(site, "4", device: nil, ins: "news")
        #expect(try await enabled(site) == "1 news,2 news,3,4")
        #expect(try await set(false) == "2")
        try await register(site, "5", device: nil)
        #expect(try await enabled(site) == "1,2,3,4,5")
        let logged = try await site.value(
            """
            SELECT string_agg(action || ' ' || detail, ',' ORDER BY id) FROM pushmta_engine.audit_log
            WHERE action LIKE 'subscriber.%'
            """
        )
        #expect(
            logged == "subscriber.opt_out category news, 1 of the user,subscriber.opt_in category news, 2 of the user"
        )
    }

    @Test func oneBatchKeepsWhatEachSays() async throws {
        let site = try await StoreSite.make()
        var all: [PlacedRegistration] = []
        for (token, words) in [("1", "categoriesOptOut=news"), ("2", ""), ("3", "categoriesOptOut=service,none")] {
            var form = FormParameters()
            let text = "registrationToken=device-token-\(token)&mobileAppUuid=k&userKey=u\(token)&\(words)"
            try form.read(Array(text.utf8))
            all.append(
                try PlacedRegistration(
                    DeviceRegistration(form, platform: .android),
                    application: 1,
                    declarations: ApplicationDeclarations()
                )
            )
        }
        let report = try await site.store.register(all)
        #expect(report == RegistrationReport(created: 3, updated: 0, disabled: 0, unknownCategories: 1))
        #expect(try await enabled(site) == "1 news,2,3 service")
    }

    /// Unlinking takes a user's key away, and the person stays the same.
    @Test func unlinkedDevicesAndReplacedTokensKeepThem() async throws {
        let site = try await StoreSite.make()
        try await register(site, "1", outs: "news")
        try await site.run("SELECT pushmta_engine.unlink_unproven(1, 0, 100)")
        #expect(try await enabled(site) == "1 news")
        try await register(site, "2", user: "ben", device: nil, outs: "service")
        try await register(site, "3", user: "ben", device: nil)
        // The gateway says that token 3 is now token 2.
        try await site.run(
            """
            SELECT pushmta_engine.replace_token(s, 0, 'device-token-2') FROM pushmta_engine.subscription s
            WHERE s.push_token = 'device-token-3'
            """
        )
        #expect(try await enabled(site) == "1 news,2 service")
    }

    @Test func aDeviceSaysItOverHTTP() async throws {
        let site = try await WebSite.start()
        let form = "mobileAppUuid=testIntegrationKey&registrationToken=device-token-1"
        #expect(try await site.registerAndroid(form + "&categoriesOptOut=news,unheard-of").status == 200)
        let known = "SELECT count(*) FROM pushmta.category_opt_out WHERE category = 'news' AND source = 'app'"
        #expect(try await site.value(known) == "1")
        let many = String(repeating: "n,", count: 600)
        #expect(try await site.registerAndroid(form + "&categoriesOptOut=" + many).status == 400)
        try await site.drain()
    }
}
