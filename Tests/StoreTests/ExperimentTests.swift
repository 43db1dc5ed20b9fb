import Foundation
import LaboratoryStore
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Experiments")
struct ExperimentTests {
    private static let variants = """
        [{"label": "plain", "percent": 20}, {"percent": 20, "content": {"ios": {"title": "B"}}}]
        """

    /// A started and prepared experiment to 3,000 people, of whom a third have a second device.
    private func running(_ options: String, variants: String = Self.variants, partsPerChunk: Int = 7) async throws
        -> (StoreFixture, Int64)
    {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 4_000)
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET user_key = 'user' || CASE WHEN id % 4 = 3 THEN id - 1 ELSE id END"
        )
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "A"}}"#)
        )
        try await call(fixture, "set_experiment(\(id), '\(variants)', \(options))")
        try await call(fixture, "start_delivery(\(id))")
        _ = try await fixture.prepare(partSize: 100, partsPerChunk: partsPerChunk)
        return (fixture, id)
    }

    private func call(_ fixture: StoreFixture, _ function: String) async throws {
        try await fixture.sql("DO $do$ BEGIN PERFORM pushmta.\(function); END $do$")
    }

    private func cells(_ fixture: StoreFixture, _ id: Int64, _ cell: Int) async throws -> Int64 {
        try await fixture.sql(
            "SELECT coalesce(sum(size), 0)::bigint FROM pushmta_engine.delivery_part WHERE delivery_id = \(id) AND cell = \(cell)"
        ) ?? 0
    }

    /// Sends everything to the variants; this share of each is clicked.
    private func click(_ fixture: StoreFixture, _ id: Int64, _ shares: [Double]) async throws {
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_part SET state = 'done', sent = size, finished_at = now()
            WHERE delivery_id = \(id) AND cell < 9
            """
        )
        for (cell, share) in zip(1..., shares) {
            try await fixture.sql(
                """
                INSERT INTO pushmta_engine.tracking_log (delivery_id, sequence, log_day, kind, first)
                SELECT d.id, (\(cell) << 27) + n, d.log_day, 2, true FROM pushmta_engine.delivery d
                CROSS JOIN generate_series(1, (SELECT (messages * \(share))::integer FROM pushmta_engine.experiment_cell
                    WHERE delivery_id = d.id AND cell = \(cell))) n
                WHERE d.id = \(id)
                """
            )
        }
    }

    @Test("An experiment that cannot be looked at is looked at later, and holds up no other")
    func broken() async throws {
        let (fixture, id) = try await running("decide_after => interval '1 hour'")
        // No timestamp is so late. The database refuses such a value otherwise.
        try await fixture.sql(
            "ALTER TABLE pushmta_engine.experiment DROP CONSTRAINT experiment_decide_after_check"
        )
        try await fixture.sql(
            "UPDATE pushmta_engine.experiment SET decide_after = interval '293000 years', look_at = now() - interval '1 minute'"
        )
        _ = try await fixture.store.advancePlans(enough: 5_000, limit: 1_000)
        let later = try await fixture.sql(
            "SELECT count(*) FROM pushmta_engine.experiment WHERE delivery_id = \(id) AND look_at > now() + interval '30 seconds'"
        )
        #expect(later == 1)
    }

    @Test("No variant shows more hits than messages sent: devices answer before outcomes are stored")
    func earlyHits() async throws {
        let (fixture, id) = try await running("decide_after => interval '1 hour'")
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_part SET sent = 10 WHERE id IN (SELECT min(p.id) FROM pushmta_engine.delivery_part p
                WHERE p.delivery_id = \(id) AND p.cell = 1)
            """
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.tracking_log (delivery_id, sequence, log_day, kind, first)
            SELECT d.id, (1 << 27) + n, d.log_day, k, true FROM pushmta_engine.delivery d, generate_series(1, 12) n, generate_series(1, 2) k
            WHERE d.id = \(id)
            """
        )
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.count_results(\(id))") == 1)
        let first = try #require(try await fixture.store.experimentVariants(ofDelivery: id).first)
        #expect(first.sent == 10 && first.received == 10 && first.clicked == 10 && first.converted == 0)
    }

    @Test("Everybody is in one cell with all devices; shares and sums are right")
    func divided() async throws {
        let (fixture, id) = try await running("decide_after => interval '1 hour', hold_out_percent => 10")
        let sizes = [try await cells(fixture, id, 1), try await cells(fixture, id, 2), try await cells(fixture, id, 9)]
        // Four standard deviations and more.
        #expect((680...920).contains(sizes[0]) && (680...920).contains(sizes[1]) && (1_850...2_150).contains(sizes[2]))
        let heldOut = try await fixture.sql(
            "SELECT count(*) FROM pushmta.exclusion_log WHERE delivery_id = \(id) AND reason = 'hold_out'"
        )
        #expect(sizes.reduce(0, +) + (heldOut ?? 0) == 4_000)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.target == sizes.reduce(0, +) && progress.excluded == heldOut)
        #expect(try await fixture.assertEquation(id))
        let snapshot = try await fixture.store.snapshot(delivery: id)
        #expect(snapshot.faults == [] && snapshot.runs.map(\.cell) == [1, 2, 9])
        #expect(snapshot.runs.map(\.distinct) == sizes)
        let split = try await fixture.sql(
            """
            SELECT count(*) FROM (SELECT s.user_key FROM pushmta_engine.delivery_part p
                JOIN pushmta_engine.delivery_part_target t ON t.part_id = p.id
                CROSS JOIN LATERAL unnest(t.subscription_ids) u(id) JOIN pushmta_engine.subscription s ON s.id = u.id
                WHERE p.delivery_id = \(id) GROUP BY s.user_key HAVING count(DISTINCT p.cell) > 1) x
            """
        )
        #expect(split == 0)
        let misplaced = try await fixture.sql(
            """
            SELECT count(*) FROM pushmta_engine.delivery_part p JOIN pushmta_engine.delivery_part_target t ON t.part_id = p.id
            WHERE p.delivery_id = \(id) AND (pushmta_engine.cell_of(t.first_sequence) <> p.cell
                OR pushmta_engine.cell_of(t.last_sequence) <> p.cell OR t.last_sequence - t.first_sequence + 1 <> p.size)
            """
        )
        #expect(misplaced == 0)
    }

    @Test("Variants leave side by side: in the order of the claims, none is far ahead of the other")
    func sideBySide() async throws {
        // All in one chunk.
        let (fixture, id) = try await running("decide_after => interval '1 hour'", partsPerChunk: 50)
        let found = try await fixture.sql(
            """
            SELECT max(abs(100 * x.first / x.all_first - 100 * x.second / x.all_second))::bigint
            FROM (SELECT coalesce(sum(p.size) FILTER (WHERE p.cell = 1) OVER w, 0) AS first,
                    coalesce(sum(p.size) FILTER (WHERE p.cell = 2) OVER w, 0) AS second,
                    sum(p.size) FILTER (WHERE p.cell = 1) OVER () AS all_first,
                    sum(p.size) FILTER (WHERE p.cell = 2) OVER () AS all_second
                FROM pushmta_engine.delivery_part p WHERE p.delivery_id = \(id) AND p.cell < 9
                WINDOW w AS (ORDER BY p.not_before, p.id)) x
            """
        )
        let apart = try #require(found)
        #expect(apart <= 25, "one variant is \(apart) % ahead")
    }

    @Test("No winner is chosen if there is no rest that could get it")
    func choiceWithoutRest() async throws {
        let (fixture, id) = try await running(
            "hold_out_percent => 20",
            variants: #"[{"percent": 40}, {"percent": 40}]"#
        )
        #expect(try await cells(fixture, id, 9) == 0)
        await #expect(throws: PostgresError.self) { try await call(fixture, "choose_winner(\(id), 1)") }
        #expect(try await isTrue(fixture, "SELECT state = 'running' FROM pushmta.experiment"))
    }

    @Test("Children get the content of each variant, and nothing of the rest")
    func contents() async throws {
        let (fixture, id) = try await running("decide_after => interval '1 hour'")
        #expect(try await fixture.store.advancePlans(enough: 1_000, limit: 1_000) == 0)
        let claimed = try await fixture.claim(limit: 100)
        #expect(Set(claimed.map(\.variant)) == [1, 2])
        #expect(Int64(claimed.reduce(0) { $0 + $1.size }) == 4_000 - (try await cells(fixture, id, 9)))
        #expect(try await fixture.store.deliveryForSending(id, variant: 1).content.contains("\"A\""))
        #expect(try await fixture.store.deliveryForSending(id, variant: 2).content.contains("\"B\""))
    }

    /// Looks at the experiment that is due after a time; returns whether one was.
    private func look(_ fixture: StoreFixture, after time: String = "0 s") async throws -> Bool {
        try await fixture.sql("SELECT pushmta_engine.advance_experiment(now() + interval '\(time)')::integer::bigint")
            == 1
    }

    private func isTrue(_ fixture: StoreFixture, _ condition: String) async throws -> Bool {
        try await fixture.sql("SELECT (\(condition))::integer::bigint") == 1
    }

    @Test("The winner is named as soon as it is sure, and the rest gets it")
    func winner() async throws {
        let (fixture, id) = try await running("decide_after => interval '1 hour', least_sample => 500")
        try await click(fixture, id, [0.1, 0.3])
        _ = try await fixture.store.advancePlans(enough: 1_000, limit: 1_000)
        #expect(try await fixture.sql("SELECT winner::bigint FROM pushmta.experiment WHERE delivery_id = \(id)") == 2)
        let claimed = try await fixture.claim(limit: 100)
        #expect(Int64(claimed.reduce(0) { $0 + $1.size }) == (try await cells(fixture, id, 9)))
        #expect(claimed.allSatisfy { $0.variant == 2 })
        let words = try await fixture.sql(
            "SELECT count(*) FROM pushmta.experiment_variant WHERE delivery_id = \(id) AND against_first LIKE '%B is better.'"
        )
        #expect(words == 1)
    }

    @Test("Without a sure winner nothing is decided before its time; then the first goes out, or a person chooses")
    func undecided() async throws {
        for rule in ["first", "wait"] {
            let (fixture, id) = try await running(
                "decide_after => interval '1 hour', least_sample => 100, if_undecided => '\(rule)'"
            )
            try await click(fixture, id, [0.2, 0.2])
            #expect(try await look(fixture))
            #expect(try await isTrue(fixture, "SELECT state = 'running' FROM pushmta.experiment"))
            #expect(try await look(fixture, after: "61 minutes"))
            let state = rule == "first" ? "decided" : "undecided"
            #expect(try await isTrue(fixture, "SELECT state = '\(state)' FROM pushmta.experiment"))
            let alarms = try await fixture.alarms("experiment_undecided")
            #expect(alarms.count == (rule == "wait" ? 1 : 0))
            if rule == "wait" {
                #expect(alarms.first?.subject == "\(id)")
                #expect(alarms.first?.text.contains("messages wait for one") == true)
                #expect(try await fixture.claim(limit: 100).isEmpty)
                await #expect(throws: PostgresError.self) {
                    try await call(fixture, "choose_winner(\(id), 3)")
                }
                try await call(fixture, "choose_winner(\(id), 2)")
            }
            #expect(try await fixture.alarms("experiment_undecided").isEmpty)
            let claimed = try await fixture.claim(limit: 100)
            #expect(claimed.allSatisfy { $0.variant == (rule == "first" ? 1 : 2) } && !claimed.isEmpty)
        }
    }

    @Test("Results are counted at most every few seconds, the less often the older they are, and at the decision")
    func pace() async throws {
        let (fixture, id) = try await running("decide_after => interval '1 hour', least_sample => 100")
        func wait(_ moment: String) async throws -> Double {
            let found = try await fixture.sql(
                "SELECT extract(epoch FROM look_at - (now() + interval '\(moment)'))::bigint FROM pushmta_engine.experiment"
            )
            return Double(try required(found))
        }
        #expect(try await look(fixture))
        #expect(try await !look(fixture), "It was looked at just now")
        #expect((-60...6).contains(try await wait("0 s")))
        #expect(try await look(fixture, after: "30 minutes"))
        #expect((-60...20).contains(try await wait("30 minutes")))
        #expect(try await look(fixture, after: "3599 seconds"))
        #expect((-60...2).contains(try await wait("1 hour")), "The decision is at its time")
        #expect(try await look(fixture, after: "3601 seconds"))
        #expect(try await isTrue(fixture, "SELECT winner = 1 FROM pushmta.experiment"))
        // A delivery that has ended is looked at for seven more days.
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery_part SET state = 'done', sent = size, finished_at = now()"
        )
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET state = 'finished', finished_at = now() WHERE id = \(id)"
        )
        #expect(try await look(fixture, after: "6 days"))
        #expect((3_500...3_601).contains(try await wait("6 days")), "at least every hour")
        #expect(try await look(fixture, after: "8 days"))
        #expect(try await isTrue(fixture, "SELECT look_at IS NULL FROM pushmta_engine.experiment"))
        #expect(try await !look(fixture, after: "20 days"))
    }

    @Test("Results stay when the logs of their day are gone")
    func results() async throws {
        let (fixture, id) = try await running("decide_after => interval '1 hour', least_sample => 100")
        try await click(fixture, id, [0.2, 0.2])
        #expect(try await look(fixture))
        let clicked = "SELECT sum(clicked)::bigint FROM pushmta.experiment_variant"
        let counted = try required(try await fixture.sql(clicked))
        #expect(counted > 0)
        try await fixture.sql("DELETE FROM pushmta_engine.tracking_log")
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET sent = 0")
        #expect(try await look(fixture, after: "1 minute"))
        #expect(try await fixture.sql(clicked) == counted)
        try await fixture.sql(
            """
            DO $do$ BEGIN
                EXECUTE (SELECT format('DROP TABLE pushmta_engine.tracking_log_%s', to_char(log_day, 'YYYYMMDD'))
                    FROM pushmta_engine.delivery WHERE id = \(id));
            END $do$
            """
        )
        #expect(try await look(fixture, after: "61 minutes"))
        #expect(try await fixture.sql(clicked) == counted)
        #expect(
            try await isTrue(
                fixture,
                "SELECT look_at IS NULL AND decided_at IS NOT NULL FROM pushmta_engine.experiment"
            )
        )
    }

    @Test("A paused experiment is not decided; what a person chooses then leaves when it is resumed")
    func paused() async throws {
        let (fixture, id) = try await running("decide_after => interval '1 hour', least_sample => 100")
        try await call(fixture, "pause_delivery(\(id))")
        #expect(try await look(fixture, after: "61 minutes"))
        #expect(try await isTrue(fixture, "SELECT state = 'running' FROM pushmta.experiment"))
        try await call(fixture, "choose_winner(\(id), 2)")
        let freed = "SELECT count(*) FROM pushmta_engine.delivery_part WHERE cell = 9 AND state"
        #expect(try await fixture.sql("\(freed) <> 'waiting'") == 0)
        try await call(fixture, "resume_delivery(\(id))")
        #expect(try await fixture.sql("\(freed) <> 'ready'") == 0)
        let claimed = try await fixture.claim(limit: 100)
        #expect(claimed.allSatisfy { $0.variant == 2 || $0.variant == 1 })
        #expect(Set(claimed.map(\.variant)) == [1, 2])
        await #expect(throws: PostgresError.self, "It is decided") {
            try await call(fixture, "choose_winner(\(id), 1)")
        }
    }

    @Test("The rest that is prepared after the decision gets the winner, too; nothing is decided early before that")
    func decidedWhilePreparing() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2_000)
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "A"}}"#)
        )
        try await call(
            fixture,
            "set_experiment(\(id), '\(Self.variants)', decide_after => interval '1 hour', least_sample => 100)"
        )
        try await call(fixture, "start_delivery(\(id))")
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first)
        let first = try await fixture.store.prepareChunk(job, partSize: 100, partsPerChunk: 10)
        #expect(!first.done)
        try await click(fixture, id, [0.1, 0.5])
        #expect(try await look(fixture))
        #expect(try await isTrue(fixture, "SELECT state = 'running' FROM pushmta.experiment"))
        #expect(try await look(fixture, after: "61 minutes"))
        #expect(try await isTrue(fixture, "SELECT winner = 2 FROM pushmta.experiment"))
        while try await !fixture.store.prepareChunk(job, partSize: 100, partsPerChunk: 10).done {}
        let undecided = try await fixture.sql(
            "SELECT count(*) FROM pushmta_engine.delivery_part WHERE cell = 9 AND (variant IS DISTINCT FROM 2 OR state <> 'ready')"
        )
        #expect(undecided == 0)
        #expect(try await cells(fixture, id, 9) > 1_000)
    }

    @Test("Without a rest there is nothing to send, and an experiment that ended is decided by what comes later")
    func withoutRest() async throws {
        let halves = #"[{"percent": 50}, {"percent": 50}]"#
        for (shares, winner) in [([0.1, 0.4], 2), ([0.1, 0.1], 0)] as [([Double], Int64)] {
            let (fixture, id) = try await running("least_sample => 100", variants: halves)
            #expect(try await fixture.sql("SELECT count(*) FROM pushmta.experiment_variant") == 2)
            try await fixture.sql(
                "UPDATE pushmta_engine.delivery_part SET state = 'done', sent = size, finished_at = now()"
            )
            try await fixture.sql(
                "UPDATE pushmta_engine.delivery SET state = 'finished', finished_at = now() WHERE id = \(id)"
            )
            #expect(try await look(fixture))
            #expect(try await isTrue(fixture, "SELECT state = 'running' FROM pushmta.experiment"))
            try await click(fixture, id, shares)
            #expect(try await look(fixture, after: winner == 0 ? "8 days" : "1 hour"))
            #expect(try await fixture.sql("SELECT coalesce(winner, 0)::bigint FROM pushmta.experiment") == winner)
            #expect(try await isTrue(fixture, "SELECT decision NOT LIKE '%rest%' FROM pushmta.experiment"))
        }
    }

    @Test("Too few messages of a variant are named as the reason why nothing was sure")
    func leastSample() async throws {
        let (fixture, id) = try await running("decide_after => interval '1 hour', least_sample => 5000")
        try await click(fixture, id, [0.1, 0.5])
        #expect(try await look(fixture, after: "61 minutes"))
        #expect(
            try await isTrue(
                fixture,
                "SELECT decision LIKE 'only % messages of % were sent, and each variant needs 5000%' FROM pushmta.experiment"
            )
        )
    }

    @Test("A certainty of 99 % needs more than one of 80 %")
    func certainty() async throws {
        let fixture = try await StoreFixture.make()
        let sure =
            "SELECT coalesce(pushmta_engine.sure_winner(ARRAY[100, 142]::bigint[], ARRAY[1000, 1000]::bigint[], 100"
        #expect(try await fixture.sql("\(sure), 0.8), 0)::bigint") == 2)
        #expect(try await fixture.sql("\(sure), 0.99), 0)::bigint") == 0)
    }

    @Test(
        "Messages of an experiment are on pages of outcomes, each on one, without pages for the gaps between variants"
    )
    func pages() async throws {
        let (fixture, id) = try await running("decide_after => interval '1 hour'")
        var (after, pages, seen): (Int32, Int, [Int32]) = (0, 0, [])
        while true {
            let range = try await fixture.store.outcomeRange(delivery: id, after: after, limit: 500)
            guard range.through > after else { break }
            let rows = try await fixture.store.outcomes(delivery: id, sequences: after + 1...range.through)
            #expect(rows.count <= 500 && rows.allSatisfy { !$0.isSeed })
            seen += rows.map(\.row.sequence)
            after = range.through
            pages += 1
        }
        #expect(seen.count == 4_000 && Set(seen).count == 4_000 && pages < 15)
        let reader = try await fixture.actor(.read)
        var (below, listed): (Int32?, Int) = (.max, 0)
        var questions = 0
        while let number = below {
            let filter = MessageFilter(below: number)
            let page = try await fixture.store.messages(ofDelivery: id, filter, limit: 1_000, by: reader)
            listed += page.rows.count
            below = page.next
            questions += 1
        }
        #expect(listed == 4_000 && questions < 15)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status, attempt)
            SELECT p.delivery_id, t.subscription_ids[1], p.id, t.first_sequence, p.log_day, 1, 1
            FROM pushmta_engine.delivery_part p JOIN pushmta_engine.delivery_part_target t ON t.part_id = p.id WHERE p.cell < 9
            """
        )
        let sent = try await fixture.store.messages(
            ofDelivery: id,
            MessageFilter(status: .sent),
            limit: 1_000,
            by: reader
        )
        let parts = try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery_part WHERE cell < 9")
        #expect(Int64(sent.rows.count) == parts)
    }

    @Test("Seed addresses of an experiment get the first variant, and are known as such")
    func seeds() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1_000)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token)
            SELECT a.id, repeat('ab', 32) FROM pushmta_engine.application a WHERE a.name = 'shop-ios'
            """
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.seed (name, subscription_id)
            SELECT 'lab', s.id FROM pushmta_engine.subscription s WHERE s.push_token = repeat('ab', 32)
            """
        )
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "A"}}"#)
        )
        try await call(fixture, "set_seeds(\(id), ARRAY['lab'])")
        try await call(fixture, "set_target(\(id), filter => 'locale = ''en''')")
        try await call(fixture, "set_experiment(\(id), '\(Self.variants)', decide_after => interval '1 hour')")
        try await call(fixture, "start_delivery(\(id))")
        try await fixture.prepare(partSize: 100, partsPerChunk: 7)
        let seeds = try await fixture.sql(
            "SELECT count(*) FROM pushmta.message_status WHERE delivery_id = \(id) AND is_seed"
        )
        #expect(seeds == 1)
        #expect(try await fixture.assertEquation(id))
        let claimed = try await fixture.claim(limit: 100)
        #expect(claimed.contains { $0.size == 1 && $0.variant == 1 } && claimed.allSatisfy { $0.variant > 0 })
        let page = try await fixture.store.outcomes(delivery: id, sequences: 1...10)
        #expect(page.map(\.isSeed) == [true])
    }

    @Test("Conversions count once for each name, are limited for each message, and are forgotten with their person")
    func conversions() async throws {
        let (fixture, id) = try await running("decide_after => interval '1 hour', metric => 'conversions'")
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status, attempt)
            SELECT p.delivery_id, u.id, p.id, t.first_sequence + u.n - 1, p.log_day, 1, 1
            FROM pushmta_engine.delivery_part p JOIN pushmta_engine.delivery_part_target t ON t.part_id = p.id
            CROSS JOIN LATERAL unnest(t.subscription_ids) WITH ORDINALITY u(id, n) WHERE p.cell = 2
            """
        )
        let first = "\(id)-\(2 << 27 | 1)"
        func record(_ name: String) async throws -> Bool {
            try await isTrue(fixture, "pushmta.record_conversion('\(first)', '\(name)', 12.5)")
        }
        #expect(try await record("buy"))
        #expect(try await !record("buy"))
        var counted = 1
        for number in 1...15 {
            counted += try await record("step \(number)") ? 1 : 0
        }
        #expect(counted == 10)
        // The second message may be for another device of the first one's person.
        #expect(try await isTrue(fixture, "pushmta.record_conversion('\(id)-\(2 << 27 | 3)')"))
        for wrong in ["'\(id)-7'", "'nothing'", "'\(first)', ''", "'\(first)', 'a', 'NaN'"] {
            await #expect(throws: PostgresError.self, "\(wrong)") {
                try await call(fixture, "record_conversion(\(wrong))")
            }
        }
        #expect(try await look(fixture))
        let converted = "SELECT converted FROM pushmta.experiment_variant WHERE variant = 2"
        #expect(try await fixture.sql(converted) == 2)
        let value = "SELECT value::bigint FROM pushmta.delivery_conversion WHERE name = 'buy' AND messages = 1"
        // 12.5, rounded.
        #expect(try await fixture.sql(value) == 13)
        try await fixture.sql(
            """
            DO $do$ BEGIN
                PERFORM pushmta.forget_user('shop', s.user_key) FROM pushmta_engine.conversion v
                JOIN pushmta_engine.subscription s ON s.id = v.subscription_id WHERE v.name = 'buy';
            END $do$
            """
        )
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.conversion WHERE name = 'buy'") == 0)
        #expect(try await !record("again"))
        #expect(try await look(fixture, after: "1 minute"))
        #expect(try await fixture.sql(converted) == 2, "What was counted stays")
        try await fixture.sql("UPDATE pushmta_engine.conversion SET recorded_at = now() - interval '400 days'")
        #expect(try await fixture.sql("SELECT pushmta_engine.purge_conversions(10)") == 1)
    }

    @Test("A stopped experiment leaves nothing behind, and a copy of it is divided again")
    func stopped() async throws {
        let (fixture, id) = try await running("decide_after => interval '1 hour', hold_out_percent => 5")
        let copy = try required(try await fixture.sql("SELECT pushmta.copy_delivery(\(id))"))
        let seeds = try await fixture.sql(
            "SELECT count(DISTINCT seed) FROM pushmta_engine.experiment WHERE delivery_id IN (\(id), \(copy))"
        )
        #expect(seeds == 2)
        try await call(fixture, "stop_delivery(\(id))")
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.canceled == progress.target && progress.pending == 0)
    }

    @Test(
        "What makes no sense is refused",
        arguments: [
            (#"[{"percent": 50}]"#, "metric => 'clicks'"),
            (#"[{"percent": 60}, {"percent": 60}]"#, "metric => 'clicks'"),
            (#"[{"percent": 50}, {"percent": 20}]"#, "metric => 'clicks'"),
            (#"[{"percent": 50}, {"percent": 50}]"#, "metric => 'smiles'"),
            (#"[{"percent": 50}, {"percent": 50}]"#, "hold_out_percent => 1"),
            (#"[{"percent": 50}, {"percent": 50}]"#, "decide_after => '367 days'"),
            // In a comparison, one day.
            (#"[{"percent": 50}, {"percent": 50}]"#, "decide_after => '300000 years -107999999 days'"),
            (#"[{"percent": 50}, {"percent": 50, "content": {"ios": {"titel": "x"}}}]"#, "metric => 'clicks'"),
            (#"[{"percent": 50}, {"share": 50}]"#, "metric => 'clicks'"), (#"{"percent": 50}"#, "metric => 'clicks'"),
            (#"[{"percent": 50}, {"percent": 50, "label": "A"}]"#, "metric => 'clicks'"),
            (#"[{"percent": 50}, {"percent": 50}]"#, "metric => NULL"),
            (#"[{"percent": 50}, {"percent": 50}]"#, "certainty_percent => 100"),
            (#"[{"percent": 50}, 50]"#, "metric => 'clicks'"),
        ]
    )
    func refused(_ variants: String, _ options: String) async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "A"}}"#)
        )
        await #expect(throws: PostgresError.self) {
            try await call(fixture, "set_experiment(\(id), '\(variants)', \(options))")
        }
    }

    @Test("A start is refused if the winner would be decided after the end, or before its local time, or for nobody")
    func misfits() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "A"}}"#)
        )
        func refusal(after time: String, _ local: String = "NULL, NULL") async throws -> String? {
            try await call(fixture, "set_experiment(\(id), '\(Self.variants)', decide_after => interval '\(time)')")
            try await call(fixture, "set_local_time(\(id), \(local))")
            do {
                try await call(fixture, "start_delivery(\(id))")
            } catch let error as PostgresError {
                return error.sqlState
            }
            try await call(fixture, "reschedule_delivery(\(id), NULL)")
            return nil
        }
        let tomorrow = "(now() + interval '1 day')::timestamp"
        #expect(try await refusal(after: "6 days") == "PM009")
        #expect(try await refusal(after: "1 hour", "\(tomorrow), 'next_day'") == "PM009")
        #expect(try await refusal(after: "3 days", "\(tomorrow), 'skip'") == "PM332")
        #expect(try await refusal(after: "3 days", "\(tomorrow), 'next_day'") == nil)
        try await fixture.sql("UPDATE pushmta_engine.application SET message_id_format = 'int32'")
        let again = "set_experiment(\(id), '\(Self.variants)', decide_after => '1 day')"
        for function in ["start_delivery(\(id))", again] {
            let refused = await #expect(throws: PostgresError.self) { try await call(fixture, function) }
            #expect(refused?.sqlState == "PM333", "\(function)")
        }
    }

    @Test("An experiment that does not fit into the runs of a recurring delivery is refused when it is set")
    func misfitsOfRuns() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "A"}}"#)
        )
        func refused(_ function: String) async throws -> Bool {
            do {
                try await call(fixture, function)
                return false
            } catch let error as PostgresError {
                #expect(error.sqlState == "PM009")
                return true
            }
        }
        func experiment(_ time: String) -> String {
            "set_experiment(\(id), '\(Self.variants)', decide_after => interval '\(time)')"
        }
        // The local time has come everywhere at 21:00 UTC, 17 hours after the run in summer, 16 in winter.
        let recurrence = "set_recurrence(\(id), 'days', 'Europe/Berlin', '{06:00}')"
        try await call(fixture, "set_local_time(\(id), '2036-01-01 09:00', 'next_day')")
        try await call(fixture, experiment("4 hours"))
        #expect(try await refused(recurrence))
        try await call(fixture, experiment("18 hours"))
        #expect(try await !refused(recurrence))
        #expect(try await refused(experiment("16 hours 30 minutes")))
        #expect(try await refused("set_local_time(\(id), '2036-01-01 14:00', 'next_day')"))
        #expect(try await refused("update_delivery(\(id), validity => '12 hours')"))
        #expect(try await !refused("set_local_time(\(id), NULL, NULL)"))
        #expect(try await !refused(experiment("4 hours")))
    }

    @Test("Waves go on before the decision, which counts them; then the rest of the waves that have begun leaves")
    func waves() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2_000)
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "A"}}"#)
        )
        try await call(
            fixture,
            "set_experiment(\(id), '\(Self.variants)', decide_after => interval '1 day', least_sample => 280)"
        )
        // A wave of 1,000 messages has 200 of each variant, fewer than the least sample.
        try await call(fixture, "set_waves(\(id), '[{\"percent\": 50}, {\"percent\": 40}, {\"after\": \"2 days\"}]')")
        try await call(fixture, "start_delivery(\(id))")
        _ = try await fixture.prepare(partSize: 100, partsPerChunk: 50)
        func rest(_ condition: String) async throws -> Int64? {
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.delivery_part p WHERE p.cell = 9 AND \(condition)"
            )
        }
        let send = """
            UPDATE pushmta_engine.delivery_part p SET state = 'done', sent = p.size, finished_at = now()
            FROM pushmta_engine.delivery_wave w
            WHERE w.delivery_id = p.delivery_id AND w.number = p.wave AND w.opened_at IS NOT NULL AND p.cell < 9
            """
        try await fixture.sql(send)
        #expect(try await fixture.sql("SELECT pushmta_engine.advance_waves()::bigint") == 1)
        try await fixture.sql(send)
        #expect(try await look(fixture))
        #expect(try await isTrue(fixture, "SELECT state = 'running' FROM pushmta.experiment"))
        #expect(try await rest("p.state = 'planned' AND p.not_before = 'infinity' AND p.variant IS NULL") ?? 0 > 0)
        #expect(try await rest("p.not_before < 'infinity'") == 0)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.tracking_log (delivery_id, sequence, log_day, kind, first)
            SELECT d.id, (2 << 27) + n, d.log_day, 2, true FROM pushmta_engine.delivery d, generate_series(1, 150) n
            WHERE d.id = \(id)
            """
        )
        #expect(try await look(fixture, after: "10 seconds"))
        #expect(try await isTrue(fixture, "SELECT winner = 2 FROM pushmta.experiment"))
        #expect(try await rest("p.wave < 3 AND p.not_before = 'infinity'") == 0)
        #expect(try await rest("p.wave = 3 AND p.not_before < 'infinity'") == 0)
        #expect(try await rest("p.variant IS DISTINCT FROM 2") == 0)
    }

    /// 10,000 experiments without a difference, each looked at 40 times.
    @Test(
        "Without a difference, at most one experiment in twenty names a winner, however often one looks",
        arguments: [2, 8]
    )
    func falseWinners(variants: Int) async throws {
        let fixture = try await StoreFixture.make()
        var random = TestRandom(seed: TestRandom.seed(for: "falseWinners"))
        var named: Int64 = 0
        for _ in 0..<10 {
            var rows: [String] = []
            for experiment in 0..<1_000 {
                var clicks = [Int](repeating: 0, count: variants)
                for look in 1...40 {
                    for variant in 0..<variants { clicks[variant] += Self.binomial(250, 0.05, &random) }
                    let counts = clicks.map { "\($0)" }.joined(separator: ",")
                    rows.append("\(experiment),\(look * 250),\(counts)")
                }
            }
            let sums = try await fixture.sql(
                """
                SELECT count(DISTINCT e.f[1]) FROM unnest(string_to_array('\(rows.joined(separator: ";"))', ';')) r(row)
                CROSS JOIN LATERAL (SELECT string_to_array(r.row, ',')::bigint[]) e(f)
                WHERE pushmta_engine.sure_winner(e.f[3:], array_fill(e.f[2], ARRAY[\(variants)]), 1000, 0.95) IS NOT NULL
                """
            )
            named += try required(sums)
        }
        #expect(named <= 500)
        // The test must be able to find one.
        let sure = try await fixture.sql(
            "SELECT pushmta_engine.sure_winner(ARRAY[500, 700]::bigint[], ARRAY[10000, 10000]::bigint[], 1000, 0.95)::bigint"
        )
        #expect(sure == 2)
    }

    /// How many of some trials succeed: the gaps between successes are geometric.
    private static func binomial(_ trials: Int, _ chance: Double, _ random: inout TestRandom) -> Int {
        var (place, successes) = (0, 0)
        while true {
            place += 1 + Int(log(Double.random(in: Double.leastNonzeroMagnitude..<1, using: &random)) / log(1 - chance))
            guard place <= trials else { return successes }
            successes += 1
        }
    }
}
