import Foundation
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
    private func running(_ options: String, variants: String = Self.variants) async throws -> (StoreFixture, Int64) {
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
        _ = try await fixture.prepare(partSize: 100, partsPerChunk: 7)
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
            #expect(try await fixture.sql("SELECT pushmta_engine.decide_experiments()::bigint") == 0)
            #expect(
                try await fixture.sql("SELECT pushmta_engine.decide_experiments(now() + interval '61 minutes')::bigint")
                    == 1
            )
            if rule == "wait" {
                #expect(try await fixture.claim(limit: 100).isEmpty)
                await #expect(throws: PostgresError.self) {
                    try await call(fixture, "choose_winner(\(id), 3)")
                }
                try await call(fixture, "choose_winner(\(id), 2)")
            }
            let claimed = try await fixture.claim(limit: 100)
            #expect(claimed.allSatisfy { $0.variant == (rule == "first" ? 1 : 2) } && !claimed.isEmpty)
        }
    }

    @Test("A stopped experiment leaves nothing behind, and a copy of it is divided anew")
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
            (#"[{"percent": 50}, {"percent": 50, "content": {"ios": {"titel": "x"}}}]"#, "metric => 'clicks'"),
            (#"[{"percent": 50}, {"share": 50}]"#, "metric => 'clicks'"), (#"{"percent": 50}"#, "metric => 'clicks'"),
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

    /// 10,000 experiments without a difference, each looked at 40 times.
    @Test("Without a difference, at most one experiment in twenty names a winner, however often one looks")
    func falseWinners() async throws {
        let fixture = try await StoreFixture.make()
        var random = TestRandom(seed: TestRandom.seed(for: "falseWinners"))
        var rows: [String] = []
        for experiment in 0..<10_000 {
            var clicks = [0, 0]
            for look in 1...40 {
                for variant in 0...1 { clicks[variant] += Self.binomial(250, 0.05, &random) }
                rows.append("\(experiment),\(look * 250),\(clicks[0]),\(clicks[1])")
            }
        }
        let named = try await fixture.sql(
            """
            SELECT count(DISTINCT e.f[1]) FROM unnest(string_to_array('\(rows.joined(separator: ";"))', ';')) r(row)
            CROSS JOIN LATERAL (SELECT string_to_array(r.row, ',')::bigint[]) e(f)
            WHERE pushmta_engine.sure_winner(ARRAY[e.f[3], e.f[4]], ARRAY[e.f[2], e.f[2]], 1000) IS NOT NULL
            """
        )
        #expect(try required(named) <= 500)
        // The test must be able to find one.
        let sure = try await fixture.sql(
            "SELECT pushmta_engine.sure_winner(ARRAY[500, 700]::bigint[], ARRAY[10000, 10000]::bigint[], 1000)::bigint"
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
