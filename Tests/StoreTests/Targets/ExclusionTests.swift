import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Exclusion lists")
struct ExclusionTests {
    /// Twelve subscriptions; user u1 has the first two, all others one.
    private func make() async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 12)
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET user_key = 'u' || greatest(id - 1, 1), registered_at = now() + id * interval '1 s'"
        )
        return fixture
    }

    private func token(_ fixture: StoreFixture, _ id: Int64) async throws -> String {
        try required(try await fixture.store.subscriptions(limit: 100).first { $0.id == id }).pushToken
    }

    private func delivery(_ fixture: StoreFixture, explicit: Bool = false, onePerUser: Bool = false) async throws
        -> Int64
    {
        try await fixture.store.createDelivery(
            NewDelivery(
                label: "x",
                applications: ["shop-ios"],
                content: #"{"ios": {"title": "a"}}"#,
                explicitTargets: explicit,
                onePerUser: onePerUser
            )
        )
    }

    @Test("A list excludes by user, subscription and token in the forms that people write, and the log has the reason")
    func lists() async throws {
        let fixture = try await make()
        let store = fixture.store
        try await store.createExclusionList(name: "control", label: "Control group")
        try await store.createExclusionList(name: "other")
        let people = Addressees(
            userKeys: ["u1", "nobody"],
            subscriptionIDs: [4, 400],
            pushTokens: [try await token(fixture, 6).uppercased()]
        )
        #expect(try await store.addExclusions(list: "control", people) == 5)
        #expect(try await store.addExclusions(list: "control", people) == 0, "they are on it")
        try await store.addExclusions(list: "other", Addressees(subscriptionIDs: [12]))
        #expect(
            try await store.exclusionLists().first
                == ExclusionListRow(
                    name: "control",
                    label: "Control group",
                    userKeys: 2,
                    subscriptions: 2,
                    pushTokens: 1
                )
        )
        let id = try await delivery(fixture)
        try await store.setTarget(ofDelivery: id, DeliveryTarget(excludedLists: ["control", "control"]))
        try await store.startDelivery(id)
        #expect(try await fixture.prepare() == (8, 4, 1))
        #expect(try await fixture.targets(id) == Set([3, 5, 7, 8, 9, 10, 11, 12]))
        #expect(
            try await store.exclusionCounts(delivery: id) == [
                OutcomeCount(status: nil, reason: "exclusion_list", count: 4)
            ]
        )
        #expect(try await store.removeExclusions(list: "control", people) == 5)
        #expect(try await store.exclusions(list: "control", limit: 10).isEmpty)
        #expect(try await fixture.assertEquation(id))
        await #expect { try await store.deleteExclusionList(name: "control") } throws: {
            ($0 as? StoreError)?.code == .conflict
        }
        try await store.deleteExclusionList(name: "other")
        await #expect { try await store.addExclusions(list: "other", people) } throws: {
            ($0 as? StoreError)?.code == .notFound
        }
    }

    @Test("A list is deleted by index, in the console only within a page's time, and not if a delivery uses it")
    func deletion() async throws {
        let fixture = try await make()
        let (store, marketing) = (fixture.store, try await fixture.actor(.marketing))
        var lists: [Int32] = []
        for name in ["large", "empty", "small", "used"] {
            lists += [
                Int32(try required(try await fixture.sql("SELECT pushmta.create_exclusion_list('\(name)')::bigint")))
            ]
        }
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.exclusion_entry (list_id, user_key)
            SELECT CASE WHEN n > 3 THEN \(lists[0]) ELSE \(lists[2]) END, 'x' || n FROM generate_series(1, 20000) n
            """
        )
        try await fixture.sql("VACUUM ANALYZE pushmta_engine.exclusion_entry")
        let connection = try await fixture.database.connect()
        try await connection.run(
            script: "BEGIN; DELETE FROM pushmta_engine.exclusion_list WHERE id = \(lists[1])"
        )
        let scans = PostgresStatement(
            "SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relid = 'pushmta_engine.exclusion_entry'::regclass",
            prepare: false
        )
        #expect(try await connection.execute(scans).int64(0, 0) == 0)
        await connection.close()
        // It is refused as a whole, with the command that deletes it.
        await #expect { try await store.deleteExclusionList(lists[2], limit: 2, by: marketing) } throws: {
            let error = $0 as? StoreError
            return error?.code == .conflict && error?.sqlState == "PM135"
                && error?.message.contains("pushmta exclusion delete \"small\"") == true
        }
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.exclusion_entry") == 20_000)
        try await store.deleteExclusionList(lists[2], limit: 3, by: marketing)
        try await store.deleteExclusionList(name: "large")
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.exclusion_entry") == 0)
        // A delivery that starts to use the list at the same time.
        let id = try await delivery(fixture)
        let (used, other) = (lists[3], fixture.other)
        let take = "INSERT INTO pushmta_engine.delivery_exclusion_list (delivery_id, list_id) VALUES (\(id), \(used))"
        try await fixture.during(take) {
            await #expect { try await other.deleteExclusionList(used, by: marketing) } throws: {
                ($0 as? StoreError)?.sqlState == "PM008"
            }
        }
        await #expect { try await store.deleteExclusionList(used, by: marketing) } throws: {
            ($0 as? StoreError)?.sqlState == "PM008"
        }
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.audit_log WHERE action = 'list.remove'") == 1
        )
    }

    @Test(
        "A disabled subscription keeps that reason; a list that changes during preparation counts from then on"
    )
    func reasons() async throws {
        let fixture = try await make()
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id = 4")
        try await fixture.store.createExclusionList(name: "late")
        let id = try await delivery(fixture)
        try await fixture.store.exclude(Addressees(userKeys: ["u2"], subscriptionIDs: [4]), fromDelivery: id)
        try await fixture.store.setTarget(ofDelivery: id, DeliveryTarget(excludedLists: ["late"]))
        try await fixture.store.startDelivery(id)
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        _ = try await fixture.store.prepareChunk(job, partSize: 6, partsPerChunk: 1)
        try await fixture.store.addExclusions(list: "late", Addressees(subscriptionIDs: [1, 9]))
        try await fixture.prepareRest(job)
        #expect(try await fixture.targets(id) == Set([1, 2, 5, 6, 7, 8, 10, 11, 12]))
        #expect(
            Set(try await fixture.store.exclusionCounts(delivery: id))
                == [
                    OutcomeCount(status: nil, reason: "exclusion_list", count: 2),
                    OutcomeCount(status: nil, reason: "opted_out", count: 1),
                ]
        )
    }

    @Test("One per user chooses among subscriptions that are not excluded, and explicit targets are excluded too")
    func otherTargets() async throws {
        let fixture = try await make()
        let one = try await delivery(fixture, onePerUser: true)
        try await fixture.store.exclude(Addressees(pushTokens: [try await token(fixture, 2)]), fromDelivery: one)
        try await fixture.store.startDelivery(one)
        #expect(try await fixture.prepare() == (11, 1, 1))
        #expect(try await fixture.targets(one).contains(1), "the user's better one is excluded")
        let listed = try await delivery(fixture, explicit: true, onePerUser: true)
        try await fixture.store.addTargets(
            [
                ExplicitTarget(.userKey("u1")), ExplicitTarget(.subscription(3)),
                ExplicitTarget(.pushToken(try await token(fixture, 5).uppercased()), variables: #"{"code": "x"}"#),
                ExplicitTarget(.subscription(7)),
            ],
            toDelivery: listed
        )
        try await fixture.store.exclude(Addressees(userKeys: ["u6"], subscriptionIDs: [2]), fromDelivery: listed)
        try await fixture.store.startDelivery(listed)
        #expect(try await fixture.prepare().messages == 3)
        #expect(try await fixture.targets(listed) == Set([1, 3, 5]))
        #expect(
            try await fixture.store.exclusionCounts(delivery: listed)
                == [OutcomeCount(status: nil, reason: "exclusion_list", count: 2)]
        )
        for id in [one, listed] { #expect(try await fixture.assertEquation(id)) }
    }

    @Test("A started delivery's exclusions are frozen, and marketing may write them before")
    func frozen() async throws {
        let fixture = try await make()
        let id = try await delivery(fixture)
        let marketing = try await fixture.database.connect()
        try await marketing.run(
            script: """
                SET ROLE pushmta_marketing;
                SELECT pushmta.create_exclusion_list('m');
                SELECT pushmta.add_exclusions('m', user_keys => ARRAY['u3', '']);
                SELECT pushmta.set_target(\(id), filter => 'subscription_id < 9', exclude => ARRAY['m']);
                INSERT INTO pushmta.delivery_exclusion (delivery_id, user_key) VALUES (\(id), 'u5');
                SELECT pushmta.start_delivery(\(id));
                """
        )
        for change in [
            "INSERT INTO pushmta.delivery_exclusion (delivery_id, user_key) VALUES (\(id), 'u6')",
            "SELECT pushmta.remove_delivery_exclusions(\(id))",
            "SELECT pushmta.set_target(\(id), exclude => '{}')",
        ] {
            await #expect { try await marketing.run(script: change) } throws: {
                ($0 as? PostgresError)?.sqlState == "PM006"
            }
        }
        await #expect {
            try await marketing.run(script: "SELECT * FROM pushmta_engine.exclusion_entry")
        } throws: { ($0 as? PostgresError)?.sqlState == "42501" }
        await marketing.close()
        try await fixture.prepare()
        #expect(try await fixture.targets(id) == Set([1, 2, 3, 5, 7, 8]))
    }
}
