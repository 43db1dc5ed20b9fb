import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Seed addresses whose device belonged to a subscriber")
struct SeedOfSubscriberTests {
    private static let token = String(repeating: "ab", count: 32)

    private func world() async throws -> (StoreFixture, delivery: Int64) {
        let fixture = try await StoreFixture.make()
        try await fixture.store.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-ios-2",
                platform: .ios,
                integrationKey: "ios-key-2",
                bundleID: "com.shop.two",
                account: "apns"
            )
        )
        let delivery = try await fixture.store.createDelivery(
            NewDelivery(label: "sale", applications: ["shop-ios"], content: #"{"ios": {"title": "x"}}"#)
        )
        return (fixture, delivery)
    }

    private func register(_ fixture: StoreFixture, _ application: String = "shop-ios", user: String = "u1") async throws
    {
        let rows = AsyncStream { continuation in
            continuation.yield([ImportRow(line: 1, pushToken: Self.token, userKey: user)])
            continuation.finish()
        }
        var options = ImportOptions()
        options.age = .now
        options.bringsBack = Set(ImportState.allCases)
        _ = try await fixture.store.importSubscriptions(application: application, rows: rows, options: options)
    }

    private func seed(_ fixture: StoreFixture, _ name: String = "lab") async throws -> Int64 {
        try await fixture.store.addSeed(
            NewSeed(name: name, application: "shop-ios", address: .pushToken(Self.token.uppercased()))
        )
    }

    private func refusal(_ body: () async throws -> Void) async -> StoreError? {
        do { try await body() } catch { return error as? StoreError }
        return nil
    }

    @Test(
        "The token of a person who gets no messages cannot be a seed address, for any reason and in any application",
        arguments: [
            ("enabled = false, disabled_reason = 'opt_out'", "shop-ios", "opt_out"),
            ("enabled = false", "shop-ios", "disabled"), ("opted_out = true", "shop-ios", "opted_out"),
            ("quarantine_status = 2", "shop-ios", "quarantine"),
            ("enabled = false, disabled_reason = 'token_invalid', quarantine_status = 2", "shop-ios", "quarantine"),
            ("opted_out = true", "shop-ios-2", "opted_out"),
        ]
    )
    func refused(_ change: String, _ application: String, _ reason: String) async throws {
        let (fixture, _) = try await world()
        try await register(fixture, application)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET \(change)")
        let error = await refusal { _ = try await seed(fixture) }
        #expect(error?.code == .invalid && error?.message.contains(reason) == true)
        #expect(error?.message.contains(Self.token) == false)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription") == 1)
        #expect(try await fixture.store.seeds().isEmpty)
        // The device registers again for another person: it may be used for tests.
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = false, quarantine_status = 0")
        try await register(fixture, application, user: "u2")
        _ = try await seed(fixture)
        #expect(try await fixture.store.seeds().map(\.seed.problem) == [""])
    }

    @Test("A person who subscribes after the seed address was added and opts out gets no proof, not even one under way")
    func optedOutLater() async throws {
        let (fixture, delivery) = try await world()
        let store = fixture.store
        let id = try await seed(fixture)
        let early = try await store.createProof(of: delivery, to: ProofAddresses(seeds: ["lab"]))
        #expect(try await fixture.prepare().messages == 1)
        let late = try await store.createProof(of: delivery, to: ProofAddresses(subscriptionIDs: [id]))
        try await register(fixture)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE user_key = 'u1'")

        // Prepared proofs are not sent, created ones are not prepared, and no more are created.
        let part = try required(try await fixture.claim().first { $0.deliveryID == early })
        #expect(try await store.loadPart(part, fieldNames: []).decisions == [.disabled])
        #expect(try await fixture.prepare() == (0, 1, 0))
        #expect(try await store.deliveryProgress(late).excluded == 1)
        for addresses in [
            ProofAddresses(seeds: ["lab"]), ProofAddresses(subscriptionIDs: [id]),
            ProofAddresses(pushTokens: [Self.token]),
        ] {
            let error = await refusal { _ = try await store.createProof(of: delivery, to: addresses) }
            #expect(error?.code == .invalid && error?.message.contains("opted_out") == true)
        }
        #expect(try await store.seeds().map(\.seed.problem) == ["opted_out"])
        #expect(
            await refusal { _ = try await store.createProof(of: delivery, to: nil) }?
                .message.contains("has no recipient") == true
        )
        #expect(try await store.loadSubscription(id, MessageFields(names: [])).decisions == [.disabled])
        // The marketing role sees the reason.
        let marketing = try await fixture.database.connect()
        try await marketing.run(script: "SET ROLE pushmta_marketing")
        let seen = try await marketing.execute(PostgresStatement("SELECT problem FROM pushmta.seed", prepare: false))
        #expect(try seen.text(0, 0) == "opted_out")
        await marketing.close()
    }
}
