import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Each kind of alarm appears with its cause, says what happened and what to do, and disappears with its cause.
@Suite("Alarms")
struct AlarmTests {
    @Test("The texts and steps of expiry are the same in the schema and in the program")
    func expiry() async throws {
        let fixture = try await StoreFixture.make()
        let connection = try await fixture.database.connect()
        var samples: [Double] = [-1e12, 1e12]
        for edge in [0, 3_600, 7_200, 86_400, 172_800, 604_800, 2_592_000] {
            samples += [-1, -0.001, 0, 0.001, 1].flatMap { [Double(edge) + $0, -Double(edge) + $0] }
        }
        for seconds in samples {
            let row = try await connection.execute(
                PostgresStatement(
                    "SELECT pushmta_engine.expiry_step($1), pushmta_engine.expiry_text($1)",
                    [.double(seconds)]
                )
            )
            #expect(try row.textOrNil(0, 0) == ExpiryNotice(secondsLeft: seconds)?.rawValue, "\(seconds)")
            #expect(try row.text(0, 1) == ExpiryNotice.text(secondsLeft: seconds), "\(seconds)")
        }
        await connection.close()
    }

    @Test("Every kind of credential has the program's name")
    func credentials() async throws {
        let fixture = try await StoreFixture.make()
        for kind in CredentialKind.allCases {
            try await fixture.sql(
                """
                WITH made AS (INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed, expires_at)
                    VALUES ('\(kind.rawValue)', '\(kind.rawValue)', 'k', '', now() + interval '5 days 1 hour') RETURNING id)
                UPDATE pushmta_engine.application SET credential_id = made.id FROM made WHERE name = 'shop-ios'
                """
            )
            let alarm = try required(try await fixture.alarms("credential_expiry").first)
            #expect(alarm.text == "\(kind.text) expires in 5 days" && alarm.severity == .warning)
            #expect(alarm.subject == "shop-ios" && alarm.remedy.contains("credential set"))
        }
        try await fixture.sql("UPDATE pushmta_engine.credential SET expires_at = now() - interval '3 days'")
        let over = try required(try await fixture.alarms("credential_expiry").first)
        #expect(over.severity == .critical && over.text.hasSuffix(" expired 3 days ago") && !over.text.contains("has"))
        try await fixture.sql("UPDATE pushmta_engine.credential SET expires_at = now() + interval '31 days'")
        #expect(try await fixture.alarms("credential_expiry").isEmpty)
        // A credential that no application uses any more may expire.
        try await fixture.sql("UPDATE pushmta_engine.application SET credential_id = NULL")
        try await fixture.sql("UPDATE pushmta_engine.credential SET expires_at = now()")
        #expect(try await fixture.store.alarms().isEmpty)
    }

    @Test("Children that are started again and again without sending raise an alarm")
    func startsWithoutSends() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        func start(_ number: Int, sent: Int, age: String = "1 minute") async throws {
            try await fixture.sql(
                """
                INSERT INTO pushmta_engine.mta_child (host_id, generation, application_id, external_account_id, connector, report, started_at)
                SELECT h.id, g, a.id, a.external_account_id, 'ios-http2', '{"counts": {"sent": \(sent)}}', now() - interval '\(age)'
                FROM pushmta_engine.mta_host h, pushmta_engine.application a, generate_series(1, \(number)) g WHERE a.name = 'shop-ios'
                """
            )
        }
        try await start(4, sent: 0)
        try await start(9, sent: 0, age: "6 minutes")
        #expect(try await fixture.alarms("starts_without_sends").isEmpty)
        try await start(1, sent: 4)
        let alarm = try required(try await fixture.alarms("starts_without_sends").first)
        #expect(alarm.subject == "shop-ios" && alarm.severity == .critical)
        #expect(alarm.text.hasPrefix("5 children were started in the last 5 minutes and have sent only 4 messages"))
        try await start(15, sent: 0)
        #expect(try await fixture.alarms("starts_without_sends").map(\.subject).sorted() == ["", "shop-ios"])
        try await start(1, sent: 20)
        #expect(try await fixture.alarms("starts_without_sends").isEmpty, "as many messages as starts")
        try await fixture.sql("DELETE FROM pushmta_engine.mta_child WHERE sent = 20")
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET state = 'waiting'")
        #expect(try await fixture.alarms("starts_without_sends").isEmpty, "nothing is ready")
    }

    private func statistics(_ fixture: StoreFixture, delivery: Int64, sent: Int, failed: Int, age: String) async throws
    {
        try await fixture.sql("TRUNCATE pushmta_engine.delivery_statistic, pushmta_engine.delivery_hour")
        for (measure, n, reason) in [(1, sent, ""), (2, failed, "BadDeviceToken")] where n > 0 {
            try await fixture.sql(
                """
                INSERT INTO pushmta_engine.delivery_statistic (delivery_id, hour, n, application_id, measure, failure, app_version, locale,
                    reason)
                SELECT \(delivery), date_trunc('hour', now()) - interval '\(age)', \(n), id, \(measure), -1, '', '', '\(reason)'
                FROM pushmta_engine.application WHERE name = 'shop-ios'
                """
            )
        }
    }

    @Test("An alarm is raised if more than a fifth of an hour's messages fail for one reason")
    func massFailure() async throws {
        let (fixture, delivery) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        try await statistics(fixture, delivery: delivery, sent: 79, failed: 21, age: "1 hour")
        let alarm = try required(try await fixture.alarms("mass_failure").first)
        #expect(alarm.text == "21 of the last 100 messages failed for one reason: BadDeviceToken", "\(alarm)")
        #expect(alarm.subject == "shop-ios" && alarm.remedy.contains("pushmta answers"))
        for (sent, failed, age) in [(80, 20, "1 hour"), (0, 19, "0 hours"), (0, 1_000, "2 hours")] {
            try await statistics(fixture, delivery: delivery, sent: sent, failed: failed, age: age)
            #expect(try await fixture.alarms("mass_failure").isEmpty, "\(sent) \(failed) \(age)")
        }
        try await statistics(fixture, delivery: delivery, sent: 0, failed: 20, age: "0 hours")
        let finish = "UPDATE pushmta_engine.delivery SET state = 'finished', finished_at = now() - interval"
        try await fixture.sql("\(finish) '119 minutes' WHERE id = \(delivery)")
        #expect(try await fixture.alarms("mass_failure").count == 1)
        try await fixture.sql("\(finish) '121 minutes' WHERE id = \(delivery)")
        #expect(try await fixture.alarms("mass_failure").isEmpty)
    }

    @Test(
        "A delivery paused by a child raises an alarm, one paused by a person does not; the same holds for a continuous delivery's day"
    )
    func paused() async throws {
        let (fixture, delivery) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        try await fixture.store.pauseDelivery(delivery)
        #expect(try await fixture.store.alarms().isEmpty)
        try await fixture.store.resumeDelivery(delivery)
        try await fixture.sql("SELECT pushmta_engine.hold_delivery(\(delivery), 'The gateway refuses it.')::int")
        let alarm = try required(try await fixture.alarms("delivery_paused").first)
        #expect(alarm.text == "it is paused. The gateway refuses it." && alarm.remedy.contains("resume \(delivery)"))
        #expect(try await fixture.store.alarms(delivery: delivery) == [alarm])
    }

    @Test("With 2,000 deliveries under way, a check scans only small tables completely")
    func plan() async throws {
        let (fixture, delivery) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery (label, content, state, log_day, prepared, started_at, finished_at)
            SELECT 'x', d.content, CASE WHEN n > 2000 THEN 'finished' ELSE 'in_progress' END, d.log_day, true, now(),
                CASE WHEN n > 2000 THEN now() - interval '1 day' END
            FROM pushmta_engine.delivery d CROSS JOIN generate_series(1, 8000) n WHERE d.id = \(delivery)
            """
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery_part (delivery_id, application_id, external_account_id, log_day, size, sent, state, counted)
            SELECT d.id, 1, 1, d.log_day, 10, 10, 'done', true FROM pushmta_engine.delivery d
            """
        )
        try await fixture.sql("ANALYZE")
        let connection = try await fixture.database.connect()
        // With the settings of the store's sessions: a table is scanned only if no index can be used.
        try await connection.run(script: "SET enable_seqscan = off")
        let lines = try await connection.execute(
            PostgresStatement("EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM pushmta.alarm", prepare: false)
        )
        let text = try (0..<lines.rowCount).map { try lines.text($0, 0) }.joined(separator: "\n")
        await connection.close()
        for index in ["delivery_finished", "delivery_part_unloaded", "delivery_part_uncounted"] {
            #expect(text.contains(index), "\(index): \(text)")
        }
        // Both have the deliveries under way.
        #expect(text.contains("delivery_open") || text.contains("delivery_in_state"), "\(text)")
        for table in ["delivery_part ", "delivery ", "delivery_statistic "] {
            #expect(!text.contains("Seq Scan on \(table)"), "\(table): \(text)")
        }
    }
}
