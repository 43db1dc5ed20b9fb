import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// What recurs, has a plan, variants, a signal or a category at the same time.
@Suite("Deliveries with several settings at once")
struct CombinedSettingsTests {
    private static let variants = """
        [{"percent": 20}, {"percent": 20, "content": {"ios": {"title": "B"}}}]
        """

    private func made(_ fixture: StoreFixture, _ calls: [String] = []) async throws -> Int64 {
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "A"}}"#)
        )
        for function in calls { try await call(fixture, function.replacing("ID", with: "\(id)")) }
        return id
    }

    private func call(_ fixture: StoreFixture, _ function: String, schema: String = "pushmta") async throws {
        try await fixture.sql("DO $do$ BEGIN PERFORM \(schema).\(function); END $do$")
    }

    /// The SQLSTATE with which a function refuses; nil if it does not.
    private func refusal(_ fixture: StoreFixture, _ function: String, schema: String = "pushmta") async throws
        -> String?
    {
        do {
            try await call(fixture, function, schema: schema)
            return nil
        } catch let error as PostgresError {
            return error.sqlState
        }
    }

    private func parts(_ fixture: StoreFixture, _ id: Int64, _ condition: String) async throws -> Int64? {
        try await fixture.sql(
            "SELECT count(*) FROM pushmta_engine.delivery_part p WHERE p.delivery_id = \(id) AND \(condition)"
        )
    }

    /// Gives the service sending hours.
    private func hours(_ fixture: StoreFixture) async throws {
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.sending_hours (service_id, weekday, opens, closes)
            SELECT 1, d, '08:00', '20:00' FROM generate_series(1, 7) d
            """
        )
    }

    /// A signal that deliveries may follow.
    private func signal(_ fixture: StoreFixture) async throws {
        try await call(fixture, "set_health_signal('load', 'http', 'https://metrics.example.com/load')")
    }

    @Test("A run has all that its recurring delivery has, and the local time of its own day")
    func run() async throws {
        let fixture = try await StoreFixture.make()
        try await signal(fixture)
        let id = try await made(
            fixture,
            [
                "set_waves(ID, '[{\"percent\": 10}, {}]')",
                // Its local time has to come everywhere before that.
                "set_experiment(ID, '\(Self.variants)', decide_after => '42 hours')",
                "set_local_time(ID, '2026-01-01 20:15', 'next_day')", "update_delivery(ID, category => 'news')",
                "update_delivery(ID, validity => '4 days')", "follow_signal(ID, 'load', 0.8, 10, 1000)",
                "set_recurrence(ID, 'days', 'Asia/Tokyo', '{09:00}')",
            ]
        )
        let run = try await fixture.store.runRecurrence(id)
        let copied = try await fixture.sql(
            """
            SELECT count(*) FROM pushmta_engine.delivery d JOIN pushmta_engine.category k ON k.id = d.category_id AND k.name = 'news'
            JOIN pushmta_engine.delivery_plan p ON p.delivery_id = d.id AND p.on_past = 'next_day'
                AND p.local_time = (now() AT TIME ZONE 'Asia/Tokyo')::date + time '20:15'
            JOIN pushmta_engine.delivery_signal f ON f.delivery_id = d.id AND f.ceiling = 1000
            JOIN pushmta_engine.experiment e ON e.delivery_id = d.id
            WHERE d.id = \(run) AND (SELECT count(*) FROM pushmta_engine.delivery_wave w WHERE w.delivery_id = d.id) = 2
                AND (SELECT count(*) FROM pushmta_engine.experiment_cell c WHERE c.delivery_id = d.id) = 3
            """
        )
        #expect(copied == 1)
        // Who made the run is in the log, and nothing else of it.
        let logged = "SELECT count(*) FROM pushmta_engine.audit_log WHERE subject LIKE '%\(run)'"
        #expect(try await fixture.sql(logged) == 0)
    }

    @Test("The approval of a recurring delivery covers the local time and the waves of its runs")
    func approvedRun() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(
            fixture,
            [
                "set_waves(ID, '[{\"percent\": 10}, {\"at\": \"2026-01-01T00:00:00Z\"}]')",
                "set_local_time(ID, '2026-01-01 20:15', 'next_day')", "update_delivery(ID, validity => '4 days')",
                "set_recurrence(ID, 'days', 'Asia/Tokyo', '{09:00}')",
            ]
        )
        let run = try await fixture.store.runRecurrence(id)
        let digests = "SELECT count(DISTINCT g.digest) FROM pushmta_engine.delivery_digest g WHERE g.delivery_id IN"
        #expect(try await fixture.sql("\(digests) (\(id), \(run))") == 1)
        try await call(fixture, "set_local_time(\(id), '2026-01-01 20:16', 'next_day')")
        #expect(try await fixture.sql("\(digests) (\(id), \(run))") == 2)
    }

    @Test("What removes a recalled message goes out at any hour")
    func recallAtAnyHour() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture, ["start_delivery(ID)"])
        try await hours(fixture)
        let child = try required(try await fixture.sql("SELECT pushmta.recall_delivery(\(id), 'wrong', 'remove')"))
        #expect(try await fixture.sql("SELECT pushmta_engine.keep_plan(\(child))::integer::bigint") == 0)
        let other = try await made(fixture)
        #expect(try await fixture.sql("SELECT pushmta_engine.keep_plan(\(other))::integer::bigint") == 1)
    }

    @Test("Sending hours that a service gets after a start was planned count for it")
    func hoursAfterStart() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 100)
        let id = try await made(fixture, ["start_delivery(ID, now() + interval '30 minutes')"])
        try await hours(fixture)
        try await fixture.prepare()
        #expect(try await parts(fixture, id, "p.time_zone IS NOT NULL") ?? 0 > 0)
        #expect(try await parts(fixture, id, "p.time_zone IS NULL") == 0)
    }

    @Test("The rest of a paused experiment gets the winner that was chosen meanwhile, once it is resumed")
    func chosenWhilePaused() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 500)
        let id = try await made(
            fixture,
            ["set_experiment(ID, '\(Self.variants)', decide_after => '1 hour')", "start_delivery(ID)"]
        )
        try await fixture.prepare(partSize: 100)
        try await fixture.store.pauseDelivery(id)
        try await call(fixture, "choose_winner(\(id), 2)")
        #expect(try await parts(fixture, id, "p.state IN ('ready', 'planned')") == 0)
        try await fixture.store.resumeDelivery(id)
        _ = try await fixture.store.advancePlans(enough: 1_000, limit: 1_000)
        let rest = try await fixture.claim(limit: 100).filter { $0.variant == 2 }
        #expect(try await parts(fixture, id, "p.state = 'planned'") == 0)
        #expect(Int64(rest.count) == (try await parts(fixture, id, "p.variant = 2")))
    }

    @Test("The count of a target leaves out the hold-out of an experiment, as its preparation does")
    func countedWithoutHoldOut() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1_000)
        let id = try await made(
            fixture,
            ["set_experiment(ID, '\(Self.variants)', decide_after => '1 hour', hold_out_percent => 20)"]
        )
        let counted = try required(try await fixture.store.countTarget(ofDelivery: id).first)
        try await fixture.store.startDelivery(id)
        try await fixture.prepare()
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(counted.messages == progress.target && counted.excluded == progress.excluded)
        // Ten standard deviations.
        #expect((75...325).contains(counted.excluded))
    }

    @Test("What was analysed is counted again if its category becomes transactional, so that caps no longer apply")
    func transactional() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.setFrequencyCap(
            FrequencyCapRow(service: "shop", name: "day", maxMessages: 1, unit: .days)
        )
        let id = try await made(fixture, ["update_delivery(ID, category => 'news')"])
        let digest = "SELECT hashtext(pushmta_engine.preparation_digest(\(id)))"
        let before = try await fixture.sql(digest)
        try await fixture.store.setCategory("news", service: "shop", isTransactional: true)
        #expect(try await fixture.sql(digest) != before)
    }

    @Test("A change that leaves no time for a plan is refused")
    func tooShort() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(
            fixture,
            [
                "update_delivery(ID, validity => '5 days')",
                "set_local_time(ID, (now() AT TIME ZONE 'UTC' + interval '2 days')::timestamp, 'now')",
                "start_delivery(ID, now() + interval '1 day')",
            ]
        )
        #expect(try await refusal(fixture, "update_delivery(\(id), validity => '1 hour')") == "PM009")
        #expect(try await refusal(fixture, "update_delivery(\(id), validity => '6 days')") == nil)
    }

    /// The call that fills a delivery with the next version of its draft, as a start in the console does.
    private func revision(_ fixture: StoreFixture, of id: Int64, settings: String) async throws -> String {
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.console_draft (owner, label, applications, delivery_id, delivery_version)
            VALUES ('mia', 'Sale', '{shop-ios}', \(id), 0)
            """
        )
        try await fixture.sql(
            """
            WITH made AS (INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed)
                VALUES ('apns_key', gen_random_uuid()::text, 'k', 'x') RETURNING id)
            UPDATE pushmta_engine.application SET credential_id = (SELECT id FROM made) WHERE name = 'shop-ios'
            """
        )
        return """
            console_make_delivery((SELECT c FROM pushmta_engine.console_draft c ORDER BY c.id DESC LIMIT 1),
                '{"ios": {"title": "B"}}', NULL, '{}', '\(settings)')
            """
    }

    @Test("The next version of a console's delivery goes on with its number, its signal and its recurrence")
    func revised() async throws {
        let fixture = try await StoreFixture.make()
        try await signal(fixture)
        let id = try await made(
            fixture,
            [
                "follow_signal(ID, 'load', 0.8, 10, 1000)", "set_recurrence(ID, 'days', 'UTC', '{09:00}')",
                "start_recurrence(ID)",
            ]
        )
        let run = try await fixture.store.runRecurrence(id)
        let next = try await revision(fixture, of: id, settings: #"{"priority": 5}"#)
        #expect(try await fixture.sql("SELECT pushmta_engine.\(next)") == id)
        #expect(try await fixture.store.recurrence(ofDelivery: id)?.state == .active)
        #expect(try await fixture.store.recurrenceRuns(ofDelivery: id).map(\.runID) == [run])
        #expect(try await fixture.store.recurringDelivery(ofRun: run) == id)
        #expect(try await fixture.store.signal(ofDelivery: id)?.ceiling == 1_000)
        let says = "SELECT priority FROM pushmta_engine.delivery WHERE id = \(id) AND content #>> '{ios,title}' = 'B'"
        #expect(try await fixture.sql(says) == 5)
        // What cannot recur is refused, so that no recurrence goes on with an old content.
        let code = try await revision(fixture, of: id, settings: #"{"one_time_code": true}"#)
        #expect(try await refusal(fixture, code, schema: "pushmta_engine") == "PM170")
    }

    @Test("The next version of a console's delivery keeps nothing that its draft no longer says")
    func emptied() async throws {
        let fixture = try await StoreFixture.make()
        try await signal(fixture)
        let plain = try await made(fixture)
        let id = try await made(
            fixture,
            [
                "set_target(ID, 'user_key = ''a''', allow_duplicates => true)", "set_seeds(ID)",
                "update_delivery(ID, ends_at => now() + interval '1 day', priority => 3, one_per_user => true)",
                "set_waves(ID, '[{\"percent\": 10}, {}]')", "follow_signal(ID, 'load', 0.8, 10, 1000)",
                "set_experiment(ID, '\(Self.variants)', decide_after => '1 hour')", "set_one_time_code(ID)",
                "update_delivery(ID, category => 'news')",
            ]
        )
        for delivery in [plain, id] {
            let next = try await revision(fixture, of: delivery, settings: #"{"follow": null}"#)
            try await call(fixture, next, schema: "pushmta_engine")
        }
        let same = """
            SELECT count(DISTINCT g.digest) FROM pushmta_engine.delivery_digest g WHERE g.delivery_id IN (\(plain), \(id))
            """
        #expect(try await fixture.sql(same) == 1)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.rate_limit WHERE delivery_id = \(id)") == 0)
    }

    @Test("A start that was moved comes back to the draft in the zone that was chosen, or in the service's")
    func startZone() async throws {
        let fixture = try await StoreFixture.make()
        for (fields, at, zone) in [
            ("{}", "2036-01-02T20:00", "Europe/Berlin"),
            (#"{"start.zone": "Asia/Kolkata"}"#, "2036-01-03T00:30", "Asia/Kolkata"),
            (#"{"start.zone": "Mars/Olympus"}"#, "2036-01-02T19:00", "UTC"),
        ] {
            let same = """
                SELECT count(*) FROM pushmta_engine.console_start_fields('\(fields)', '2036-01-02 19:00+00', 'Europe/Berlin') f
                WHERE f = '{"start.when": "later", "start.at": "\(at)", "start.zone": "\(zone)"}'
                """
            #expect(try await fixture.sql(same) == 1, "\(zone)")
        }
    }

    @Test("A draft made of a delivery follows its signal, in place of a rate, and has its variants")
    func duplicated() async throws {
        let fixture = try await StoreFixture.make()
        try await signal(fixture)
        let id = try await made(fixture, ["follow_signal(ID, 'load', 0.8, 10, 1000)"])
        let actor = try await fixture.actor(.admin)
        try await call(fixture, "set_experiment(\(id), '\(Self.variants)', decide_after => '1 hour')")
        let settings = try await fixture.store.duplicate(ofDelivery: id, by: actor).settings
        for words in [#""follow.signal": "load""#, #""follow.target": "0.8""#, #""follow.ceiling": "1000""#] {
            #expect(settings.contains(words), "\(settings)")
        }
        #expect(!settings.contains("messages_per_second") && settings.contains("variants"))
    }
}
