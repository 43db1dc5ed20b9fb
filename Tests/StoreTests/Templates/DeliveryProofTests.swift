import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Seed addresses and proofs of deliveries")
struct DeliveryProofTests {
    private static let token = String(repeating: "ab", count: 32)

    /// Three subscribers, and a delivery that is still being edited.
    private func world() async throws -> (StoreFixture, delivery: Int64, subscriptions: [SubscriptionRow]) {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 1)
        let delivery = try await fixture.store.createDelivery(
            NewDelivery(label: "sale", applications: ["shop-ios"], content: #"{"ios": {"title": "{{firstName}}"}}"#)
        )
        let rows = try await fixture.store.subscriptions(application: "shop-ios").sorted { $0.id < $1.id }
        return (fixture, delivery, rows)
    }

    @Test("A proof of a delivery of one-time codes ignores an opt-out, like the delivery")
    func proofOfCodes() async throws {
        let (fixture, delivery, rows) = try await world()
        let store = fixture.store
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true")
        try await store.setOneTimeCode(delivery, true)
        let proof = try await store.createProof(
            of: delivery,
            to: try await store.proofAddresses([String(rows[0].id)])
        )
        #expect(try await store.deliveryProgress(proof).isOneTimeCode)
        #expect(try await fixture.prepare().messages == 1)
    }

    @Test("A proof of a variant has its content and its label; one of a variant that does not exist is refused")
    func proofOfVariant() async throws {
        let (fixture, delivery, rows) = try await world()
        let store = fixture.store
        try await fixture.sql(
            """
            DO $$ BEGIN PERFORM pushmta.set_experiment(\(delivery), '[{"percent": 50}, {"percent": 50, "label": "emoji",
                "content": {"ios": {"title": "Hi"}}}]'); END $$
            """
        )
        let address = try await store.proofAddresses([String(rows[0].id)])
        let proof = try await store.createProof(of: delivery, variant: 2, to: address)
        #expect(try await store.deliveryProgress(proof).label == "Proof: sale, emoji")
        #expect(try await store.deliveryForPreview(proof).content == #"{"ios": {"title": "Hi"}}"#)
        let first = try await store.createProof(of: delivery, variant: 1, to: address, start: false)
        #expect(try await store.deliveryForPreview(first).content.contains("firstName"))
        let refusal = await #expect(throws: StoreError.self) {
            _ = try await store.createProof(of: delivery, variant: 3, to: address)
        }
        #expect(refusal?.sqlState == "PM331" && refusal?.code == .notFound)
    }

    @Test("A proof goes to seeds, subscriptions and tokens while its delivery is being edited, and has its own counts")
    func proof() async throws {
        let (fixture, delivery, rows) = try await world()
        let store = fixture.store
        try await store.addSeed(
            NewSeed(
                name: "anna",
                application: "shop-ios",
                address: .userKey(rows[0].userKey),
                variables: #"{"firstName": "Anna"}"#
            )
        )
        let seedOnly = try await store.addSeed(
            NewSeed(name: "lab", application: "shop-ios", address: .pushToken(Self.token.uppercased()), locale: "fr")
        )
        let words = ["anna", "lab", String(rows[1].id), rows[2].pushToken.uppercased()]
        let proof = try await store.createProof(of: delivery, to: try await store.proofAddresses(words))
        #expect(try await store.deliveryProgress(delivery).state == .editing)
        #expect(try await store.deliveryProgress(proof).label == "Proof: sale")
        let made = try await fixture.prepare()
        #expect(made.messages == 4 && made.excluded == 0)
        let part = try required(try await fixture.claim().first)
        let loaded = try await store.loadPart(part, MessageFields(names: ["firstName"], withLocale: true))
        #expect(loaded.subscriptionIDs == [rows[0].id, seedOnly, rows[1].id, rows[2].id])
        #expect(loaded.decisions == [.sendable, .sendable, .sendable, .sendable])
        #expect(loaded.tokens.string(1) == Self.token)
        #expect(loaded.fields[0].string(0) == "Anna" && loaded.fields[0].isNull(1) && !loaded.fields[0].isNull(2))
        #expect((0..<4).map { loaded.locales.string($0) } == ["en", "fr", "en", "en"])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<4, .sent)
        batch.closing = [ClosingPart(part: part.id, token: 1)]
        _ = try await store.storeOutcomes(batch)
        #expect(try await store.finishDeliveries() == [proof])
        #expect(try await fixture.assertEquation(proof))
        // The delivery itself goes to its subscribers, not to the seed's own subscription, and has no message of the
        // proof.
        try await store.startDelivery(delivery)
        #expect(try await fixture.prepare().messages == 3)
        #expect(try await store.deliveryProgress(delivery).target == 3)
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta.delivery_proof WHERE delivery_id = \(delivery) AND proof_id = \(proof) AND sent = 4"
            ) == 1
        )
    }

    @Test("A seed's own subscription is in no delivery that names it, and in no proof once the seed is removed")
    func seedOnly() async throws {
        let (fixture, delivery, _) = try await world()
        let store = fixture.store
        let id = try await store.addSeed(NewSeed(name: "lab", application: "shop-ios", address: .pushToken(Self.token)))
        // The same subscription again, under another name.
        #expect(
            try await store.addSeed(NewSeed(name: "lab 2", application: "shop-ios", address: .pushToken(Self.token)))
                == id
        )
        let explicit = try await fixture.startedDelivery(explicit: true)
        try await fixture.sql(
            "INSERT INTO pushmta.delivery_target (delivery_id, subscription_id) VALUES (\(explicit), \(id))"
        )
        try await store.startDelivery(explicit)
        #expect(try await fixture.prepare() == (0, 1, 0))
        let proof = try await store.createProof(of: delivery, to: nil)
        // Two seeds, one message: both are the same device.
        #expect(try await fixture.prepare().messages == 1)
        try await store.removeSeed(named: "lab")
        #expect(try await store.seeds().map(\.seed.problem) == [""])
        try await store.removeSeed(named: "lab 2")
        let part = try required(try await fixture.claim().first { $0.deliveryID == proof })
        #expect(try await store.loadPart(part, fieldNames: []).decisions == [.disabled])
        // The device registers: from now on it is a subscriber.
        try await store.addSeed(NewSeed(name: "lab", application: "shop-ios", address: .subscription(id)))
        #expect(try await store.seeds().map(\.seed.problem) == ["disabled"])
        let rows = AsyncStream { continuation in
            continuation.yield([ImportRow(line: 1, pushToken: Self.token)])
            continuation.finish()
        }
        _ = try await store.importSubscriptions(application: "shop-ios", rows: rows)
        #expect(try await store.seeds().map(\.seed.problem) == [""])
        #expect(try await store.seeds().map(\.seed.isSeedOnly) == [false])
    }

    @Test("Invalid seeds and proofs are refused with the reason, without the token")
    func refusals() async throws {
        let (fixture, delivery, rows) = try await world()
        let store = fixture.store
        func refusal(_ body: () async throws -> Void) async -> StoreError? {
            do { try await body() } catch { return error as? StoreError }
            return nil
        }
        func seed(_ name: String, _ application: String?, _ address: Addressee) async -> StoreError? {
            await refusal { try await store.addSeed(NewSeed(name: name, application: application, address: address)) }
        }
        #expect(await seed("12", nil, .subscription(rows[0].id))?.code == .invalid)
        #expect(await seed("a,b", nil, .subscription(rows[0].id))?.code == .invalid)
        #expect(await seed("a", nil, .pushToken(Self.token))?.code == .notFound)
        #expect(await seed("a", "shop-ios", .pushToken("zz"))?.message.contains("zz") == false)
        #expect(await seed("a", "shop-android", .pushToken("short"))?.code == .invalid)
        #expect(await seed("a", "shop-ios", .userKey("nobody"))?.code == .invalid)
        #expect(await seed("a", "shop-android", .subscription(rows[0].id))?.code == .invalid)
        #expect(await seed("a", nil, .subscription(rows[0].id)) == nil)
        #expect(await seed("a", nil, .subscription(rows[1].id))?.code == .conflict)

        func proof(_ addresses: ProofAddresses?, of id: Int64? = nil) async -> StoreError? {
            await refusal { _ = try await store.createProof(of: id ?? delivery, to: addresses) }
        }
        #expect(await proof(nil, of: 99)?.code == .notFound)
        #expect(await proof(ProofAddresses())?.hint?.contains("seed add") == true, "an empty list is not everybody")
        #expect(await proof(ProofAddresses(seeds: ["b"]))?.code == .notFound)
        let foreign = try required(try await store.subscriptions(application: "shop-android").first)
        #expect(
            await proof(ProofAddresses(subscriptionIDs: [foreign.id]))?.message.contains(String(foreign.id)) == true
        )
        let unknown = await proof(
            ProofAddresses(subscriptionIDs: [rows[0].id], pushTokens: [rows[1].pushToken, Self.token])
        )
        #expect(unknown?.message.contains("number 2") == true && unknown?.message.contains(Self.token) == false)
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery") == 1,
            "a refused proof leaves nothing"
        )
        #expect(await refusal { try await store.removeSeed(named: "b") }?.code == .notFound)
    }

    @Test("A message is shown for a seed, a subscription or a token of the applications")
    func preview() async throws {
        let (fixture, delivery, rows) = try await world()
        let store = fixture.store
        try await store.addSeed(
            NewSeed(name: "anna", address: .subscription(rows[0].id), variables: #"{"firstName": "Anna"}"#)
        )
        let applications = try await store.job(delivery).applications.map(\.id)
        let seed = try await store.previewAddress("anna", applications: applications)
        #expect(seed.subscriptionID == rows[0].id)
        #expect(
            try await store.previewAddress(rows[1].pushToken, applications: applications).subscriptionID == rows[1].id
        )
        #expect(
            try await store.previewAddress(String(rows[2].id), applications: applications).subscriptionID == rows[2].id
        )
        let foreign = try required(try await store.subscriptions(application: "shop-android").first)
        for word in [String(foreign.id), foreign.pushToken, "nobody", "999"] {
            await #expect { try await store.previewAddress(word, applications: applications) } throws: {
                ($0 as? StoreError)?.code == .notFound
            }
        }
        let fields = MessageFields(names: ["firstName", "city", "nothing"], withLocale: true)
        let loaded = try await store.loadSubscription(seed.subscriptionID, fields, variables: seed.variables)
        #expect(loaded.count == 1 && loaded.tokens.string(0) == rows[0].pushToken && loaded.locales.string(0) == "en")
        #expect(loaded.fields[0].string(0) == "Anna" && !loaded.fields[1].isNull(0) && loaded.fields[2].isNull(0))
        let plain = try await store.deliveryForPreview(delivery)
        #expect(plain.state == .editing && plain.trackingKey == Array(repeating: 0, count: 16))
        try await store.startDelivery(delivery)
        let started = try await store.deliveryForPreview(delivery)
        #expect(started.trackingKey == (try await store.deliveryForSending(delivery)).trackingKey)
    }
}
