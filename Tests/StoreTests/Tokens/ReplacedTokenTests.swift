import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Replaced tokens")
struct ReplacedTokenTests {
    /// Subscriptions 1 to 4 with the tokens t1 to t4, registered one after the other, an hour apart.
    private func fixture() async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, registered_at)
            SELECT 1, 't' || g, 'u' || g, now() - interval '1 day' + g * interval '1 hour' FROM generate_series(1, 4) g
            """
        )
        _ = try await fixture.startedDelivery()
        return fixture
    }

    private func event(_ fixture: StoreFixture, _ subscription: Int, _ token: String) async throws {
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, delivery_id, new_token)
            SELECT 1, \(subscription), 'canonical', id, '\(token)' FROM pushmta_engine.delivery
            """
        )
    }

    /// The state of a subscription.
    private func has(_ fixture: StoreFixture, _ subscription: Int, _ condition: String) async throws -> Bool {
        try await fixture.sql(
            "SELECT count(*) FROM pushmta_engine.subscription WHERE id = \(subscription) AND \(condition)"
        ) == 1
    }

    private func events(_ fixture: StoreFixture, _ state: String) async throws -> Int64? {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_event WHERE state = '\(state)'")
    }

    private func delivery(_ fixture: StoreFixture) async throws -> Int64 {
        try required(try await fixture.sql("SELECT id FROM pushmta_engine.delivery"))
    }

    @Test("They come with the outcome of the message, and the subscription gets the new one")
    func withTheOutcome() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 3)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(
            part: part.id,
            token: part.fencingToken,
            sequence: loaded.sequences[1],
            subscriptionID: loaded.subscriptionIDs[1],
            status: .sent,
            httpStatus: 200,
            gatewayMessageID: "0:1",
            tokenEffect: .replaced(by: "canonical")
        )
        _ = try await fixture.store.storeOutcomes(batch)
        #expect(try await fixture.store.storeOutcomes(batch).inserted == 0)
        #expect(try await events(fixture, "pending") == 1, "a repeat brings no second event")
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await has(fixture, Int(loaded.subscriptionIDs[1]), "push_token = 'canonical' AND enabled"))
        let counts = try await fixture.store.tokenEventCounts()
        #expect(counts.map(\.kind) == [.canonical] && counts.map(\.applied) == [1])
    }

    /// An incompressible text: an index would compress a repetitive one.
    private func random(_ length: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:")
        return String((0..<length).map { _ in letters[Int.random(in: letters.indices)] })
    }

    @Test(
        "A token that is too long for the index, or invalid, changes nothing and blocks no other effect"
    )
    func tooLong() async throws {
        let fixture = try await fixture()
        // Left by an older version, or inserted manually.
        try await event(fixture, 1, random(4_000))
        try await event(fixture, 2, "new token")
        try await event(fixture, 3, random(2_000))
        try await fixture.sql(
            "INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind) VALUES (1, 4, 'invalid')"
        )
        #expect(try await fixture.store.applyTokenEvents() == 4)
        #expect(try await events(fixture, "outdated") == 2)
        #expect(try await has(fixture, 1, "push_token = 't1' AND enabled"))
        #expect(try await has(fixture, 2, "push_token = 't2' AND enabled"))
        #expect(try await has(fixture, 3, "length(push_token) = 2000 AND enabled"))
        #expect(try await has(fixture, 4, "NOT enabled"))
    }

    @Test("Every other path refuses a longer one too")
    func everyWayIn() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 1)
        let long = random(2_001)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(
            part: part.id,
            token: part.fencingToken,
            sequence: loaded.sequences[0],
            subscriptionID: loaded.subscriptionIDs[0],
            status: .sent,
            httpStatus: 200,
            tokenEffect: .replaced(by: long)
        )
        #expect(try await fixture.store.storeOutcomes(batch).inserted == 1)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_event") == 0)
        #expect(PushTokenForm.normalised(long, .android) == nil && PushTokenForm.problem(long, .android) != nil)
        let id = try await fixture.startedDelivery(explicit: true)
        for statement in [
            "INSERT INTO pushmta_engine.subscription (application_id, push_token) VALUES (1, '\(long)')",
            "UPDATE pushmta_engine.subscription SET push_token = '\(long)'",
            "INSERT INTO pushmta.delivery_target (delivery_id, push_token) VALUES (\(id), '\(long)')",
            "INSERT INTO pushmta.delivery_exclusion (delivery_id, push_token) VALUES (\(id), '\(long)')",
            "SELECT pushmta.create_exclusion_list('x') + pushmta.add_exclusions('x', NULL, NULL, ARRAY['\(long)'])",
            "SELECT pushmta.add_seed('x', 'shop-android', push_token => '\(long)')",
        ] {
            await #expect {
                try await fixture.sql(statement)
            } throws: {
                // The error comes from a check, not from the index's limit (54000).
                let state = ($0 as? PostgresError)?.sqlState
                return state == "23514" || state?.hasPrefix("PM") == true
            }
        }
    }

    @Test("Earlier reports about the old token no longer count, and a registration takes precedence over a replacement")
    func outdated() async throws {
        let fixture = try await fixture()
        try await event(fixture, 1, "new")
        #expect(try await fixture.store.applyTokenEvents() == 1)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, since, new_token)
            SELECT 1, 1, kind, now() - interval '1 hour', 'newer' FROM unnest(ARRAY['invalid', 'soft_error', 'canonical']) kind
            """
        )
        #expect(try await fixture.store.applyTokenEvents() == 3)
        #expect(try await has(fixture, 1, "push_token = 'new' AND enabled AND quarantine_status = 0"))

        try await event(fixture, 2, "other")
        try await fixture.sql("UPDATE pushmta_engine.subscription SET registered_at = now() WHERE id = 2")
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await has(fixture, 2, "push_token = 't2'"))
        for token in ["t3", ""] { try await event(fixture, 3, token) }
        try await event(fixture, 99, "x")
        #expect(try await fixture.store.applyTokenEvents() == 3)
        #expect(try await events(fixture, "outdated") == 7)
    }

    @Test("Two subscriptions with one token become one: the newer registration, and the undo makes them two again")
    func merge() async throws {
        let fixture = try await fixture()
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true, user_key = 'u4' WHERE id = 3")
        // 1 is older than 2; 4 is newer than 3.
        try await event(fixture, 1, "t2")
        try await event(fixture, 4, "t3")
        #expect(try await fixture.store.applyTokenEvents() == 2)
        #expect(try await has(fixture, 1, "NOT enabled AND disabled_reason = 'token_replaced' AND push_token = 't1'"))
        #expect(try await has(fixture, 2, "enabled AND push_token = 't2'"))
        #expect(try await has(fixture, 3, "NOT enabled AND disabled_reason = 'token_replaced' AND push_token = 't3'"))
        #expect(
            try await has(fixture, 4, "enabled AND push_token = 't3' AND opted_out"),
            "the person wants no messages"
        )
        let undone = try await fixture.store.undoTokenEvents(delivery: try await delivery(fixture))
        #expect(undone == 2)
        for id in 1...4 {
            #expect(try await has(fixture, id, "enabled AND push_token = 't\(id)' AND disabled_at IS NULL"), "\(id)")
        }
    }

    @Test("A chain of replacements is undone in order, unless another subscription has the old token by now")
    func undo() async throws {
        let fixture = try await fixture()
        try await event(fixture, 1, "a")
        #expect(try await fixture.store.applyTokenEvents() == 1)
        try await event(fixture, 1, "b")
        #expect(try await fixture.store.applyTokenEvents() == 1)
        try await event(fixture, 2, "c")
        #expect(try await fixture.store.applyTokenEvents() == 1)
        try await fixture.sql(
            "INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key) VALUES (1, 't2', 'other')"
        )
        #expect(try await fixture.store.undoTokenEvents(delivery: try await delivery(fixture)) == 3)
        #expect(try await has(fixture, 1, "push_token = 't1'"))
        #expect(try await has(fixture, 2, "push_token = 'c' AND enabled"))
    }

    @Test("While a device registers the new token, nothing waits and nothing fails", .timeLimit(.minutes(2)))
    func race() async throws {
        let fixture = try await fixture()
        try await event(fixture, 1, "new")
        let holder = try await fixture.hold(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, registered_at)
            VALUES (1, 'new', 'u1', now() + interval '1 second')
            """
        )
        #expect(try await fixture.store.applyTokenEvents() == 0)
        #expect(try await events(fixture, "pending") == 1)
        try await holder.run(script: "COMMIT")
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await has(fixture, 1, "NOT enabled AND disabled_reason = 'token_replaced'"))

        try await event(fixture, 2, "t4")
        try await holder.run(script: "BEGIN; SELECT FROM pushmta_engine.subscription WHERE id = 4 FOR UPDATE")
        #expect(try await fixture.store.applyTokenEvents() == 0, "the other subscription is locked")
        try await holder.run(script: "ROLLBACK; BEGIN; SELECT FROM pushmta_engine.subscription WHERE id = 2 FOR UPDATE")
        #expect(try await fixture.store.applyTokenEvents() == 0, "the subscription itself is locked")
        try await holder.run(script: "ROLLBACK")
        #expect(try await fixture.store.applyTokenEvents() == 1)
        await holder.close()
    }

    @Test("Hosts that replace tokens while devices register leave one enabled subscription a token")
    func storm() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, registered_at)
            SELECT 1, 'old' || g, 'u' || g, now() - interval '1 day' FROM generate_series(1, 60) g
            """
        )
        // Three of each want the same new token.
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, new_token)
            SELECT 1, g, 'canonical', 'new' || g % 20 FROM generate_series(1, 60) g
            """
        )
        let database = fixture.database
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    let store = Store(configuration: database.configuration())
                    while try await store.applyTokenEvents(limit: 7) > 0 {}
                    await store.close()
                }
            }
            group.addTask {
                let connection = try await database.connect()
                for number in 0..<20 {
                    try await connection.run(
                        script: """
                            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key)
                            VALUES (1, 'new\(number)', 'u') ON CONFLICT (application_id, push_token) WHERE enabled
                            DO UPDATE SET registered_at = now(), user_key = excluded.user_key
                            """
                    )
                }
                await connection.close()
            }
            try await group.waitForAll()
        }
        while try await fixture.store.applyTokenEvents() > 0 {}
        #expect(try await events(fixture, "pending") == 0)
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.subscription WHERE enabled AND push_token LIKE 'new%'"
            ) == 20
        )
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.subscription WHERE enabled AND push_token LIKE 'old%'"
            )
                == 0
        )
    }
}
