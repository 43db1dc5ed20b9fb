import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Addressees of lists and seed addresses")
struct AddresseeFormTests {
    private func refusal(_ body: () async throws -> Void) async -> StoreError? {
        do { try await body() } catch { return error as? StoreError }
        return nil
    }

    @Test("An unknown id or token is not added to a list, nor is anything else of the call")
    func exclusions() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await store.createExclusionList(name: "vip")
        for wrong in [
            Addressees(userKeys: ["u"], subscriptionIDs: [7, -1]), Addressees(subscriptionIDs: [0]),
            Addressees(userKeys: ["u"], pushTokens: ["abc"]), Addressees(pushTokens: ["with a blank"]),
            Addressees(pushTokens: [String(repeating: "x", count: 2_001)]),
        ] {
            let found = await refusal { try await store.addExclusions(list: "vip", wrong) }
            #expect(found?.code == .invalid && found?.sqlState == "PM053" && found?.hint != nil, "\(wrong)")
            #expect(found?.message.contains("abc") == false)
        }
        #expect(try await store.exclusions(list: "vip", limit: 10).isEmpty)
        let right = Addressees(subscriptionIDs: [1], pushTokens: ["70757368546F6B656E"])
        #expect(try await store.addExclusions(list: "vip", right) == 2)
        let id = try await store.createDelivery(
            NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        await #expect {
            try await store.exclude(Addressees(subscriptionIDs: [-1]), fromDelivery: id)
        } throws: {
            ($0 as? PostgresError)?.constraint == "delivery_exclusion_address_form"
        }
    }

    @Test("A seed address accepts the same tokens and locales as an import, and reports problems")
    func seeds() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        let hex = String(repeating: "ab", count: 32)
        let android = String(repeating: "x:Y_-", count: 30)
        let wrong: [(String, String, String)] = [
            ("shop-android", hex, ""), ("shop-ios", hex + "0", ""), ("shop-ios", String(hex.dropLast(2)), ""),
            ("shop-android", android + " ", ""), ("shop-android", String(repeating: "x", count: 2_001), ""),
            ("shop-ios", hex, "!!"), ("shop-ios", hex, String(repeating: "a", count: 65)),
        ]
        for (application, token, locale) in wrong {
            let platform: Platform = application == "shop-ios" ? .ios : .android
            #expect((PushTokenForm.problem(token, platform) == nil) == !locale.isEmpty)
            let found = await refusal {
                try await store.addSeed(
                    NewSeed(name: "lab", application: application, address: .pushToken(token), locale: locale)
                )
            }
            #expect(
                found?.code == .invalid && found?.message.contains(token) == false,
                "\(application) \(token) \(locale)"
            )
        }
        #expect(try await store.seeds().isEmpty)
        for (name, application, token) in [("one", "shop-ios", hex), ("two", "shop-android", android)] {
            try await store.addSeed(
                NewSeed(name: name, application: application, address: .pushToken(token), locale: "fr-CA")
            )
        }
    }

    @Test("A proof names the seed address of another application, and not its subscription's number")
    func proofs() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await store.addSeed(
            NewSeed(name: "anna", application: "shop-ios", address: .pushToken(String(repeating: "ab", count: 32)))
        )
        let id = try await store.createDelivery(
            NewDelivery(
                label: String(repeating: "l", count: 500),
                applications: ["shop-android"],
                content: #"{"android": {"title": "a"}}"#
            )
        )
        let found = await refusal { _ = try await store.createProof(of: id, to: ProofAddresses(seeds: ["anna"])) }
        #expect(
            found?.message.contains(#""anna" belongs to application "shop-ios""#) == true,
            "\(found?.description ?? "")"
        )
        try await store.addSeed(
            NewSeed(
                name: "ben",
                application: "shop-android",
                address: .pushToken(String(repeating: "x:Y_-", count: 30))
            )
        )
        let proof = try await store.createProof(of: id, to: ProofAddresses(seeds: ["ben"]))
        #expect(try await store.deliveryProgress(proof).label.count == 500, "a proof has a label, too")
    }

    @Test("No subscription is made with a token that an index could not hold; a gateway's replacement stays possible")
    func stored() async throws {
        let fixture = try await StoreFixture.make()
        let connection = try await fixture.database.connect()
        let insert = "INSERT INTO pushmta_engine.subscription (application_id, push_token) VALUES"
        for token in ["'a b'", "repeat('x', 2001)", #"E'a\n'"#, "'é'"] {
            await #expect {
                try await connection.run(script: "\(insert) (1, \(token))")
            } throws: {
                let error = $0 as? PostgresError
                return error?.constraint == "subscription_push_token_form" && error?.sqlState == "23514"
            }
        }
        try await connection.run(
            script:
                "\(insert) (1, repeat('x', 2000)); UPDATE pushmta_engine.subscription SET push_token = 'from-a-gateway'"
        )
        await connection.close()
    }
}
