import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Seed addresses that get the delivery itself")
struct DeliverySeedTests {
    private static let token = String(repeating: "ab", count: 32)
    private static let name = MessageFields(names: ["firstName"])

    /// Ten subscribers, of which the second is in no target, and a seed address that is not one of them.
    private struct World {
        let fixture: StoreFixture
        let rows: [SubscriptionRow]
        let lab: Int64

        var store: Store { fixture.store }

        func seed(_ name: String, _ address: Addressee, _ firstName: String? = nil) async throws -> Int64 {
            let variables = firstName.map { #"{"firstName": "\#($0)"}"# }
            return try await store.addSeed(
                NewSeed(name: name, application: "shop-ios", address: address, variables: variables)
            )
        }

        /// A delivery to all but the second subscriber.
        func delivery(toAll: Bool = false) async throws -> Int64 {
            let id = try await store.createDelivery(
                NewDelivery(
                    label: "sale",
                    applications: ["shop-ios"],
                    content: #"{"ios": {"title": "{{firstName}}"}}"#
                )
            )
            if toAll { return id }
            try await store.setTarget(ofDelivery: id, DeliveryTarget(filter: "subscription_id != \(rows[1].id)"))
            return id
        }

        /// The numbers of a delivery's messages to seed addresses, with their addressees.
        func seeds(_ id: Int64) async throws -> [String] {
            let connection = try await fixture.database.connect()
            let result = try await connection.execute(
                PostgresStatement(
                    """
                    SELECT sequence || ' ' || subscription_id FROM pushmta.message_status
                    WHERE delivery_id = $1 AND is_seed ORDER BY sequence
                    """,
                    [.int64(id)]
                )
            )
            await connection.close()
            return try (0..<result.rowCount).map { try result.text($0, 0) }
        }
    }

    private func world() async throws -> World {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 10)
        let rows = try await fixture.store.subscriptions(application: "shop-ios").sorted { $0.id < $1.id }
        let lab = try await fixture.store.addSeed(
            NewSeed(
                name: "lab",
                application: "shop-ios",
                address: .pushToken(Self.token),
                variables: #"{"firstName": "Lab"}"#
            )
        )
        return World(fixture: fixture, rows: rows, lab: lab)
    }

    @Test("A seed's own subscription belongs to no user: no delivery sends to it, excludes it or counts it")
    func isNobody() async throws {
        let world = try await world()
        for onePerUser in [false, true] {
            let id = try await world.fixture.startedDelivery(onePerUser: onePerUser)
            #expect(try await world.fixture.prepare() == (10, 0, 1))
            #expect(try await world.store.deliveryProgress(id).seeds == 0)
        }
        try await world.store.removeSeed(named: "lab")
        let id = try await world.fixture.startedDelivery()
        #expect(try await world.fixture.prepare() == (10, 0, 1))
        #expect(try await world.store.exclusionCounts(delivery: id).isEmpty)
        // A delivery that names it reports why nothing is sent.
        let named = try await world.fixture.startedDelivery(explicit: true)
        try await world.store.addTargets([ExplicitTarget(.subscription(world.lab))], toDelivery: named)
        try await world.store.startDelivery(named)
        #expect(try await world.fixture.prepare() == (0, 1, 0))
        #expect(try await world.store.exclusionCounts(delivery: named).map(\.reason) == ["seed"])
    }

    @Test("Named seed addresses get it once, with their values and the last numbers; retries keep these")
    func named() async throws {
        let world = try await world()
        let store = world.store
        _ = try await world.seed("reached", .subscription(world.rows[0].id), "Anna")
        _ = try await world.seed("beside", .subscription(world.rows[1].id), "Bea")
        _ = try await world.seed("other", .subscription(world.rows[1].id), "not named")
        let id = try await world.delivery()
        try await store.setSeeds(ofDelivery: id, ["lab", "reached", "beside"])
        #expect(try await store.targeting(ofDelivery: id).seeds == ["lab", "reached", "beside"])
        try await store.startDelivery(id)
        #expect(try await world.fixture.prepare() == (11, 0, 2))
        let progress = try await store.deliveryProgress(id)
        #expect(progress.target == 11 && progress.seeds == 2 && progress.prepared)
        #expect(try await world.seeds(id) == ["10 \(world.lab)", "11 \(world.rows[1].id)"])
        #expect(try await world.fixture.assertEquation(id))

        let parts = try await world.fixture.claim(limit: 5)
        for part in parts {
            let loaded = try await store.loadPart(part, Self.name)
            #expect(loaded.decisions.allSatisfy { $0 == .sendable })
            let isOfSeeds = loaded.subscriptionIDs.contains(world.lab)
            var batch = OutcomeBatch()
            batch.append(part, loaded, rows: 0..<loaded.count - 1, .sent)
            batch.closing = [
                ClosingPart(
                    part: part.id,
                    token: part.fencingToken,
                    retries: [RetrySet(sequences: [loaded.sequences[loaded.count - 1]], delayMilliseconds: 0)]
                )
            ]
            if isOfSeeds {
                #expect((0..<2).map { loaded.fields[0].string($0) } == ["Lab", "Bea"])
            }
            _ = try await store.storeOutcomes(batch)
        }
        let retries = try await world.fixture.claim(limit: 5)
        var names: [String?] = []
        for part in retries {
            let loaded = try await store.loadPart(part, Self.name)
            names.append(loaded.fields[0].string(0))
            var batch = OutcomeBatch()
            batch.append(part, loaded, rows: 0..<1, .failed, reason: "PayloadTooLarge")
            batch.closing = [ClosingPart(part: part.id, token: part.fencingToken)]
            _ = try await store.storeOutcomes(batch)
        }
        #expect(names.count == 2 && names.contains("Bea"))
        #expect(try await store.finishDeliveries() == [id])
        #expect(try await world.seeds(id) == ["10 \(world.lab)", "11 \(world.rows[1].id)"])
        let outcomes = try await store.outcomes(delivery: id, sequences: 1...11)
        #expect(outcomes.count == 11 && outcomes.filter(\.isSeed).map(\.row.sequence) == [10, 11])
        let end = try await store.deliveryProgress(id)
        #expect(end.sent == 9 && end.failed == 2 && end.target == 11 && end.seeds == 2)
        #expect(try await world.fixture.assertEquation(id))
    }

    @Test(
        "All seed addresses that the applications have at the start get it, in parts of the usual size; those of others do not"
    )
    func all() async throws {
        let world = try await world()
        try await world.store.seedSubscriptions(application: "shop-android", count: 3)
        let other = try required(try await world.store.subscriptions(application: "shop-android").first)
        try await world.store.addSeed(NewSeed(name: "android", application: nil, address: .subscription(other.id)))
        var labs = [world.lab]
        for digits in ["01", "02", "03"] {
            labs.append(try await world.seed("lab-" + digits, .pushToken(String(repeating: digits, count: 32))))
        }
        let id = try await world.delivery()
        try await world.store.setSeeds(ofDelivery: id, nil)
        #expect(try await world.store.targeting(ofDelivery: id).seeds == nil)
        try await world.store.startDelivery(id)
        let job = try required(try await world.store.claimDeliveriesToPrepare(host: world.fixture.host).first)
        _ = try await world.seed("late", .pushToken(String(repeating: "04", count: 32)))
        let chunk = try await world.store.prepareChunk(job, partSize: 3)
        #expect(chunk == ChunkResult(messages: 13, excluded: 0, parts: 5, done: true, busy: false))
        #expect(try await world.seeds(id) == zip(10...13, labs).map { "\($0) \($1)" })
        #expect(try await world.fixture.assertEquation(id))
    }

    @Test("A person who gets no messages gets none as a seed address either, nor does a person on an exclusion list")
    func barred() async throws {
        let world = try await world()
        let out = try await world.seed("out", .pushToken(String(repeating: "ef", count: 32)))
        let listed = try await world.seed("of somebody listed", .pushToken(String(repeating: "12", count: 32)))
        for (name, place) in [("quarantine", 1), ("listed", 2), ("disabled", 3)] {
            _ = try await world.seed(name, .subscription(world.rows[place].id))
        }
        let admin = try await world.fixture.database.connect()
        try await admin.run(
            script: """
                INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, opted_out)
                    SELECT application_id, push_token, 'out', true FROM pushmta_engine.subscription WHERE id = \(out);
                INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key)
                    SELECT application_id, push_token, 'listed' FROM pushmta_engine.subscription WHERE id = \(listed);
                UPDATE pushmta_engine.subscription SET quarantine_status = 2 WHERE id = \(world.rows[1].id);
                UPDATE pushmta_engine.subscription SET enabled = false WHERE id = \(world.rows[3].id)
                """
        )
        await admin.close()
        let id = try await world.delivery()
        try await world.fixture.sql(
            """
            INSERT INTO pushmta.delivery_exclusion (delivery_id, subscription_id, user_key)
            VALUES (\(id), \(world.rows[2].id), NULL), (\(id), NULL, 'listed')
            """
        )
        try await world.store.setSeeds(ofDelivery: id, nil)
        try await world.store.startDelivery(id)
        // Seven subscribers and the seed's own subscription. One who opted out, one who is disabled and two on lists
        // are excluded.
        #expect(try await world.fixture.prepare() == (8, 4, 2))
        #expect(try await world.seeds(id) == ["8 \(world.lab)"])
    }

    @Test("A seed's own subscription gets nothing if a subscriber with its token got the message")
    func sameDevice() async throws {
        let world = try await world()
        try await world.fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key)
            SELECT application_id, push_token, 'device' FROM pushmta_engine.subscription WHERE id = \(world.lab)
            """
        )
        for explicit in [false, true] {
            let id = try await explicit ? world.fixture.startedDelivery(explicit: true) : world.delivery(toAll: true)
            if explicit {
                try await world.store.addTargets([ExplicitTarget(.userKey("device"))], toDelivery: id)
            }
            try await world.store.setSeeds(ofDelivery: id, ["lab"])
            try await world.store.startDelivery(id)
            #expect(try await world.fixture.prepare() == (explicit ? 1 : 11, 0, 1))
            #expect(try await world.store.deliveryProgress(id).seeds == 0)
        }
    }

    @Test(
        "Seed addresses are set before the start, belong to the delivery's applications, and are not for continuous deliveries or proofs"
    )
    func refusals() async throws {
        let world = try await world()
        let store = world.store
        try await store.seedSubscriptions(application: "shop-android", count: 1)
        let other = try required(try await store.subscriptions(application: "shop-android").first)
        try await store.addSeed(NewSeed(name: "android", application: nil, address: .subscription(other.id)))
        func refusal(_ id: Int64, _ names: [String]?) async -> String? {
            do { try await store.setSeeds(ofDelivery: id, names) } catch { return (error as? StoreError)?.message }
            return nil
        }
        let id = try await world.delivery(toAll: true)
        #expect(await refusal(99, nil)?.contains("99") == true)
        #expect(await refusal(id, ["lab", "nobody"])?.contains("\"nobody\"") == true)
        #expect(await refusal(id, ["android"])?.contains("shop-android") == true)
        #expect(await refusal(id, ["lab"]) == nil)
        let continuous = try await refused(world.fixture, "SELECT pushmta.make_continuous(\(id))")
        #expect(continuous == "PM007")
        #expect(await refusal(id, []) == nil)
        let proof = try required(try await world.fixture.sql("SELECT pushmta.proof_delivery(\(id), start => false)"))
        #expect(await refusal(proof, nil)?.contains("a proof") == true)
        let started = try await world.fixture.startedDelivery()
        #expect(await refusal(started, nil)?.contains("can no longer") == true)
        try await world.fixture.sql("SELECT pushmta.make_continuous(\(id))")
        #expect(await refusal(id, nil)?.contains("continuous") == true)
        // With the rights of a marketing system.
        let marketing = try await world.fixture.database.connect()
        try await marketing.run(script: "SET ROLE pushmta_marketing")
        let own = try await world.delivery()
        try await marketing.run(script: "SELECT pushmta.set_seeds(\(own))")
        await marketing.close()
        #expect(try await store.targeting(ofDelivery: own).seeds == nil)
    }

    private func refused(_ fixture: StoreFixture, _ sql: String) async throws -> String? {
        do { try await fixture.sql(sql) } catch let error as PostgresError { return error.sqlState }
        return nil
    }
}
