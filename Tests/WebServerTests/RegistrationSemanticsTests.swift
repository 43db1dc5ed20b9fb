import Content
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// The effects of registrations on stored rows, in their order of arrival.
@Suite struct RegistrationSemanticsTests {
    private func registration(
        _ token: String,
        user: String = "ada",
        device: String? = nil,
        application: Int32 = 1,
        parameters: String? = nil
    ) throws -> PlacedRegistration {
        var form = FormParameters()
        var text = "registrationToken=\(token)&mobileAppUuid=k&userKey=\(user)"
        if let device { text += "&deviceImei=\(device)" }
        try form.read(Array(text.utf8))
        var placed = try PlacedRegistration(
            DeviceRegistration(form, platform: .android),
            application: application,
            declarations: ApplicationDeclarations()
        )
        placed.parameters = parameters
        return placed
    }

    private func rows(_ site: StoreSite) async throws -> [String] {
        let text = try await site.value(
            "SELECT string_agg(push_token || ' ' || user_key || ' ' || enabled || ' ' || disabled_reason, ',' ORDER BY s.id) FROM pushmta.subscription s JOIN pushmta.subscription_token t ON t.id = s.id"
        )
        return (text ?? "").split(separator: ",").map { $0.hasSuffix(" ") ? String($0.dropLast()) : String($0) }
    }

    @Test func theSameAgainIsUpdatedAndAnotherUserGetsARowOfHisOwn() async throws {
        let site = try await StoreSite.make()
        _ = try await site.store.register([registration("token-one", parameters: #"{"a": "1"}"#)])
        let again = try await site.store.register([registration("token-one", parameters: #"{"a": "2"}"#)])
        #expect(again == RegistrationReport(created: 0, updated: 1, disabled: 0))
        #expect(try await site.value("SELECT parameters->>'a' FROM pushmta.subscription") == "2")
        let other = try await site.store.register([registration("token-one", user: "bob")])
        #expect(other == RegistrationReport(created: 1, updated: 0, disabled: 1))
        #expect(try await rows(site) == ["token-one ada false token_moved", "token-one bob true"])
        // The first user returns: the row is enabled again, with its previous values.
        let back = try await site.store.register([registration("token-one")])
        #expect(back == RegistrationReport(created: 0, updated: 1, disabled: 1))
        #expect(try await rows(site) == ["token-one ada true", "token-one bob false token_moved"])
        #expect(try await site.value("SELECT parameters->>'a' FROM pushmta.subscription WHERE enabled") == "2")
    }

    @Test func aNewTokenOfAKnownDeviceEndsTheOldOne() async throws {
        let site = try await StoreSite.make()
        _ = try await site.store.register([registration("token-one", device: "d")])
        // The same device id in another application is another device.
        _ = try await site.store.register([registration("token-nine", device: "d", application: 2)])
        let report = try await site.store.register([registration("token-two", device: "d")])
        #expect(report == RegistrationReport(created: 1, updated: 0, disabled: 1))
        #expect(
            try await rows(site) == ["token-one ada false token_renewed", "token-nine ada true", "token-two ada true"]
        )
    }

    /// Any client can send any device id, so a registration never ends another person's row on that device. Only the
    /// gateway's answer does. This holds for a single registration, and for one in the same transaction as that
    /// person's own.
    @Test(arguments: ["bob", ""], [UserKeyClaim.open, .unproven, .proven])
    func aDeviceIDWithAnotherTokenAndUserEndsNobodysAddress(_ user: String, _ claim: UserKeyClaim) async throws {
        for together in [false, true] {
            let site = try await StoreSite.make()
            let ada = try registration("token-one", device: "d")
            let nobody = try registration("token-nine", user: "", device: "d")
            var stranger = try registration("token-two", user: user, device: "d")
            stranger.claim = claim
            if together {
                _ = try await site.store.register([ada, nobody, stranger])
            } else {
                for one in [ada, nobody, stranger] { _ = try await site.store.register([one]) }
            }
            let said = claim == .unproven ? "" : user
            let expected = [
                "token-one ada true", "token-nine  true", said.isEmpty ? "token-two  true" : "token-two \(said) true",
            ]
            #expect(try await rows(site) == expected, "together: \(together)")
            // The same token with another user ends the previous row. Otherwise a message for one person would reach
            // the other.
            stranger = try registration("token-one", user: user, device: "d")
            stranger.claim = claim
            _ = try await site.store.register([stranger])
            #expect(try await rows(site).first == "token-one ada false token_moved", "together: \(together)")
        }
    }

    /// When user keys that only devices reported are removed, two people with the same device id both keep their
    /// address.
    @Test func unlinkingEndsNobodysAddress() async throws {
        let site = try await StoreSite.make()
        for (token, user) in [("token-one", "ada"), ("token-two", "bob")] {
            _ = try await site.store.register([registration(token, user: user, device: "d")])
        }
        try await site.run("SELECT pushmta_engine.unlink_unproven(1, 0, 100)")
        #expect(
            try await rows(site).filter { $0.contains("true") }.sorted() == ["token-one  true", "token-two  true"]
        )
    }

    /// Otherwise each of them would end the previous one, and no SDK sends the same registration again.
    @Test func devicesWithAnIdThatAllHaveDoNotEndEachOther() async throws {
        let site = try await WebSite.start()
        let key = WebSite.androidKey
        for id in ["000000000000000", "9774d56d682e549c", "unknown"] {
            for user in ["ada", "ben", "eve"] {
                let answer = try await site.registerAndroid(
                    "registrationToken=token-of-\(user)-\(id)&mobileAppUuid=\(key)&userKey=\(user)&deviceImei=\(id)"
                )
                #expect(answer.status == 200)
            }
        }
        #expect(try await site.value("SELECT count(*) FROM pushmta.subscription WHERE enabled") == "9")
        try await site.drain()
    }

    @Test func aRegistrationHealsErrorsAndEndsQuarantineButNoOptOut() async throws {
        let site = try await StoreSite.make()
        for status in 1...3 { _ = try await site.store.register([registration("device-token-\(status)")]) }
        try await site.run(
            """
            UPDATE pushmta_engine.subscription SET soft_errors = 3, quarantine_reason = 'r', quarantined_at = now(),
                quarantine_status = right(push_token, 1)::smallint, opted_out = push_token = 'device-token-2',
                registered_at = now() - interval '1 day'
            """
        )
        _ = try await site.store.register((1...3).map { try registration("device-token-\($0)") })
        #expect(
            try await site.value(
                """
                SELECT string_agg(quarantine_status || ' ' || soft_errors || ' ' || opted_out || ' ' || exclusion || ' '
                    || (registered_at > now() - interval '1 minute'), ',' ORDER BY id) FROM pushmta_engine.subscription
                """
            ) == "0 0 false 0 true,0 0 true 2 true,3 0 false 3 true"
        )
    }

    /// In one transaction, the result must be the same as one after the other.
    @Test func manyAtOnceEndAsOneAfterTheOther() async throws {
        let seed = TestRandom.seed(for: "manyAtOnceEndAsOneAfterTheOther")
        var random = TestRandom(seed: seed)
        for round in 0..<8 {
            let together = try await StoreSite.make()
            let apart = try await StoreSite.make()
            for _ in 0..<4 {
                var batch: [PlacedRegistration] = []
                for _ in 0..<Int.random(in: 1...12, using: &random) {
                    let device = Int.random(in: 0...4, using: &random)
                    batch.append(
                        try registration(
                            "device-token-\(Int.random(in: 0...5, using: &random))",
                            user: ["", "u1", "u2"][Int.random(in: 0...2, using: &random)],
                            device: device == 0 ? nil : "d\(device)",
                            application: Int32.random(in: 1...2, using: &random)
                        )
                    )
                }
                _ = try await together.store.register(batch)
                for one in batch { _ = try await apart.store.register([one]) }
                // Rows created and ended within one transaction need not exist: only enabled rows matter.
                let enabled = """
                    SELECT coalesce(string_agg(application_id || ' ' || push_token || ' ' || user_key || ' ' || coalesce(device_id, '-'),
                        ',' ORDER BY application_id, push_token), '') FROM pushmta_engine.subscription WHERE enabled
                    """
                let (left, right) = (try await together.value(enabled), try await apart.value(enabled))
                #expect(left == right, "seed \(seed), round \(round)")
                if left != right { return }
            }
            try await together.database.drop()
            try await apart.database.drop()
        }
    }

    /// Several processes, imports and token events change the same rows: no subscription is lost, and no token is
    /// enabled twice.
    @Test func concurrentRegistrationsOfTheSameTokensAllSucceed() async throws {
        let one = try await WebSite.start()
        let two = try await WebSite.start(database: one.database)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                for (place, site) in [one, two].enumerated() {
                    group.addTask {
                        let answer = try await site.registerAndroid(
                            "registrationToken=device-token-\(number % 20)&mobileAppUuid=testIntegrationKey&userKey=u\((number + place) % 3)&deviceImei=d\(number % 7)"
                        )
                        #expect(answer.status == 200, "\(answer)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(
            try await one.value(
                """
                SELECT max(n) FROM (SELECT count(*) AS n FROM pushmta_engine.subscription
                    WHERE enabled GROUP BY device_id, user_key) d
                """
            ) == "1"
        )
        try await one.drain()
        try await two.drain()
    }

    /// A value that the database refuses does not affect other registrations.
    @Test func oneRefusedValueCostsNobodyElse() async throws {
        let site = try await WebSite.start { $0.registration.batchDelayMs = 200 }
        try await site.run(
            "ALTER TABLE pushmta_engine.subscription ADD CONSTRAINT odd CHECK (user_key <> 'poison')"
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<30 {
                group.addTask {
                    let answer = try await site.registerAndroid(
                        "registrationToken=device-token-\(number)&mobileAppUuid=testIntegrationKey&userKey=\(number == 17 ? "poison" : "u")"
                    )
                    #expect(answer.status == (number == 17 ? 400 : 200), "\(answer)")
                }
            }
            try await group.waitForAll()
        }
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.subscription") == "29")
        try await site.drain()
    }
}
