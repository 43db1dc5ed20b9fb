import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("A user who wants to be forgotten")
struct ForgettingTests {
    private static let user = "user-ada-4711"
    private static let token = String(repeating: "ada1", count: 16)
    private static let earlierToken = String(repeating: "ada2", count: 16)
    private static let wantedToken = "ada3:canonical"
    private static let androidToken = "ada4:android-token-of-ada"
    /// Texts that must not be found anywhere afterwards.
    private static let traces = [
        user, token, earlierToken, wantedToken, androidToken, "Adalovelace", "device-of-ada", "code-1723",
        "203.0.113.77",
        "AdaBrowser", "key-of-ada", "Adas phone",
    ]

    /// The tables, in any schema, that have a row with this text in a column of any type.
    private func tables(_ fixture: StoreFixture, claim text: String) async throws -> Set<String> {
        let connection = try await fixture.database.connect()
        let tables = try await connection.execute(
            PostgresStatement(
                """
                SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE c.relkind IN ('r', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
                """,
                prepare: false
            )
        )
        var found: Set<String> = []
        for row in 0..<tables.rowCount {
            let table = try tables.text(row, 0)
            let hits = try await connection.execute(
                PostgresStatement(
                    """
                    SELECT count(*) FROM \(table) t WHERE position($1 in t::text) > 0
                        OR position(encode(convert_to($1, 'UTF8'), 'hex') in t::text) > 0
                    """,
                    [.text(text)],
                    prepare: false
                )
            )
            if try hits.int64(0, 0) > 0 { found.insert(table) }
        }
        await connection.close()
        return found
    }

    /// Ada in both applications of the shop, once without a user key too, and in another service; Bob in the shop.
    private func people(_ fixture: StoreFixture) async throws {
        let script = """
            INSERT INTO pushmta_engine.service (name) VALUES ('bank');
            INSERT INTO pushmta_engine.application (service_id, name, platform, integration_key)
            SELECT id, 'bank-ios', 'ios', 'bank-key' FROM pushmta_engine.service WHERE name = 'bank';
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, device_id, device, recipient, parameters, extra,
                enabled)
            SELECT a.id, x.token, x.user_key, x.device, '{"deviceName": "Adas phone"}', '{"firstName": "Adalovelace"}',
                '{"p": "Adalovelace"}', '{"e": "Adalovelace"}', x.enabled
            FROM (VALUES ('shop-ios', '\(Self.token)', '\(Self.user)', 'device-of-ada', true),
                ('shop-ios', '\(Self.earlierToken)', '\(Self.user)', 'device-of-ada', false),
                ('shop-ios', '\(Self.token)', '', NULL, false),
                ('shop-ios', '\(String(repeating: "ada5", count: 16))', '', 'device-of-ada', false),
                ('shop-android', '\(Self.androidToken)', '\(Self.user)', 'device-of-ada', true)) x(app, token, user_key, device, enabled)
            JOIN pushmta_engine.application a ON a.name = x.app;
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, recipient)
            SELECT id, repeat('b0', 32), 'user-bob', '{"firstName": "Bob"}' FROM pushmta_engine.application WHERE name = 'shop-ios';
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, new_token)
            SELECT application_id, id, 'canonical', '\(Self.wantedToken)' FROM pushmta_engine.subscription WHERE push_token = '\(Self.androidToken)';
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, state, applied_at, old_token)
            SELECT application_id, id, 'canonical', 'applied', now() - interval '2 days', '\(Self.earlierToken)'
            FROM pushmta_engine.subscription WHERE push_token = '\(Self.token)' AND user_key <> '';
            SELECT pushmta.create_exclusion_list('people');
            SELECT pushmta.add_exclusions('people', ARRAY['\(Self.user)', 'user-bob'], NULL, ARRAY['\(Self.earlierToken)']);
            SELECT pushmta.add_seed('Adas phone', 'shop-ios', user_key => '\(Self.user)', variables => '{"v": "Adalovelace"}');
            """
        let connection = try await fixture.database.connect()
        try await connection.run(script: script)
        await connection.close()
    }

    /// An explicit delivery to Ada by each kind of address and to Bob, started and prepared if requested.
    private func targets(_ fixture: StoreFixture, started: Bool) async throws -> Int64 {
        let id = try await fixture.startedDelivery(["shop-ios", "shop-android"], explicit: true)
        let connection = try await fixture.database.connect()
        try await connection.run(
            script: """
                INSERT INTO pushmta.delivery_target (delivery_id, user_key, variables) VALUES
                    (\(id), '\(Self.user)', '{"code": "code-1723"}'), (\(id), 'user-bob', '{"code": "bob"}');
                INSERT INTO pushmta.delivery_target (delivery_id, push_token, variables)
                VALUES (\(id), '\(Self.androidToken)', '{"code": "code-1723"}');
                INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, variables)
                SELECT \(id), min(id), '{"code": "code-1723"}' FROM pushmta_engine.subscription;
                INSERT INTO pushmta.delivery_exclusion (delivery_id, push_token) VALUES (\(id), '\(Self.earlierToken)');
                INSERT INTO pushmta.delivery_exclusion (delivery_id, user_key) VALUES (\(id), 'user-carl');
                """
        )
        await connection.close()
        if started {
            try await fixture.store.startDelivery(id)
            try await fixture.prepare()
        }
        return id
    }

    private func cleanLogs(_ fixture: StoreFixture) async throws -> Int {
        var rounds = 0
        while try required(try await fixture.store.cleanForgottenLogs(worker: StoreFixture.worker, limit: 100)) > 0 {
            rounds += 1
        }
        return rounds
    }

    @Test("A user with the same key in another service stays in a delivery to both")
    func anotherService() async throws {
        let fixture = try await StoreFixture.make()
        try await people(fixture)
        try await fixture.sql(
            "INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key) SELECT id, repeat('b7', 32), '\(Self.user)' FROM pushmta_engine.application WHERE name = 'bank-ios'"
        )
        try await fixture.sql(
            "UPDATE pushmta_engine.application a SET external_account_id = s.external_account_id FROM pushmta_engine.application s WHERE a.name = 'bank-ios' AND s.name = 'shop-ios'"
        )
        let both = try await fixture.startedDelivery(["shop-ios", "bank-ios"], explicit: true)
        let shop = try await fixture.startedDelivery(["shop-ios"], explicit: true)
        for delivery in [both, shop] {
            for table in ["delivery_target", "delivery_exclusion"] {
                try await fixture.sql(
                    "INSERT INTO pushmta.\(table) (delivery_id, user_key) VALUES (\(delivery), '\(Self.user)')"
                )
            }
        }
        try await fixture.sql("SELECT * FROM pushmta.forget_user('shop', '\(Self.user)')")
        for table in ["delivery_target", "delivery_exclusion"] {
            let left = "SELECT sum(delivery_id)::bigint FROM pushmta.\(table) WHERE user_key = '\(Self.user)'"
            #expect(try await fixture.sql(left) == both)
        }
    }

    @Test("Nothing about the person is left in any table, and others lose nothing")
    func everywhere() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.heartbeat())
        try await people(fixture)
        let codes = try await fixture.startContinuous()
        let ada = try required(
            try await fixture.sql(
                "SELECT id FROM pushmta_engine.subscription WHERE push_token = '\(Self.token)' AND enabled"
            )
        )
        let bob = try required(
            try await fixture.sql("SELECT id FROM pushmta_engine.subscription WHERE user_key = 'user-bob'")
        )
        var sent: [MessageReference] = []
        for (person, code, key) in [
            (ada, "code-1723", "key-of-ada"), (bob, "bobs code", "key-of-bob"), (ada, "code-1723", "key-of-ada-2"),
        ] {
            sent += try await fixture.store.sendMessage(
                NewMessage(
                    deliveryID: codes,
                    address: .subscription(person),
                    variables: #"{"code": "\#(code)"}"#,
                    idempotencyKey: key
                )
            )
        }
        for part in try await fixture.claim(limit: 2) {
            let loaded = try await fixture.store.loadPart(part, fieldNames: ["code"])
            var batch = OutcomeBatch()
            batch.append(part, loaded, rows: 0..<1, .sent)
            _ = try await fixture.store.storeOutcomes(batch)
        }
        let running = try await targets(fixture, started: true)
        let planned = try await targets(fixture, started: false)
        // The third message has no outcome yet, so its hit does not name the subscription.
        let day = sent[0].deliveryID
        try await fixture.hit(day, sent.map { ($0.sequence, .received) }, position: 1)
        try await fixture.sql(
            "UPDATE pushmta_engine.tracking_log SET address = '203.0.113.77', user_agent = 'AdaBrowser' WHERE sequence <> \(sent[1].sequence)"
        )
        try await fixture.sql(
            "UPDATE pushmta_engine.tracking_log SET address = '203.0.113.1', user_agent = 'BobBrowser' WHERE sequence = \(sent[1].sequence)"
        )
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.tracking_log WHERE subscription_id IS NULL") == 1
        )
        for trace in Self.traces { #expect(try await !tables(fixture, claim: trace).isEmpty, "\(trace)") }
        #expect(try await tables(fixture, claim: Self.user).count >= 3)

        let found = try await fixture.store.forgetUser(service: "shop", userKey: Self.user)
        #expect(found == ForgottenUser(subscriptions: 5, targets: 6, exclusions: 4, seeds: 1))
        // Everything that was under way is over a minute later.
        #expect(try await cleanLogs(fixture) == 0)
        try await fixture.sql(
            "UPDATE pushmta_engine.forgotten_subscription SET forgotten_at = forgotten_at - interval '61 seconds'"
        )
        #expect(try await cleanLogs(fixture) >= 2)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta.forgotten_subscription WHERE logs_are_clean") == 5)
        for trace in Self.traces {
            #expect(try await tables(fixture, claim: trace) == [], "\(trace)")
        }

        // Ids still exist, but lead to no person.
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.broad_log WHERE subscription_id = \(ada)") == 1
        )
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta.delivery_target WHERE user_key = 'user-bob'") == 2)
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.exclusion_entry WHERE user_key = 'user-bob'")
                == 1
        )
        #expect(try await tables(fixture, claim: "BobBrowser").count == 1)
        #expect(try await tables(fixture, claim: "bobs code").count == 1)
        // Her prepared messages are not sent; he gets his message, with his variables.
        for part in try await fixture.claim(limit: 10) {
            let loaded = try await fixture.store.loadPart(part, fieldNames: ["code"])
            for (row, id) in loaded.subscriptionIDs.enumerated() where id != bob {
                #expect(!loaded.decisions[row].isSendable)
            }
        }
        #expect(try await fixture.store.deliveryProgress(running).pending > 0)
        try await fixture.store.startDelivery(planned)
        #expect(try await fixture.prepare().messages == 1)
        // Forgetting again finds no one.
        #expect(try await fixture.store.forgetUser(service: "shop", userKey: Self.user).isNothing)
    }

    @Test("In a shared part, the person's own variables are deleted, those of others stay")
    func sharedPart() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.heartbeat())
        try await people(fixture)
        let codes = try await fixture.startContinuous()
        let ada = try required(
            try await fixture.sql(
                "SELECT id FROM pushmta_engine.subscription WHERE push_token = '\(Self.token)' AND enabled"
            )
        )
        let bob = try required(
            try await fixture.sql("SELECT id FROM pushmta_engine.subscription WHERE user_key = 'user-bob'")
        )
        try await fixture.sql(
            """
            SELECT count(*) FROM pushmta.send_messages(\(codes), ARRAY[\(bob), \(ada), \(bob)], variables => ARRAY[
                '{"code": "bobs first"}', '{"code": "code-1723"}', '{"code": "bobs second"}']::jsonb[])
            """
        )
        _ = try await fixture.store.forgetUser(service: "shop", userKey: Self.user)
        try await fixture.sql(
            "UPDATE pushmta_engine.forgotten_subscription SET forgotten_at = forgotten_at - interval '61 seconds'"
        )
        #expect(try await cleanLogs(fixture) >= 1)
        #expect(try await tables(fixture, claim: "code-1723") == [])
        let part = try required(try await fixture.claim(limit: 1).first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: ["code"])
        let left = (0..<loaded.count).map { String(decoding: loaded.fields[0][$0], as: UTF8.self) }
        #expect(left == ["bobs first", "", "bobs second"])
    }

    @Test("Hits and answers that come late are dropped, those of others are not")
    func late() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.heartbeat())
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2)
        let id = try await fixture.startedDelivery()
        try await fixture.prepare()
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        for row in 0..<2 {
            batch.append(
                part: part.id,
                token: part.fencingToken,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .sent,
                httpStatus: 200,
                tokenEffect: .replaced(by: "late-token-\(row)")
            )
        }
        let first = try await fixture.store.forgetUser(service: "shop", userKey: "shop-ios-1")
        #expect(first.subscriptions == 1)
        _ = try await fixture.store.storeOutcomes(batch)
        #expect(try await tables(fixture, claim: "late-token-0") == [])
        #expect(try await tables(fixture, claim: "late-token-1") == ["pushmta_engine.token_event"])
        try await fixture.hit(id, [(1, .received), (2, .received), (1, .clicked)], position: 1)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.tracking_log") == 1)
        #expect(try await fixture.sql("SELECT min(sequence) FROM pushmta_engine.tracking_log") == 2)
        // The note is deleted when nothing of its days is left.
        try await fixture.sql(
            "UPDATE pushmta_engine.forgotten_subscription SET forgotten_at = now() - interval '2 minutes'"
        )
        _ = try await cleanLogs(fixture)
        #expect(try await fixture.store.purgeForgotten(worker: StoreFixture.worker, limit: 10) == 0)
        try await fixture.sql(
            "UPDATE pushmta_engine.forgotten_subscription SET forgotten_at = now() - interval '90 days'"
        )
        #expect(try await fixture.store.purgeForgotten(worker: StoreFixture.worker, limit: 10) == 1)
    }

    @Test("A late hit of a day without outcomes is stored without address and browser")
    func lateOfAnOldDay() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.heartbeat())
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1)
        let id = try await fixture.startedDelivery()
        try await fixture.prepare()
        #expect(try await fixture.store.forgetUser(service: "shop", userKey: "shop-ios-1").subscriptions == 1)
        // The outcomes of ten days ago are deleted, the hits are kept longer.
        let day = try required(
            try await fixture.sql("SELECT (now() AT TIME ZONE 'UTC')::date - 10 - date '2000-01-01'")
        )
        try await fixture.sql(
            """
            DO $$
            DECLARE
                day date := (now() AT TIME ZONE 'UTC')::date - 10;
            BEGIN
                PERFORM pushmta_engine.ensure_partitions(day, day);
                EXECUTE 'DROP TABLE pushmta_engine.broad_log_' || to_char(day, 'YYYYMMDD');
            END $$
            """
        )
        func hit(_ day: Int64, _ sequence: Int32, position: Int64) async throws {
            let hit = TrackingHit(
                id: TrackingID(message: .number(1), deliveries: [id], kind: .clicked),
                microseconds: try required(
                    try await fixture.sql("SELECT (extract(epoch FROM now()) * 1000000)::bigint")
                ),
                address: IPAddress("203.0.113.77"),
                userAgent: "AdaBrowser"
            )
            let message = ResolvedHit.Message.known(delivery: id, sequence: sequence, logDay: Int32(clamping: day))
            _ = try await fixture.store.recordHits(
                source: StoreFixture.source,
                position: position,
                host: "one",
                [ResolvedHit(message: message, hit: hit)]
            )
        }
        try await hit(day, 1, position: 1)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.tracking_log") == 1)
        let nameless = "SELECT count(*) FROM pushmta_engine.tracking_log WHERE address IS NULL AND user_agent IS NULL"
        #expect(try await fixture.sql(nameless) == 1)
        // One of today may come before its outcome.
        try await hit(day + 10, 7, position: 2)
        #expect(try await fixture.sql(nameless) == 1)
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.tracking_log WHERE user_agent = 'AdaBrowser'")
                == 1
        )
    }

    @Test("Data that also belongs to another person stays with that person")
    func shared() async throws {
        let fixture = try await StoreFixture.make()
        try await people(fixture)
        // Her old phone now belongs to Bob, and she is a customer of the bank, too.
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key)
            SELECT a.id, x.token, x.person FROM (VALUES ('shop-ios', '\(Self.earlierToken)', 'user-bob'),
                ('bank-ios', 'bank-token', '\(Self.user)')) x(app, token, person)
            JOIN pushmta_engine.application a ON a.name = x.app
            """
        )
        let found = try await fixture.store.forgetUser(service: "shop", userKey: Self.user)
        #expect(found.subscriptions == 5 && found.exclusions == 0)
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE user_key = '\(Self.user)'")
                == 1
        )
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.subscription WHERE push_token = '\(Self.earlierToken)' AND enabled"
            ) == 1
        )
        #expect(try await tables(fixture, claim: Self.earlierToken).contains("pushmta_engine.exclusion_entry"))
    }

    @Test("A person who registers afterwards is a new user, whatever token the device has")
    func again() async throws {
        let fixture = try await StoreFixture.make()
        try await people(fixture)
        _ = try await fixture.store.forgetUser(service: "shop", userKey: Self.user)
        try await fixture.sql(
            """
            SELECT created FROM pushmta_engine.register_devices(ARRAY[1], ARRAY['\(Self.token)'], ARRAY['\(Self.user)'],
                ARRAY['device-of-ada'], ARRAY[''], ARRAY[''], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL])
            """
        )
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.subscription WHERE disabled_reason = 'forgotten'"
            ) == 5
        )
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE push_token = '\(Self.token)'")
                == 1
        )
    }

    @Test("Operators may forget users, marketing only with the right; an unknown name is reported")
    func rights() async throws {
        let fixture = try await StoreFixture.make()
        await #expect { _ = try await fixture.store.forgetUser(service: "shp", userKey: "a") } throws: {
            ($0 as? StoreError)?.code == .notFound && "\($0)".contains("shp")
        }
        await #expect { _ = try await fixture.store.forgetUser(service: "shop", userKey: "") } throws: {
            ($0 as? StoreError)?.code == .invalid
        }
        let connection = try await fixture.database.connect()
        let forget = "SELECT * FROM pushmta.forget_user('shop', 'nobody')"
        for role in ["pushmta_marketing", "pushmta_monitoring", "pushmta_web"] {
            await #expect { try await connection.run(script: "SET ROLE \(role); \(forget)") } throws: {
                ($0 as? PostgresError)?.sqlState == "42501"
            }
            try await connection.run(script: "RESET ROLE")
        }
        try await connection.run(script: "SET ROLE pushmta_runtime; \(forget)")
        try await connection.run(
            script:
                "RESET ROLE; GRANT EXECUTE ON FUNCTION pushmta.forget_user(text, text) TO pushmta_marketing; SET ROLE pushmta_marketing; \(forget)"
        )
        await connection.close()
    }
}
