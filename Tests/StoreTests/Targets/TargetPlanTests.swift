import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Plans of chunks with filters and exclusions")
struct TargetPlanTests {
    private func plan(
        _ fixture: StoreFixture,
        _ target: ChunkTarget,
        _ types: [String],
        _ values: [String],
        settings: String = ""
    ) async throws -> String {
        try await explain(
            fixture,
            (["bigint", "bigint", "integer", "integer", "integer", "integer"] + types).joined(separator: ", "),
            PreparationChunk.subscribers(target),
            (["16", "50000", "1000", "64", "16", "1"] + values).joined(separator: ", "),
            settings: settings
        )
    }

    private func explain(
        _ fixture: StoreFixture,
        _ types: String,
        _ sql: String,
        _ arguments: String,
        settings: String = ""
    ) async throws -> String {
        let connection = try await fixture.database.connect()
        try await connection.run(
            script: """
                SET plan_cache_mode = force_generic_plan; SET enable_memoize = off; SET max_parallel_workers_per_gather = 0;
                SET enable_seqscan = off; SET jit = off; \(settings)
                """
        )
        try await connection.run(script: "PREPARE chunk(\(types)) AS \(sql)")
        let rows = try await connection.execute(
            PostgresStatement("EXPLAIN (COSTS OFF, VERBOSE) EXECUTE chunk(\(arguments))", prepare: false)
        )
        await connection.close()
        return try (0..<rows.rowCount).map { try rows.text($0, 0) }.joined(separator: "\n")
    }

    private func filter(_ fixture: StoreFixture, _ text: String, _ mapping: TargetMapping? = nil) async throws
        -> FilterSQL
    {
        try FilterSQL(
            try await fixture.store.parseFilter(text).get(),
            firstParameter: ChunkTarget.firstFilterParameter,
            mapping: mapping,
            start: DatabaseTime(microsecondsSince1970: 0)
        )
    }

    /// A large application, a mapping with a key index, and a long list.
    private func make() async throws -> (StoreFixture, TargetMapping) {
        let fixture = try await StoreFixture.make()
        try await fixture.makePeople()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 20_000)
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 2_000)
        try await fixture.sql(
            "INSERT INTO crm.person (key, age) SELECT user_key, id % 90 FROM pushmta_engine.subscription"
        )
        try await fixture.store.createExclusionList(name: "long")
        try await fixture.sql(
            "INSERT INTO pushmta_engine.exclusion_entry (list_id, user_key) SELECT 1, 'x' || n FROM generate_series(1, 20000) n"
        )
        try await fixture.sql("ANALYZE")
        return (fixture, try await fixture.store.mapping(named: "people"))
    }

    @Test("What a delivery's target needs is read by its id, not from the rows of all deliveries")
    func ofOneDelivery() async throws {
        let fixture = try await StoreFixture.make()
        let sql = "SELECT d.id, \(ChunkTarget.columnsSQL) FROM pushmta_engine.delivery d WHERE d.id = ANY($1)"
        let found = try await explain(fixture, "bigint[]", sql, "'{1}'", settings: "SET enable_seqscan = on")
        #expect(!found.contains("hashed"), "\(found)")
    }

    @Test("Without a filter only the index is read; with one, the application's subscriptions are read once, in order")
    func filters() async throws {
        let (fixture, mapping) = try await make()
        let plain = try await plan(fixture, ChunkTarget(), [], [])
        #expect(plain.contains("Index Only Scan using subscription_scan"), "\(plain)")
        var target = ChunkTarget()
        target.filter = try await filter(
            fixture,
            "recipient.city in ('Lyon', 'Oslo') and registered_at < now - 3 days"
        )
        let filtered = try await plan(
            fixture,
            target,
            ["text", "text[]", "timestamptz"],
            ["'city'", "'{Lyon}'", "now()"]
        )
        #expect(filtered.contains("hashed SubPlan"), "\(filtered)")
        target.mapping = mapping
        target.filter = try await filter(fixture, "mapping.age > 30", mapping)
        let (types, values) = (["text", "text[]", "text[]"], ["'30'", "'{a}'", "'{31}'"])
        let mapped = try await plan(fixture, target, types, values)
        // The view's values are looked up in a table, not scanned for each subscription.
        #expect(mapped.contains("CTE mapped") && mapped.contains("Hash Cond: (s.user_key = m.user_key)"), "\(mapped)")
        target.onePerUser = true
        let single = try await plan(fixture, target, types, values)
        #expect(single.contains("subscription_user"), "\(single)")
        for isGrouped in [false, true] {
            target.onePerUser = isGrouped
            let asked = try await explain(
                fixture,
                "bigint, bigint, integer",
                PreparationChunk.userKeys(target),
                "16, 50000, 1"
            )
            #expect(
                asked.contains("Index Scan using subscription_scan")
                    && !asked.contains("Seq Scan on pushmta_engine.subscription"),
                "\(asked)"
            )
        }
        for text in [filtered, mapped, single] {
            #expect(text.contains("Index Scan using subscription_scan"), "\(text)")
        }
        for text in [plain, filtered, mapped, single] {
            #expect(
                !text.contains("Seq Scan on pushmta_engine.subscription") && !text.contains("Seq Scan on crm.person"),
                "\(text)"
            )
        }
    }

    @Test("One pass over the delivery's parts finds the seed addresses that the target reached")
    func seeds() async throws {
        let (fixture, _) = try await make()
        let text = try await explain(fixture, "bigint, integer", PreparationChunk.seeds(ChunkTarget()), "16, 1000")
        #expect(text.contains("hashed SubPlan") && text.contains("delivery_part_delivery"), "\(text)")
        #expect(!text.contains("Seq Scan on pushmta_engine.subscription"), "\(text)")
    }

    @Test("Exclusions and shared tokens are looked up by their indexes")
    func exclusions() async throws {
        let (fixture, _) = try await make()
        var target = ChunkTarget()
        target.exclusions = [.lists, .users, .subscriptions, .tokens]
        target.hasSharedTokens = true
        let delivery = try await fixture.startedDelivery(explicit: true)
        try await fixture.sql(
            """
            INSERT INTO pushmta.delivery_exclusion (delivery_id, user_key, subscription_id, push_token)
            VALUES (\(delivery), 'x1', NULL, NULL), (\(delivery), NULL, 1, NULL), (\(delivery), NULL, NULL, repeat('ab', 32))
            """
        )
        try await fixture.sql("ANALYZE pushmta.delivery_exclusion")
        // Since PostgreSQL 18, the choice between separate look-ups and a hash depends on the cost of a scan even if
        // scans are disabled. So sequential pages are made expensive.
        let text = try await plan(fixture, target, [], [], settings: "SET seq_page_cost = 1000000")
        for index in ["exclusion_entry_user", "exclusion_entry_subscription", "exclusion_entry_token"] {
            #expect(text.contains(index), "\(index): \(text)")
        }
        for index in [
            "delivery_exclusion_user", "delivery_exclusion_subscription", "delivery_exclusion_token",
            "subscription_token",
        ] {
            #expect(text.contains(index), "\(index): \(text)")
        }
        #expect(
            !text.contains("Seq Scan on pushmta_engine.exclusion_entry")
                && !text.contains("Seq Scan on pushmta_engine.subscription"),
            "\(text)"
        )
    }
}
