import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Store

/// The hot statements must use their indexes, however large the tables become.
@Suite("Plans of the hot statements")
struct PlanTests {
    @Test func plans() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 20_000)
        _ = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: 100)
        try await fixture.sql("ANALYZE")
        let claim = try await plan(fixture, Store.claimSQL, "integer, integer, bigint, bigint", "1, 1, 1, 4")
        #expect(
            claim.contains("delivery_part_claim") && !claim.contains("Sort")
                && !claim.contains("Seq Scan on delivery_part ")
        )
        let load = try await plan(
            fixture,
            Store.denseSQL(MessageFields(names: ["city"])),
            "date, bigint, integer, text",
            "current_date, 1, 1, 'city'"
        )
        // The bounds are `$0` and `$1`, or `(InitPlan 1).col1` since PostgreSQL 17.
        #expect(
            load.contains("Index Scan using subscription_") && load.contains(/\(id >= (?:\$|\(InitPlan)/)
                && load.contains(/\(id <= (?:\$|\(InitPlan)/) && !load.contains("Seq Scan"),
            "\(load)"
        )
        #expect(
            !Store.denseSQL(MessageFields(names: ["city"])).contains("locale"),
            "only who has several languages reads it"
        )
        let localised = try await plan(
            fixture,
            Store.denseSQL(MessageFields(names: ["city"], withLocale: true)),
            "date, bigint, integer, text",
            "current_date, 1, 1, 'city'"
        )
        #expect(localised == load)
        let sparse = try await plan(
            fixture,
            Store.sparseSQL(MessageFields(names: ["city"]), variables: true),
            "date, bigint, text",
            "current_date, 1, 'city'"
        )
        #expect(sparse.contains("subscription_pkey") && sparse.contains("delivery_target_pkey"))
        let shared = try await plan(
            fixture,
            Store.sharedSQL(MessageFields(names: ["city"]), variables: true),
            "date, bigint[], text",
            "current_date, '{1,2}', 'city'"
        )
        #expect(
            shared.contains("subscription_pkey") && shared.contains("delivery_target_pkey")
                && !shared.contains("Seq Scan")
        )
        let mark = try await plan(
            fixture,
            Store.markSQL,
            "bigint[], bigint[], integer[], text, bigint",
            "'{1}', '{1}', '{1}', 'claimed', 1"
        )
        // Without a join, because the plan does not know the length of the arrays.
        #expect(mark.contains("delivery_part_pkey") && !mark.contains("Function Scan"))
        let fence = try await plan(
            fixture,
            PartFence.sql,
            "bigint[], bigint[], integer[], integer[], integer[], integer[], integer[], integer[], text, bigint",
            "'{1}', '{1}', '{1}', '{0}', '{0}', '{0}', '{0}', '{0}', 'claimed', 1"
        )
        #expect(fence.contains("delivery_part_pkey") && !fence.contains("Function Scan"))
        let types = "text, bigint[], smallint, integer, integer, integer, bigint[]"
        let pick = try await plan(fixture, Store.pickSQL, types, "'a', '{1}', -100, 10, 8, 3600, '{}'")
        #expect(
            pick.contains("delivery_pending") && pick.contains("delivery_preparing") && !pick.contains("Seq Scan"),
            "\(pick)"
        )
        let work = try await plan(fixture, Store.readyWorkSQL, "integer", "100")
        #expect(work.contains("delivery_part_claim") && !work.contains("Seq Scan on delivery_part "))
        // If no part has a parent or a note, a plan that reads all of them reads nothing.
        for statement in [
            "INSERT INTO pushmta_engine.delivery_part_recovery (part_id, fencing_token) SELECT id, fencing_token FROM pushmta_engine.delivery_part",
            "UPDATE pushmta_engine.delivery_part p SET parent_part_id = q.id FROM pushmta_engine.delivery_part q WHERE q.id = p.id - 1",
            "ANALYZE pushmta_engine.delivery_part, pushmta_engine.delivery_part_recovery",
        ] {
            try await fixture.sql(statement)
        }
        let inherited = try await plan(fixture, Store.inheritedAmbiguousSQL, "bigint", "1")
        // By the primary key, or, since PostgreSQL 18 and with few rows, by an index that begins with the delivery.
        #expect(
            inherited.contains("Index Cond: (id = $1)") && inherited.contains("delivery_part_recovery_pkey"),
            "\(inherited)"
        )
        #expect(!inherited.contains("Seq Scan"))
    }

    /// A statement whose day is not a literal is planned for all partitions, including the one that is always empty.
    @Test func outcomesAreLookedUp() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: 100)
        try await fixture.sql("ANALYZE")
        let known = try await plan(fixture, Store.knownOutcomesSQL, "date, bigint, bigint", "current_date, 1, 1")
        #expect(!known.contains("Seq Scan"), "\(known)")
        let flush = "SELECT sequence FROM pushmta_engine.broad_log_flush WHERE delivery_id = $1 AND sequence = $2"
        #expect(try await plan(fixture, flush, "bigint, integer", "1, 1").contains("Index"))
    }

    @Test("Parts are counted only for the deliveries under way that are shown, those served first")
    func deliveriesUnderWay() async throws {
        let fixture = try await StoreFixture.make()
        var priorities: [Int64: Int] = [:]
        for number in 0..<30 {
            let id = try await fixture.startedDelivery()
            priorities[id] = number % 10
            try await fixture.sql("UPDATE pushmta_engine.delivery SET priority = \(number % 10) WHERE id = \(id)")
        }
        // One that is analysed keeps supervisors busy, too.
        let analysed = try await fixture.store.createDelivery(
            NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await fixture.store.analyzeDelivery(analysed)
        priorities[analysed] = 0
        try await fixture.sql("ANALYZE")
        let shown = try await fixture.store.deliveriesUnderWay(atMost: 4)
        let all = try await fixture.store.deliveriesUnderWay(atMost: 100)
        #expect(shown.map(\.id) == all.prefix(4).map(\.id))
        #expect(all.count == 31 && Set(all.map(\.id)) == Set(priorities.keys))
        #expect(shown.map { priorities[$0.id] } == [9, 9, 9, 8])
        let plan = try await plan(fixture, Store.underWaySQL, "integer", "100")
        let rows = plan.prefix(upTo: plan.range(of: "SubPlan")?.lowerBound ?? plan.endIndex)
        #expect(rows.contains("delivery_open") && !rows.contains("Sort") && !rows.contains("Seq Scan"), "\(plan)")
    }

    @Test("Columns of a target mapping are looked up by its key, one person at a time")
    func mappedFields() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 20_000)
        try await fixture.sql("CREATE SCHEMA crm")
        try await fixture.sql("CREATE TABLE crm.person (user_key text PRIMARY KEY, city text)")
        try await fixture.sql(
            "INSERT INTO crm.person SELECT user_key, 'Lyon' FROM pushmta_engine.subscription"
        )
        try await fixture.sql("CREATE VIEW crm.people AS SELECT * FROM crm.person")
        let mapping = try await fixture.store.createMapping(
            name: "crm",
            label: "",
            view: "crm.people",
            keyColumn: "user_key"
        )
        try await fixture.sql("UPDATE pushmta_engine.service SET target_mapping_id = 1")
        try await fixture.sql("ANALYZE")
        for oneByOne in [true, false] {
            let plan = try await fixture.store.views.read(
                mapping.readSQL(["m.city"], oneByOne: oneByOne),
                userKeys: (1...1_000).map { "shop-ios-\($0)" },
                timeout: nil,
                showsPlan: true
            ).compactMap(\.first).compactMap(\.self).joined(separator: "\n")
            #expect(plan.contains("person_pkey") && !plan.contains("Seq Scan"), "\(plan)")
            #expect(!oneByOne || plan.contains("Index Cond"), "\(plan)")
        }
        let other = try await fixture.store.application(named: "shop-ios")
        let city = MessageFields(names: ["city"])
        #expect(
            try await fixture.store.resolve(city, application: other) == city,
            "nobody pays for what he does not use"
        )
    }

    @Test("A gateway's reports about thousands of tokens are looked up message by message")
    func refusals() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 10, partSize: 10)
        // With a plan that a session made while the day's tables were empty.
        let types = "bigint[], integer[], text[], bigint[], bigint[], text, text[], text[], smallint[]"
        let values = "'{1}', '{1}', '{x}', '{1}', '{1}', 'claimed', '{invalid}', '{x}', '{1}'"
        let text = try await plan(fixture, TokenEventInsert.sql, types, values)
        let lookUps = text.split(separator: "\n").filter {
            $0.contains("Index Cond") && $0.contains("delivery_id = p.delivery_id")
        }
        #expect(!lookUps.isEmpty && lookUps.allSatisfy { $0.contains("sequence = e.sequence") }, "\(text)")
    }

    @Test("Frequent queries of children and duties read only indexes of pending work")
    func polled() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 20_000, partSize: 20)
        try await fixture.sql("ANALYZE")
        let state = try await plan(fixture, Store.sendingStateSQL, "integer, bigint[], integer", "1, '{16}', 1")
        #expect(state.contains("delivery_pkey") && state.contains("application_health_open"), "\(state)")
        let claim = try await plan(fixture, Store.claimSQL, "integer, integer, bigint, bigint", "1, 1, 1, 4")
        #expect(claim.contains("application_health_pkey") && claim.contains("delivery_pkey"))
        let messages = try await plan(
            fixture,
            MessageClaim.sql,
            "integer, integer, bigint, bigint, integer, bigint",
            "1, 1, 1, 1000, 100, 2000"
        )
        #expect(
            messages.contains("Index Scan using delivery_part_claim") && messages.contains("Subplans Removed")
                || messages.contains("_part_id_idx"),
            "\(messages)"
        )
        let probe = try await plan(fixture, Store.claimProbeSQL, "integer, integer, bigint", "1, 1, 1")
        #expect(probe.contains("delivery_part_claim") || probe.contains("delivery_part_unfinished"), "\(probe)")
        #expect(probe.contains("application_health_pkey"))
        let due = try await plan(fixture, Store.dueSQL, "", "")
        for index in ["delivery_ending", "delivery_part_waiting", "delivery_open", "delivery_part_unfinished"] {
            #expect(due.contains(index))
        }
        let step = try await plan(fixture, Store.clockStepSQL, "", "")
        #expect(step.contains("delivery_part_unloaded"))
        let events = try await plan(fixture, Store.openTokenEventSQL, "integer, integer", "10, 3")
        #expect(events.contains("token_event_invalid"))
        let lock = try await plan(fixture, DeliveryLock.sql, "bigint[]", "'{1}'")
        #expect(lock.contains("delivery_pkey") && lock.contains("delivery_part_pkey"))
        for text in [state, claim, messages, probe, due, events, lock] { #expect(!text.contains("Seq Scan")) }
    }

    @Test("The search for work costs the same with few and with very many ready parts, due or not")
    func lookForWork() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 400, partSize: 20)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery_part (delivery_id, application_id, external_account_id, log_day, size, priority,
                not_before)
            SELECT p.delivery_id, p.application_id, p.external_account_id, p.log_day, 1, n % 3,
                now() + CASE WHEN n % 2 = 0 THEN interval '1 day' ELSE interval '-1 s' END
            FROM (SELECT * FROM pushmta_engine.delivery_part LIMIT 1) p CROSS JOIN generate_series(1, 60000) n
            """
        )
        try await fixture.sql("ANALYZE pushmta_engine.delivery_part")
        let all = try #require(try await fixture.store.readyWork().first)
        #expect(all.readyParts == 30_020 && all.readyMessages == 30_400 && all.highestPriority == 2)
        let capped = try #require(try await fixture.store.readyWork(countingAtMost: 100).first)
        #expect(capped.readyParts == 300 && capped.highestPriority == 2)
        let connection = try await fixture.database.connect()
        try await connection.execute(
            PostgresStatement("PREPARE look(integer) AS \(Store.readyWorkSQL)", prepare: false)
        )
        let lines = try await connection.execute(
            PostgresStatement(
                "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS) EXECUTE look(100)",
                prepare: false
            )
        )
        await connection.close()
        let plan = try (0..<lines.rowCount).map { try lines.text($0, 0) }.joined(separator: "\n")
        // The first line of buffers is the total.
        let pages = plan.firstMatch(of: /shared hit=(\d+)(?: read=(\d+))?/)
            .map { (Int($0.1) ?? 0) + ($0.2.flatMap { Int($0) } ?? 0) }
        #expect(try #require(pages) < 700, "\(plan)")
    }

    @Test("A chunk of explicit targets reads only the targets and subscriptions that it needs")
    func explicitTargets() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 20_000)
        let id = try await fixture.startedDelivery(explicit: true, onePerUser: true)
        try await fixture.sql(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, user_key, push_token)
            SELECT \(id), CASE id % 3 WHEN 0 THEN id END, CASE id % 3 WHEN 1 THEN user_key END, CASE id % 3 WHEN 2 THEN push_token END
            FROM pushmta_engine.subscription WHERE user_key <> ''
            """
        )
        try await fixture.sql("ANALYZE")
        let chunk = try await plan(
            fixture,
            PreparationChunk.explicit(ChunkTarget(onePerUser: true)),
            "bigint, bigint, integer, integer, integer",
            "\(id), 50000, 1000, 64, 16"
        )
        for index in ["subscription", "user", "token"] {
            // For the first row that names a subscription: of the chunk, of those seen before, and of all of a user.
            #expect(chunk.components(separatedBy: "delivery_target_\(index) ").count == 4, "\(chunk)")
        }
        #expect(!chunk.contains("Seq Scan on delivery_target") && !chunk.contains("Seq Scan on subscription"))
    }

    @Test("Lease, mark and counters of a part are updated in place (HOT)", .timeLimit(.minutes(2)))
    func hot() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        for through: Int32 in 1...20 {
            _ = try await fixture.store.mark([PartMark(part: part.id, token: 1, through: through)])
        }
        let connection = try await fixture.database.connect()
        try await connection.run(script: "SELECT pg_stat_force_next_flush()")
        await fixture.store.close()
        let updates = PostgresStatement(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'delivery_part'",
            prepare: false
        )
        var row = try await connection.execute(updates)
        while try row.int64(0, 0) < 21 { row = try await connection.execute(updates) }
        // Only the claim changes the state, which is in indexes.
        #expect(try row.int64(0, 0) - row.int64(0, 1) == 1)
    }

    private func plan(_ fixture: StoreFixture, _ sql: String, _ types: String, _ values: String) async throws -> String
    {
        let connection = try await fixture.database.connect()
        try await connection.run(
            script:
                "SET plan_cache_mode = force_generic_plan; SET enable_memoize = off; SET max_parallel_workers_per_gather = 0; SET enable_seqscan = off"
        )
        let signature = types.isEmpty ? "" : "(\(types))"
        try await connection.run(script: "PREPARE hot\(signature) AS \(sql)")
        let rows = try await connection.execute(
            PostgresStatement("EXPLAIN (COSTS OFF) EXECUTE hot" + (values.isEmpty ? "" : "(\(values))"), prepare: false)
        )
        return try (0..<rows.rowCount).map { try rows.text($0, 0) }.joined(separator: "\n")
    }
}
