import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Queries of the console's pages cost the same however many deliveries, parts and subscriptions there are.
@Suite("The console's queries on large data")
struct ConsoleScaleTests {
    @Test("Progress reads the sums of counted parts and the uncounted parts, however many are counted")
    func progress() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 100, partSize: 10)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery_part (delivery_id, application_id, external_account_id, log_day, size, sent, state, counted)
            SELECT p.delivery_id, p.application_id, p.external_account_id, p.log_day, 10, 10, 'done', true
            FROM (SELECT * FROM pushmta_engine.delivery_part LIMIT 1) p CROSS JOIN generate_series(1, 20000)
            """
        )
        try await fixture.sql(
            "INSERT INTO pushmta_engine.delivery_sum (delivery_id, parts, made, sent) VALUES (\(id), 20000, 200000, 200000)"
        )
        try await fixture.sql("ANALYZE")
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.sent == 200_000 && progress.pending == 100 && progress.partsDone == 20_000)
        #expect(progress.partsReady == 10)
        #expect(try await fixture.progressAgrees(id))
        let plan = try await plan(fixture, "SELECT * FROM pushmta.delivery_progress p WHERE p.id = ANY('{\(id)}')")
        #expect(plan.text.contains("delivery_part_unfinished") && plan.text.contains("delivery_part_uncounted"))
        #expect(!plan.text.contains("Seq Scan on delivery_part ") && plan.pages < 900, "\(plan)")
        // A delivery's statistics are read from its totals.
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery_statistic (delivery_id, hour, n, application_id, measure, failure, app_version, locale, reason)
            SELECT \(id), now() + h * interval '1 hour', 2, 1, m, -1, v::text, '', '' FROM generate_series(1, 100) h,
                generate_series(1, 50) v, unnest('{1,2}'::smallint[]) m
            """
        )
        try await fixture.sql("ANALYZE pushmta_engine.delivery_statistic")
        let failures = try await fixture.store.failureCounts(deliveries: [id], limit: 5)
        #expect(failures.map(\.count) == [10_000])
        #expect(try await fixture.store.outcomesByApplication(deliveries: [id]).map(\.sent) == [10_000])
        #expect(try await fixture.viewsAgree(id))
        for view in ["delivery_statistics", "delivery_statistics_by_application", "delivery_failures"] {
            let plan = try await self.plan(
                fixture,
                "SELECT * FROM pushmta.\(view) s WHERE s.delivery_id = ANY('{\(id)}')"
            )
            #expect(plan.pages < 250 && !plan.text.contains("on delivery_statistic "), "\(plan)")
        }
        try await fixture.sql("UPDATE pushmta_engine.delivery_statistic SET n = 3 WHERE app_version = '1'")
        #expect(try await fixture.viewsAgree(id))
    }

    @Test("A message is found among very many parts by binary search over their ids, whatever other parts lie between")
    func halves() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 400)
        let id = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: 10)
        // Between the delivery's parts are others: of another delivery, and its own retries.
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery_part (id, delivery_id, parent_part_id, application_id, external_account_id, log_day, size)
            SELECT 1000000 + p.id * 1000 + n, CASE WHEN n % 2 = 0 THEN p.delivery_id ELSE 2 END, CASE WHEN n % 2 = 0 THEN p.id END,
                p.application_id, p.external_account_id, p.log_day, 1
            FROM pushmta_engine.delivery_part p CROSS JOIN generate_series(1, 100) n
            """
        )
        try await fixture.sql(
            """
            WITH moved AS (UPDATE pushmta_engine.delivery_part_target SET part_id = 1000000 + part_id * 1000)
            UPDATE pushmta_engine.delivery_part SET id = 1000000 + id * 1000 WHERE id < 1000000
            """
        )
        try await fixture.sql("ANALYZE")
        let numbers =
            "pushmta_engine.numbers_in_order(\(id), 1, (SELECT log_day FROM pushmta_engine.delivery WHERE id = \(id)), s.id)"
        let right = """
            SELECT count(*) FROM pushmta_engine.subscription s CROSS JOIN LATERAL \(numbers) n
            JOIN pushmta_engine.delivery_part_target t ON t.part_id = n.part
            WHERE t.subscription_ids[n.number - t.first_sequence + 1] = s.id
            """
        #expect(try await fixture.sql(right) == 400)
        let highest = "SELECT max(n.looked) FROM pushmta_engine.subscription s CROSS JOIN LATERAL \(numbers) n"
        #expect(try await fixture.sql(highest) ?? 99 <= 20)
        let none = "SELECT count(n.number) FROM (VALUES (0), (100000)) s(id) CROSS JOIN LATERAL \(numbers) n"
        #expect(try await fixture.sql(none) == 0)
    }

    @Test("A list of deliveries uses the index of its filter, and continues where it stopped")
    func lists() async throws {
        let fixture = try await StoreFixture.make()
        let old = try await fixture.startedDelivery(["shop-android"])
        try await fixture.sql("UPDATE pushmta_engine.delivery SET label = 'The OLD one', state = 'stopped'")
        try await fixture.sql(
            """
            WITH made AS (
                INSERT INTO pushmta_engine.delivery (label, content, state, log_day, prepared, started_at, finished_at)
                SELECT 'sale ' || n, '{}', 'finished', d.log_day, true, now(), now()
                FROM pushmta_engine.delivery d CROSS JOIN generate_series(1, 20000) n RETURNING id
            )
            INSERT INTO pushmta_engine.delivery_application (delivery_id, application_id, external_account_id) SELECT id, 1, 1 FROM made
            """
        )
        try await fixture.sql("VACUUM ANALYZE pushmta_engine.delivery, pushmta_engine.delivery_application")
        for filter in [
            DeliveryFilter(state: .stopped), DeliveryFilter(application: "shop-android"),
            DeliveryFilter(text: "old ONE"),
        ] {
            let found = try await fixture.store.deliveryPage(filter, maxRows: 25)
            #expect(found.rows.map(\.progress.id) == [old] && found.next == nil && !found.isCut)
        }
        // All have the same time, so their ids decide the order. Each is on one page.
        var filter = DeliveryFilter(text: "sale 19")
        var seen: [Int64] = []
        repeat {
            let page = try await fixture.store.deliveryPage(filter, maxRows: 100)
            seen += page.rows.map(\.progress.id)
            filter.after = page.next
        } while filter.after != nil && seen.count < 2_000
        // 19, 190 to 199, 1900 to 1999, 19000 to 19999.
        #expect(seen.count == 1_111 && seen == Set(seen).sorted(by: >))
        // Without any time the search stops after a few, and says where.
        let stopped = """
            SELECT count(*) FROM pushmta_engine.walk_list('{"archived": false, "label": "old one"}', NULL, NULL, 25, interval '0') w
            WHERE w.is_cut AND w.delivery = pushmta_engine.delivery_id(
                (SELECT to_hex(max(d.id))::bigint - 99 FROM pushmta_engine.delivery d))
            """
        #expect(try await fixture.sql(stopped) == 1)
        let plans = [
            (#"{"archived": false}"#, false, "Index Only Scan Backward using delivery_listed"),
            (#"{"archived": false, "state": "stopped"}"#, false, "using delivery_in_state"),
            (#"{"archived": true}"#, false, "using delivery_archived"),
            (#"{"archived": false, "label": "old one"}"#, false, "Index Only Scan Backward using delivery_listed"),
            (#"{"archived": false, "application": "shop-android"}"#, true, "using delivery_pkey"),
        ]
        for (wanted, isByIDs, index) in plans {
            let sql = try await fixture.store.query(
                "SELECT pushmta_engine.list_query($1::text::jsonb, $2)",
                [.text(wanted), .bool(isByIDs)]
            ).one { try $0.text() }
            let plan = try await explain(
                fixture,
                "EXECUTE kept('\(wanted)', 'infinity', 9223372036854775807, '{\(old)}')",
                before: """
                    SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_sort = off;
                    PREPARE kept(jsonb, timestamptz, bigint, bigint[]) AS SELECT * FROM (\(sql)) q LIMIT 26
                    """
            )
            #expect(plan.text.contains(index) && plan.pages < 300, "\(wanted): \(plan)")
        }
    }

    @Test("If there is no time to count, the number is estimated by index from windows spread over all ids")
    func estimates() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, locale, opted_out)
            SELECT 1 + n % 2, lpad(n::text, 64, '0'), CASE WHEN n % 8 < 2 THEN 'fr' ELSE 'de' END, n % 80 < 2
            FROM generate_series(1, 60000) n
            """
        )
        try await fixture.sql("ANALYZE")
        let start = try await fixture.store.databaseClock()
        func counter(_ filter: String) async throws -> AudienceCounter {
            let parsed = try await fixture.store.parseFilter(filter).get()
            let condition = try FilterSQL(parsed, firstParameter: 4, mapping: nil, start: start)
            return AudienceCounter(store: fixture.store, condition: condition)
        }
        let none = AudienceCounter.Sum()
        let soon = ContinuousClock.now + .milliseconds(1)
        // 7,500 in each application, of which a tenth has opted out; one round reads 5,000 ids of each.
        let both = try await counter("locale = 'fr'").estimate(
            [1, 2],
            beside: none,
            counted: none,
            until: soon + .seconds(1)
        )
        #expect(try (1...2_000).contains(required(both.error)), "\(both)")
        #expect((12_000...15_000).contains(both.count) && (1_000...2_000).contains(both.excluded), "\(both)")
        // The counted number is added, and the result is never less than that.
        let one = try await counter("locale = 'fr'").estimate(
            [2],
            beside: .init(chosen: 1_000_000),
            counted: none,
            until: .now + .seconds(1)
        )
        #expect(try abs(one.count - 1_006_750) <= 2 * required(one.error), "\(one)")
        let least = try await counter("locale = 'fr'").estimate(
            [2],
            beside: none,
            counted: .init(chosen: 7_450),
            until: .now + .seconds(1)
        )
        #expect(least.error != nil && least.count >= 7_450, "\(least)")
        // If a sample finds no one, the result is the counted number, with the possible number of others as its error.
        let few = try await counter("locale = 'it'").estimate([1], beside: none, counted: .init(chosen: 3), until: .now)
        #expect(few.count == 3 && (1...100).contains(few.error ?? 0), "\(few)")
        // One sample is always taken.
        let hasty = try await counter("locale = 'fr'").estimate([1], beside: none, counted: none, until: .now)
        #expect(try abs(hasty.count - 6_750) <= 2 * required(hasty.error), "\(hasty)")
        #expect(AudienceCounter.unit(345) == 100 && AudienceCounter.unit(9.9) == 1)
        #expect(AudienceCounter.rounded(1_234_567, 100) == 1_234_600)
        let sample = AudienceCounter.sampleSQL(nil)
        let values = ["'{1}'", "'{20000}'", "250"]
        let plan = try await prepared(fixture, sample, "integer[], bigint[], bigint", values)
        #expect(
            plan.text.contains("Index") && !plan.text.contains("Seq Scan on subscription") && plan.pages < 200,
            "\(plan)"
        )
    }

    @Test(
        "A page of messages reads only its own parts' numbers, and skips numbers that are in no part"
    )
    func messages() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 30, partSize: 10)
        // 300 parts of retried messages, 3,000 in each: the cost of the arrays is visible next to the look-ups.
        try await fixture.sql(
            """
            WITH made AS (
                INSERT INTO pushmta_engine.delivery_part (delivery_id, application_id, external_account_id, log_day, size)
                SELECT p.delivery_id, p.application_id, p.external_account_id, p.log_day, 3000
                FROM (SELECT * FROM pushmta_engine.delivery_part LIMIT 1) p CROSS JOIN generate_series(1, 300) RETURNING *
            ), placed AS (SELECT m.*, (row_number() OVER (ORDER BY m.id))::integer * 3000 AS n FROM made m)
            INSERT INTO pushmta_engine.delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence, sequences,
                subscription_ids)
            SELECT p.id, p.delivery_id, p.log_day, p.n, p.n + 2999, ARRAY(SELECT generate_series(p.n, p.n + 2999)),
                ARRAY(SELECT generate_series(1, 3000)) FROM placed p
            """
        )
        // Many more numbers than a page searches; there are none above all parts.
        try await fixture.sql("UPDATE pushmta_engine.delivery SET target = 2000000000")
        try await fixture.sql("ANALYZE")
        for question in ["api_outcomes(\(id), 250000, 250024)", "api_highest_number(\(id))"] {
            // It runs once before, so that the catalogs read by planning do not count.
            let sql = "SELECT * FROM pushmta_engine.\(question)"
            let plan = try await explain(fixture, sql, before: sql)
            #expect(plan.pages < 900, "\(question): \(plan)")
        }
        #expect(try await fixture.sql("SELECT pushmta_engine.api_highest_number(\(id))") == 902_999)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.api_outcomes(\(id), 250000, 250024)") == 25)
        let reader = try await fixture.actor(.read)
        func listed(_ status: MessageStatus, below: Int32 = .max) async throws -> (rows: [ListedMessage], next: Int32?)
        {
            let filter = MessageFilter(status: status, below: below)
            return try await fixture.store.messages(ofDelivery: id, filter, limit: 25, by: reader)
        }
        let first = try await listed(.pending)
        #expect(first.rows.map(\.sequence) == Array((902_975...902_999).reversed()) && first.next == 902_975)
        let low = try await listed(.pending, below: 3_005)
        #expect(low.rows.map(\.sequence) == Array((3_000...3_004).reversed()) + Array((11...30).reversed()))
        #expect(low.next == 11)
        let last = try await listed(.pending, below: 11)
        #expect(last.rows.map(\.sequence) == Array((1...10).reversed()) && last.next == nil)
        // A stopped part has no rows either, and an ended part has nothing pending.
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_part p SET state = 'done',
                rest_status = CASE WHEN p.id = (SELECT min(q.id) FROM pushmta_engine.delivery_part q) THEN 7 END
            """
        )
        let canceled = try await listed(.canceled)
        #expect(canceled.rows.map(\.sequence) == Array((1...10).reversed()) && canceled.next == nil)
        let none = try await listed(.pending)
        #expect(none.rows.isEmpty && none.next == nil)
    }

    /// What a statement reads, by its plan.
    private struct Plan {
        let text: String
        /// The pages read by the whole statement.
        let pages: Int
    }

    private func plan(_ fixture: StoreFixture, _ sql: String) async throws -> Plan {
        try await explain(fixture, sql, before: "")
    }

    /// With a generic plan for all values.
    private func prepared(_ fixture: StoreFixture, _ sql: String, _ types: String, _ values: [String]) async throws
        -> Plan
    {
        try await explain(
            fixture,
            "EXECUTE kept(\(values.joined(separator: ", ")))",
            before: "SET plan_cache_mode = force_generic_plan; PREPARE kept(\(types)) AS \(sql)"
        )
    }

    private func explain(_ fixture: StoreFixture, _ sql: String, before: String) async throws -> Plan {
        let connection = try await fixture.database.connect()
        if !before.isEmpty { try await connection.run(script: before) }
        let lines = try await connection.execute(
            PostgresStatement("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS) \(sql)", prepare: false)
        )
        await connection.close()
        let text = try (0..<lines.rowCount).map { try lines.text($0, 0) }.joined(separator: "\n")
        // The first line of buffers is the total.
        let pages = text.firstMatch(of: /shared hit=(\d+)(?: read=(\d+))?/)
            .map { (Int($0.1) ?? 0) + ($0.2.flatMap { Int($0) } ?? 0) }
        return Plan(text: text, pages: try #require(pages))
    }
}
