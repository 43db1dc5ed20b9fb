import Content
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// A person who opted out gets no messages, whatever happens to the device's tokens.
@Suite struct OptOutTests {
    private func registration(_ token: String, user: String = "ada", device: String? = "d1", optOut: Bool? = nil) throws
        -> PlacedRegistration
    {
        var form = FormParameters()
        let word = optOut.map { "&optOut=\($0)" } ?? ""
        let text = "registrationToken=device-token-\(token)&mobileAppUuid=k&userKey=\(user)\(word)"
        try form.read(Array((text + (device.map { "&deviceImei=\($0)" } ?? "")).utf8))
        return try PlacedRegistration(
            DeviceRegistration(form, platform: .android),
            application: 1,
            declarations: ApplicationDeclarations()
        )
    }

    private func register(
        _ site: StoreSite,
        _ token: String,
        user: String = "ada",
        device: String? = "d1",
        optOut: Bool? = nil
    ) async throws {
        _ = try await site.store.register([registration(token, user: user, device: device, optOut: optOut)])
    }

    private func set(_ site: StoreSite, _ token: String, _ optedOut: Bool) async throws {
        try await site.run(
            "SELECT pushmta.set_opt_out(id, \(optedOut)) FROM pushmta_engine.subscription WHERE push_token = 'device-token-\(token)'"
        )
    }

    /// The registered tokens, and whether each gets messages.
    private func enabled(_ site: StoreSite) async throws -> String? {
        try await site.value(
            """
            SELECT string_agg(right(push_token, 1) || CASE WHEN opted_out THEN ' out' ELSE '' END, ',' ORDER BY id)
            FROM pushmta_engine.subscription WHERE enabled
            """
        )
    }

    @Test func aRowThatAnotherTransactionHoldsKeepsOnlyItsOwnDeviceWaiting() async throws {
        let site = try await WebSite.start { $0.registration.timeoutSec = 2 }
        let form = "mobileAppUuid=testIntegrationKey&registrationToken=device-token-"
        for token in 1...3 { #expect(try await site.registerAndroid(form + "\(token)").status == 200) }
        let holder = try await site.database.connect()
        try await holder.run(
            script: """
                BEGIN;
                SELECT pushmta.set_opt_out(id, true) FROM pushmta_engine.subscription WHERE push_token = 'device-token-1'
                """
        )
        let answers = try await withThrowingTaskGroup { group in
            for token in 1...12 {
                group.addTask { (token, try await site.registerAndroid(form + "\(token)").status) }
            }
            return try await group.reduce(into: [Int: Int]()) { $0[$1.0] = $1.1 }
        }
        #expect(answers.filter { $0.value != 200 } == [1: 503])
        try await holder.run(script: "COMMIT")
        await holder.close()
        #expect(try await site.registerAndroid(form + "1").status == 200)
        try await site.drain()
    }

    @Test(arguments: ["token_invalid", "unregistered", "token_renewed"])
    func theDevicesNextTokenGetsNothingHoweverTheFirstOneEnded(_ reason: String) async throws {
        let site = try await StoreSite.make()
        try await register(site, "1")
        try await set(site, "1", true)
        try await register(site, "2")
        #expect(try await enabled(site) == "2 out")
        // Gateways report a token as dead once another one has replaced it, or even before the device registers the new
        // one.
        try await site.run(
            "UPDATE pushmta_engine.subscription SET enabled = false, disabled_at = now(), disabled_reason = '\(reason)'"
        )
        try await register(site, "3")
        #expect(try await enabled(site) == "3 out")
        // Another person on the device has not opted out.
        try await register(site, "4", user: "ben")
        #expect(try await enabled(site) == "3 out,4")
        try await register(site, "5")
        #expect(try await enabled(site) == "4,5 out")
        try await register(site, "6", device: "d2")
        #expect(try await enabled(site) == "4,5 out,6")
    }

    @Test func aTokenThatComesBackKnowsWhatWasSaidSince() async throws {
        let site = try await StoreSite.make()
        try await register(site, "1")
        try await register(site, "2")
        try await set(site, "2", true)
        try await register(site, "1")
        #expect(try await enabled(site) == "1 out")
        // This holds for each subscription of the device.
        try await set(site, "2", false)
        #expect(try await enabled(site) == "1")
        try await register(site, "3")
        #expect(try await enabled(site) == "3")
        try await set(site, "1", true)
        #expect(try await enabled(site) == "3 out")
    }

    @Test func theLastRegistrationCountsWhenTheyDiffer() async throws {
        let site = try await StoreSite.make()
        try await register(site, "1")
        try await register(site, "2")
        try await register(site, "1")
        // A state from an older version: the newest row is not the one that registered last.
        try await site.run("UPDATE pushmta_engine.subscription SET opted_out = push_token = 'device-token-2'")
        try await register(site, "3")
        #expect(try await enabled(site) == "3")
        try await site.run(
            """
            UPDATE pushmta_engine.subscription SET opted_out = push_token = 'device-token-1',
                registered_at = registered_at + CASE push_token WHEN 'device-token-1' THEN interval '1 hour' ELSE '0' END
            """
        )
        try await register(site, "4")
        #expect(try await enabled(site) == "4 out")
        try await register(site, "2")
        #expect(try await enabled(site) == "2 out")
    }

    @Test func withoutDeviceIDAnOptOutStaysWithTheToken() async throws {
        let site = try await StoreSite.make()
        try await register(site, "1", device: nil)
        try await set(site, "1", true)
        try await register(site, "1", device: nil)
        #expect(try await enabled(site) == "1 out")
        try await register(site, "1", user: "ben", device: nil)
        #expect(try await enabled(site) == "1")
        try await register(site, "1", device: nil)
        #expect(try await enabled(site) == "1 out")
        try await register(site, "2", device: nil)
        #expect(try await enabled(site) == "1 out,2")
    }

    @Test func whatTheAppSaysHolds() async throws {
        let site = try await StoreSite.make()
        try await register(site, "1", device: nil, optOut: true)
        #expect(try await site.value("SELECT opted_out_at IS NOT NULL FROM pushmta_engine.subscription") == "true")
        // An app that does not support opt-outs leaves it unchanged.
        try await register(site, "1", device: nil)
        #expect(try await enabled(site) == "1 out")
        // If the device has no id, the app repeats the opt-out for its next token.
        try await register(site, "2", device: nil, optOut: true)
        #expect(try await enabled(site) == "1 out,2 out")
        try await register(site, "2", device: nil, optOut: false)
        #expect(try await enabled(site) == "1 out,2")
        // The same for an opt-in, no matter who opted out.
        try await set(site, "2", true)
        try await register(site, "2", device: nil)
        #expect(try await enabled(site) == "1 out,2 out")
        try await register(site, "2", device: nil, optOut: false)
        #expect(try await enabled(site) == "1 out,2")
        try await register(site, "3", user: "ben", optOut: true)
        try await register(site, "4", user: "ben")
        #expect(try await enabled(site) == "1 out,2,4 out")
    }

    /// Any client can send any device id, so an opt-in applies only to its own token.
    @Test func nobodyOptsAnotherTokenInByTheDeviceID() async throws {
        let site = try await StoreSite.make()
        try await register(site, "1")
        try await set(site, "1", true)
        try await register(site, "2", optOut: false)
        try await register(site, "2", optOut: false)
        #expect(try await enabled(site) == "2")
        try await register(site, "1")
        #expect(try await enabled(site) == "1 out")
        try await register(site, "3")
        #expect(try await enabled(site) == "3 out")
        // A caller that knows the user may opt in all of their devices.
        try await set(site, "3", false)
        try await register(site, "4")
        #expect(try await enabled(site) == "4")
    }

    @Test func allOfAUserAreOptedOutAtOnce() async throws {
        let site = try await StoreSite.make()
        try await register(site, "1", device: nil)
        try await register(site, "2", device: nil, optOut: false)
        try await register(site, "3", user: "ben", device: nil)
        let service = try await site.value("SELECT min(name) FROM pushmta_engine.service") ?? ""
        func set(_ isOut: String) async throws -> String? {
            try await site.value("SELECT pushmta.set_user_opt_out('\(service)', 'ada', \(isOut))")
        }
        #expect(try await set("true") == "2")
        #expect(try await enabled(site) == "1 out,2 out,3")
        #expect(try await set("true") == "0")
        let logged = try await site.value(
            "SELECT string_agg(action || ' ' || detail, ',') FROM pushmta_engine.audit_log WHERE action LIKE 'subscriber.%'"
        )
        #expect(logged == "subscriber.opt_out 2 of the user")
        #expect(try await set("false") == "2")
        #expect(try await enabled(site) == "1,2,3")
        // Null does not restrict the call, as with set_opt_out.
        #expect(try await set("null") == "2")
    }

    /// iOS sends no device id, and a phone that is set up again gets another token.
    @Test func whoIsOptedOutAsAUserIsSoOnLaterDevices() async throws {
        let site = try await StoreSite.make()
        let service = try await site.value("SELECT min(name) FROM pushmta_engine.service") ?? ""
        func set(_ user: String, _ isOut: Bool) async throws {
            _ = try await site.value("SELECT pushmta.set_user_opt_out('\(service)', '\(user)', \(isOut))")
        }
        try await register(site, "1", device: nil)
        try await set("ada", true)
        // A user without a known device.
        try await set("eve", true)
        try await register(site, "2", device: nil)
        try await register(site, "3", device: "d3")
        try await register(site, "4", user: "ben", device: nil)
        try await register(site, "5", user: "eve", device: nil)
        #expect(try await enabled(site) == "1 out,2 out,3 out,4,5 out")
        let listed = "SELECT string_agg(DISTINCT user_key, ',') FROM pushmta.user_opt_out"
        #expect(try await site.value(listed) == "ada,eve")
        // The app of one phone opts in, and a server opts in another phone and its later tokens.
        try await register(site, "6", device: nil, optOut: false)
        try await self.set(site, "3", false)
        try await register(site, "7", device: "d3")
        #expect(try await enabled(site) == "1 out,2 out,4,5 out,6,7")
        try await set("ada", false)
        try await register(site, "8", device: nil)
        #expect(try await enabled(site) == "1,2,4,5 out,6,7,8")
        // A forgotten user is not on that list either.
        _ = try await site.value("SELECT subscriptions FROM pushmta.forget_user('\(service)', 'eve')")
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.user_opt_out") == "0")
        let logged = try await site.value(
            "SELECT count(*) FROM pushmta_engine.audit_log WHERE action = 'subscriber.opt_out' AND detail = '0 of the user'"
        )
        #expect(logged == "1")
        await #expect(throws: PostgresError.self) { try await set(String(repeating: "u", count: 1_001), true) }
    }

    /// A registration under way does not see an uncommitted opt-out, and the opt-out does not see the registration.
    @Test func aRegistrationUnderWayIsNotMissed() async throws {
        let site = try await StoreSite.make()
        try await register(site, "1", device: nil)
        let registering = try await site.database.connect()
        try await registering.run(
            script: """
                BEGIN;
                SELECT pushmta_engine.register_devices(ARRAY[1], ARRAY['device-token-2'], ARRAY['ada'], ARRAY[NULL], ARRAY[''], ARRAY[''],
                    ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL])
                """
        )
        async let changed = site.store.setOptOut(ofUser: "ada", applications: nil, true)
        try await eventually("the opt-out waits") {
            try await site.value(
                "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'pushmta_engine.registration_lock'::regclass"
            ) == "1"
        }
        try await registering.run(script: "COMMIT")
        #expect(try await changed == 2)
        #expect(try await enabled(site) == "1 out,2 out")
        await registering.close()
    }

    @Test func theWordOfTheAppComesByTheForm() async throws {
        let site = try await WebSite.start()
        let form = "mobileAppUuid=testIntegrationKey&registrationToken=device-token-1"
        for (word, isOut) in [("&optOut=true", "true"), ("", "true"), ("&optOut=", "true"), ("&optOut=false", "false")]
        {
            #expect(try await site.registerAndroid(form + word).status == 200)
            #expect(try await site.value("SELECT opted_out FROM pushmta_engine.subscription") == isOut, "\(word)")
        }
        let wrong = try await site.registerAndroid(form + "&optOut=maybe")
        #expect(wrong.status == 400)
        #expect(try await site.value("SELECT extra IS NULL FROM pushmta_engine.subscription") == "true")
        try await site.drain()
    }

    @Test func itIsLookedUpAndNotSearchedFor() async throws {
        let site = try await StoreSite.make()
        try await site.run(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, device_id, enabled, disabled_at)
            SELECT 1, 'old-token-' || n, 'u' || n, 'd' || n, n % 2 = 0, CASE WHEN n % 2 = 1 THEN now() END
            FROM generate_series(1, 20000) n;
            ANALYZE pushmta_engine.subscription
            """
        )
        let connection = try await site.database.connect()
        try await connection.run(
            script: """
                BEGIN;
                SELECT pushmta_engine.register_devices(array_agg(1), array_agg('new-token-' || n), array_agg('u' || n),
                    array_agg('d' || n), array_agg(''::text), array_agg(''::text), array_agg(NULL::text), array_agg(NULL::text),
                    array_agg(NULL::text), array_agg(NULL::text))
                FROM generate_series(1, 200) n;
                SELECT pushmta.set_opt_out(max(id), true) FROM pushmta_engine.subscription
                WHERE application_id = 1 AND device_id = 'd7'
                """
        )
        let read = try await connection.execute(
            PostgresStatement(
                """
                SELECT idx_tup_fetch, seq_tup_read FROM pg_stat_xact_user_tables
                WHERE schemaname = 'pushmta_engine' AND relname = 'subscription'
                """,
                prepare: false
            )
        )
        // Only a few rows each: the row that ends, and the person's opt-out.
        #expect(try read.int64(0, 0) < 2_000)
        #expect(try read.int64(0, 1) == 0)
        await connection.close()
    }

    @Test func whatTheAppSentBeyondWhatIsKnownCanBeSeen() async throws {
        let site = try await StoreSite.make()
        var form = FormParameters()
        try form.read(Array("registrationToken=device-token-1&mobileAppUuid=k&userKey=ada&colour=dark%20blue".utf8))
        let placed = try PlacedRegistration(
            DeviceRegistration(form, platform: .android),
            application: 1,
            declarations: ApplicationDeclarations()
        )
        _ = try await site.store.register([placed])
        try await register(site, "2")
        #expect(
            try await site.value("SELECT string_agg(extra::text, ' ' ORDER BY id) FROM pushmta.subscription")
                == #"{"colour": "dark blue"} {}"#
        )
    }
}
