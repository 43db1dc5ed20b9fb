import Crypto
import Foundation
import PostgresClient
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// A failure of one delivery is reported where operators look, and affects no other delivery.
@Suite struct BadDeliveryTests {
    @Test func oneBadDeliverySpoilsNoOther() async throws {
        try await DeliverySite.with { site in
            let bare = try await site.send(to: try await site.add("bare", account: site.application))
            let long = try await site.send(
                #"{"ios":{"title":"\#(String(repeating: "x", count: 5_000))"}}"#,
                to: site.application
            )
            let mixed = try await site.send(
                #"{"ios":{"title":"{{nickname|\#(String(repeating: "x", count: 5_000))}}"}}"#,
                to: site.application
            )
            let good = try await site.send(to: site.application)

            let missing = try await site.progress(bare)
            #expect(missing.state == .editing)
            #expect(missing.stateReason.contains("bare") && missing.stateReason.contains("credential set"))
            let tooLong = try await site.progress(long)
            #expect(tooLong.state == .editing)
            #expect(tooLong.stateReason.contains("4096"))
            let tried = try await site.progress(mixed)
            #expect(tried.state == .editing && tried.target == 0)
            let problems = try await site.store.problems(ofDelivery: mixed)
            #expect(problems.count == 1 && problems.first?.problem.contains("50 of 50") == true, "\(problems)")
            let sent = try await site.progress(good)
            #expect(sent.state == .finished && sent.sent == 50)
        }
    }

    @Test func aStartFindsWhatIsTooLongBehindTheFirstThousand() async throws {
        try await DeliverySite.with { site in
            try await site.store.seedSubscriptions(application: site.application, count: 3_950)
            let connection = try await PostgresConnection.connect(
                StoreSession.configuration(site.settings, role: "test")
            )
            _ = try await connection.execute(
                PostgresStatement(
                    """
                    UPDATE pushmta_engine.subscription s SET parameters = jsonb_strip_nulls(jsonb_build_object(
                        'nickname', repeat('x', 5000), 'motto', CASE WHEN n.line = 2000 THEN repeat('x', 5000) END))
                    FROM (SELECT o.id, row_number() OVER (ORDER BY o.id) AS line FROM pushmta_engine.subscription o
                        JOIN pushmta_engine.application a ON a.id = o.application_id WHERE a.name = '\(site.application)') n
                    WHERE s.id = n.id AND n.line > 1000
                    """,
                    prepare: false
                )
            )
            await connection.close()
            let many = try await site.send(#"{"ios":{"title":"{{nickname|you}}"}}"#, to: site.application)
            let one = try await site.send(#"{"ios":{"title":"{{motto|none}}"}}"#, to: site.application)

            let returned = try await site.progress(many)
            #expect(returned.state == .editing && returned.target == 0)
            let problems = try await site.store.problems(ofDelivery: many)
            #expect(problems.count == 1 && problems.first?.problem.contains("larger than") == true, "\(problems)")
            // What is too long for one person is not the content's fault.
            let sent = try await site.progress(one)
            #expect(sent.state == .finished && sent.sent == 3_999 && sent.failed == 1)
        }
    }

    @Test func aGatewayThatRefusesOrIsAwayLosesNothing() async throws {
        try await DeliverySite.with { site in
            let wrong = try await site.add("wrong", account: site.application)
            let key = try TemporaryFolder()
            let file = try key.write(P256.Signing.PrivateKey().pemRepresentation, to: "AuthKey_ABCDE12345.p8")
            let material = try CredentialMaterial(file: file, platform: .ios, teamID: "ABCDE12345")
            try await CredentialWriter(store: site.store, settings: site.settings).save(material, application: wrong)
            _ = try await site.store.createAccount(name: "away", connector: .iosHTTP2, host: "127.0.0.1", port: 1)
            let away = try await site.add("away", account: "away")
            try await CredentialWriter(store: site.store, settings: site.settings).save(material, application: away)

            let refused = try await site.send(to: wrong)
            let unreached = try await site.send(to: away)
            let good = try await site.send(to: site.application)

            #expect(try await site.progress(good).sent == 50)
            try await site.wait {
                let health = try await site.store.applicationHealth()
                return health.contains { $0.state != .closed && $0.reason.contains("InvalidProviderToken") }
                    && health.contains { $0.state == .closed && $0.reason.contains("127.0.0.1:1") }
            }
            for id in [refused, unreached] {
                let kept = try await site.progress(id) { $0.prepared }
                #expect(kept.pending == 20 && kept.failed == 0)
            }
            let list = try await site.run("app", "list", "--json").rows()
            let row = try #require(list.first { $0["name"] as? String == wrong })
            #expect(row["circuit"] as? String != "closed")
            #expect((row["circuit_reason"] as? String)?.contains("InvalidProviderToken") == true)
            #expect((row["circuit_remedy"] as? String)?.isEmpty == false)
            #expect(row["next_probe_s"] is Double)
        }
    }
}
