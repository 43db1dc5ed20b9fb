import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Conditions in SQL")
struct RawFilterTests {
    private func delivery(_ fixture: StoreFixture, onePerUser: Bool = false) async throws -> Int64 {
        try await fixture.store.createDelivery(
            NewDelivery(
                label: "raw",
                applications: ["shop-ios"],
                content: #"{"ios": {"title": "a"}}"#,
                onePerUser: onePerUser
            )
        )
    }

    private func set(_ fixture: StoreFixture, _ id: Int64, _ condition: String) async throws {
        let connection = try await fixture.database.connect()
        try await connection.execute(
            PostgresStatement("SELECT pushmta_raw.set_target_sql($1, $2)", [.int64(id), .text(condition)])
        )
        await connection.close()
    }

    @Test("Only roles with the right may write one")
    func rights() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await delivery(fixture)
        let connection = try await fixture.database.connect()
        let statement = PostgresStatement("SELECT pushmta_raw.set_target_sql($1, 'true')", [.int64(id)], prepare: false)
        for role in ["pushmta_marketing", "pushmta_monitoring", "pushmta_runtime"] {
            try await connection.run(script: "SET ROLE \(role)")
            await #expect { try await connection.execute(statement) } throws: {
                ($0 as? PostgresError)?.sqlState == "42501"
            }
            try await connection.run(script: "RESET ROLE")
        }
        let member = "raw_\(fixture.database.name)"
        try await connection.run(
            script: "CREATE ROLE \(member) IN ROLE pushmta_marketing, pushmta_raw_sql; SET ROLE \(member)"
        )
        try await connection.execute(statement)
        let seen = try await connection.execute(
            PostgresStatement(
                "SELECT has_target_sql FROM pushmta.delivery_targeting WHERE delivery_id = $1",
                [.int64(id)]
            )
        )
        #expect(try seen.bool(0, 0))
        // Only the runtime role may write the column itself.
        await #expect {
            try await connection.execute(
                PostgresStatement("SELECT target_sql FROM pushmta_engine.delivery", prepare: false)
            )
        } throws: { ($0 as? PostgresError)?.sqlState == "42501" }
        try await connection.run(script: "RESET ROLE; DROP ROLE \(member)")
        await connection.close()
    }

    @Test("It selects together with the filter, also for one per user")
    func chooses() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 100)
        let first = try await delivery(fixture)
        try await set(fixture, first, "s.id % 10 = 3 -- those\n OR s.user_key = 'shop-ios-50'")
        try await fixture.store.setTarget(ofDelivery: first, DeliveryTarget(filter: "subscription_id < 60"))
        try await fixture.store.startDelivery(first)
        try await fixture.prepare()
        #expect(try await fixture.targets(first) == Set([3, 13, 23, 33, 43, 53, 50]))
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET user_key = 'u' || id % 10, registered_at = now() + id * interval '1 s'"
        )
        let second = try await delivery(fixture, onePerUser: true)
        try await set(
            fixture,
            second,
            "EXISTS (SELECT FROM pushmta_engine.application a WHERE a.id = s.application_id) AND s.id <= 45"
        )
        try await fixture.store.startDelivery(second)
        try await fixture.prepare()
        #expect(try await fixture.targets(second) == Set(36...45), "their newer subscriptions are not chosen")
    }

    @Test(
        "A text that is not an expression, or would escape its brackets, fails the delivery",
        arguments: [
            "true) OR (true", "true] || ARRAY[true", "true); DROP TABLE pushmta_engine.delivery; --",
            "s.id", "'",
            "true /*", "$9 = 1", "true, false", "SELECT true",
        ]
    )
    func refused(_ condition: String) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 5)
        let id = try await delivery(fixture)
        try await set(fixture, id, condition)
        try await fixture.store.startDelivery(id)
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: "a").first == nil)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .editing && !progress.stateReason.isEmpty, "\(progress)")
    }

    @Test("The delivery waits while an object that it reads is missing, and continues when it is back")
    func missing() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 5)
        let id = try await delivery(fixture)
        try await set(fixture, id, "s.id IN (SELECT c.id FROM public.chosen c)")
        try await fixture.store.startDelivery(id)
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: "a").first == nil)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .pending && progress.waitingReason.contains("public.chosen"), "\(progress)")
        try await fixture.sql("CREATE TABLE chosen AS SELECT 3 AS id")
        try await fixture.endWaits()
        try await fixture.prepare()
        #expect(try await fixture.targets(id) == [3])
    }

    /// Records that a gateway has accepted messages for these subscriptions.
    private func accept(_ fixture: StoreFixture, _ condition: String) async throws {
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription_acceptance (application_id, block, accepted)
            SELECT application_id, id >> 10, bit_or(set_bit(0::bit(1024), (id & 1023)::integer, 1))
            FROM pushmta_engine.subscription WHERE \(condition) GROUP BY 1, 2
            """
        )
    }

    @Test(
        "A registered value for which the condition fails excludes that subscription, and holds up no other",
        arguments: [false, true]
    )
    func ownValue(_ onePerUser: Bool) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 200)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET user_key = 'user-' || id,
                parameters = jsonb_build_object('points', CASE WHEN id IN (70, 71, 199) THEN 'abc' ELSE id::text END)
            """
        )
        try await accept(fixture, "id <= 100")
        let id = try await delivery(fixture, onePerUser: onePerUser)
        try await set(fixture, id, "(s.parameters ->> 'points')::integer > 10")
        try await fixture.store.setTarget(ofDelivery: id, DeliveryTarget(filter: "subscription_id != 12"))
        try await fixture.store.startDelivery(id)
        let made = try await fixture.prepare(partSize: 50, partsPerChunk: 1)
        #expect(made.messages == 186 && made.excluded == 3)
        #expect(try await fixture.targets(id) == Set(11...200).subtracting([12, 70, 71, 199]))
        let excluded = """
            SELECT count(*) FROM pushmta.exclusion_log WHERE delivery_id = \(id) AND reason = 'condition_failed'
                AND subscription_id IN (70, 71, 199)
            """
        #expect(try await fixture.sql(excluded) == 3)
        #expect(try await fixture.store.deliveryProgress(id).waitingReason.isEmpty)
        #expect(try await fixture.assertEquation(id))
    }

    @Test(
        "Any number of strangers' values hold nothing up; only values of tokens that have worked count against the condition"
    )
    func strangers() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await store.seedSubscriptions(application: "shop-ios", count: 400)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET parameters = jsonb_build_object('points',
                CASE WHEN id > 100 THEN 'abc' ELSE id::text END)
            """
        )
        try await accept(fixture, "id <= 100")
        let id = try await delivery(fixture)
        try await set(fixture, id, "(s.parameters ->> 'points')::integer > 0")
        try await store.startDelivery(id)
        let made = try await fixture.prepare(partSize: 50, partsPerChunk: 4)
        #expect(made.messages == 100 && made.excluded == 300)
        // If no token has worked yet, all count.
        try await fixture.sql("DELETE FROM pushmta_engine.subscription_acceptance")
        let second = try await delivery(fixture)
        try await set(fixture, second, "(s.parameters ->> 'points')::integer > 0")
        try await store.startDelivery(second)
        let job = try required(try await store.claimDeliveriesToPrepare(host: fixture.host).first)
        do {
            while try await !store.prepareChunk(job, partSize: 50, partsPerChunk: 20).done {}
            Issue.record("It was prepared.")
        } catch {
            guard case .waits(let reason, isTimeout: false) = store.decision(on: error, of: job) else {
                Issue.record("\(error)")
                return
            }
            #expect(
                reason.contains("for 100 of 100 subscriptions") && reason.contains("22P02") && !reason.contains("abc")
            )
        }
        #expect(try await fixture.targets(second) == Set(1...100), "what could be prepared is sent meanwhile")
    }

    @Test(
        "A condition that fails for many makes the delivery wait, and does not fail it",
        arguments: [false, true]
    )
    func values(_ onePerUser: Bool) async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await store.seedSubscriptions(application: "shop-ios", count: 100)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET user_key = 'user-' || id,
                parameters = jsonb_build_object('points', CASE WHEN id BETWEEN 70 AND 80 THEN 'abc' ELSE id::text END)
            """
        )
        let id = try await delivery(fixture, onePerUser: onePerUser)
        try await set(fixture, id, "(s.parameters ->> 'points')::integer > 10")
        try await store.startDelivery(id)
        let job = try required(try await store.claimDeliveriesToPrepare(host: fixture.host).first)
        _ = try await store.prepareChunk(job, partSize: 50, partsPerChunk: 1)
        var reason = ""
        do {
            _ = try await store.prepareChunk(job, partSize: 50, partsPerChunk: 1)
        } catch {
            if case .waits(let words, isTimeout: false) = store.decision(on: error, of: job) { reason = words }
        }
        #expect(reason.contains("condition in SQL") && reason.contains("22P02") && !reason.contains("abc"))
        try await store.postponePreparation(id, reason: reason)
        let progress = try await store.deliveryProgress(id)
        #expect(progress.state == .preparing && progress.waitingReason == reason && progress.target == 40)
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET parameters = '{\"points\": \"7\"}' WHERE id BETWEEN 70 AND 80"
        )
        try await fixture.sql("UPDATE pushmta_engine.delivery SET wait_until = now() - interval '1 s'")
        try await fixture.prepare()
        #expect(try await fixture.targets(id) == Set(11...100).subtracting(70...80))
    }

    @Test("A condition that takes too long makes the delivery wait")
    func slow() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await store.seedSubscriptions(application: "shop-ios", count: 10)
        let id = try await delivery(fixture)
        try await set(fixture, id, "pg_sleep(600) IS NOT NULL")
        try await store.startDelivery(id)
        let job = try required(try await store.claimDeliveriesToPrepare(host: fixture.host).first)
        var decision = PreparationDecision.passes
        do {
            _ = try await store.prepareChunk(job, timeout: .milliseconds(50))
        } catch {
            decision = store.decision(on: error, of: job)
        }
        guard case .waits(let reason, isTimeout: true) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(reason.contains("its condition in SQL does not answer in time") && reason.contains("57014"))
    }
}
