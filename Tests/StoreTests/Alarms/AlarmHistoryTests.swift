import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Alarms have a begin and an end, and an operator may acknowledge them.
@Suite("The history of alarms")
struct AlarmHistoryTests {
    private func silence(_ fixture: StoreFixture, seconds: Int) async throws {
        try await fixture.sql(
            "UPDATE pushmta_engine.mta_host SET last_heartbeat = now() - interval '\(seconds) seconds', state = 'running'"
        )
    }

    /// As if ten seconds had passed since the last look.
    private func look(_ fixture: StoreFixture) async throws {
        try await fixture.sql("UPDATE pushmta_engine.alarm_look SET looked_at = now() - interval '10 seconds'")
        #expect(try await fixture.store.noteAlarms())
    }

    private func hosts(_ fixture: StoreFixture) async throws -> [AlarmRecord] {
        try await fixture.store.alarmHistory(most: 100).filter { $0.alarm.code == "host_gone" }
    }

    @Test("It begins, is acknowledged, ends, and the next one is another; to and fro within a minute is one")
    func life() async throws {
        let (fixture, _) = try await StoreFixture.withClaimedPart(messages: 10)
        try await silence(fixture, seconds: 60)
        try await look(fixture)
        #expect(try await fixture.store.noteAlarms() == false, "another look was just made")
        let begun = try required(try await hosts(fixture).first)
        #expect(begun.endedAt == nil && begun.acknowledgement == nil && begun.alarm.remedy.contains("host remove"))
        let unseen = try await fixture.store.unseenAlarms()
        #expect(unseen.critical >= 1)
        let author = AuditAuthor(name: "max", origin: "here")
        try await fixture.store.acknowledgeAlarm(begun.id, by: author)
        try await fixture.store.acknowledgeAlarm(begun.id, by: AuditAuthor(name: "other", origin: "there"))
        #expect(try await hosts(fixture).first?.acknowledgement?.by == "max", "the first has it")
        #expect(try await fixture.store.unseenAlarms().all == unseen.all - 1)
        await #expect {
            try await fixture.store.acknowledgeAlarm(999_999, by: author)
        } throws: { error in
            "\(error)".contains("There is no alarm 999999. (pushmta alarm list shows them)")
        }
        // It is over, and comes back at once: the same.
        try await silence(fixture, seconds: 0)
        try await look(fixture)
        #expect(try await hosts(fixture).first?.endedAt != nil)
        try await silence(fixture, seconds: 60)
        try await look(fixture)
        #expect(try await hosts(fixture).map(\.id) == [begun.id])
        #expect(try await hosts(fixture).first?.endedAt == nil)
        // Later it is another one, which is not acknowledged.
        try await silence(fixture, seconds: 0)
        try await look(fixture)
        try await fixture.sql("UPDATE pushmta_engine.alarm_record SET ended_at = ended_at - interval '2 minutes'")
        try await silence(fixture, seconds: 60)
        try await look(fixture)
        let both = try await hosts(fixture)
        #expect(both.count == 2 && both[0].endedAt == nil && both[0].acknowledgement == nil && both[1].id == begun.id)
        let audit = "SELECT count(*) FROM pushmta_engine.audit_log WHERE action = 'alarm.acknowledge' AND who = 'max'"
        #expect(try await fixture.sql(audit) == 1)
    }

    @Test("Who was heard of at the last look, before the database was away, is gone only if the next look finds so too")
    func outage() async throws {
        let (fixture, _) = try await StoreFixture.withClaimedPart(messages: 10)
        #expect(try await fixture.store.secondsSinceAlarmLook() == nil)
        // The last look and the last heartbeat were made just before it.
        try await silence(fixture, seconds: 29)
        try await fixture.sql("UPDATE pushmta_engine.alarm_look SET looked_at = now() - interval '30 seconds'")
        #expect(try required(try await fixture.store.secondsSinceAlarmLook()) >= 30)
        #expect(try await fixture.store.noteAlarms())
        #expect(try required(try await fixture.store.secondsSinceAlarmLook()) < 30)
        #expect(try await fixture.alarms("host_gone").count == 1, "nobody has been heard of yet")
        #expect(try await hosts(fixture).isEmpty)
        // The host has not come back either.
        try await silence(fixture, seconds: 39)
        try await look(fixture)
        #expect(try await hosts(fixture).count == 1)
        // While the database is there the first look after 15 s finds it.
        let (other, _) = try await StoreFixture.withClaimedPart(messages: 10)
        try await silence(other, seconds: 16)
        try await look(other)
        #expect(try await hosts(other).count == 1)
    }

    @Test("A warning that becomes critical has to be acknowledged again")
    func worse() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(
            """
            WITH made AS (INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed, expires_at)
                VALUES ('apns_key', 'key', 'k', '', now() + interval '5 days 1 hour') RETURNING id)
            UPDATE pushmta_engine.application SET credential_id = made.id FROM made WHERE name = 'shop-ios'
            """
        )
        func record() async throws -> AlarmRecord {
            try await look(fixture)
            return try required(
                try await fixture.store.alarmHistory(most: 100).first { $0.alarm.code == "credential_expiry" }
            )
        }
        let warning = try await record()
        #expect(warning.alarm.severity == .warning)
        try await fixture.store.acknowledgeAlarm(warning.id, by: AuditAuthor(name: "max", origin: "here"))
        #expect(try await record().acknowledgement?.by == "max")
        try await fixture.sql("UPDATE pushmta_engine.credential SET expires_at = now() + interval '5 hours'")
        let critical = try await record()
        #expect(critical.id == warning.id && critical.alarm.severity == .critical)
        #expect(critical.acknowledgement == nil)
        #expect(try await fixture.store.unseenAlarms().critical == 1)
        // What was acknowledged at its worst stays so when it is less.
        try await fixture.store.acknowledgeAlarm(warning.id, by: AuditAuthor(name: "max", origin: "here"))
        try await fixture.sql("UPDATE pushmta_engine.credential SET expires_at = now() + interval '5 days 1 hour'")
        #expect(try await record().acknowledgement?.by == "max")
    }

    @Test("Where a host is gone its children raise no alarm of their own")
    func children() async throws {
        let (fixture, _) = try await StoreFixture.withClaimedPart(messages: 10)
        try await fixture.sql("UPDATE pushmta_engine.mta_child SET last_heartbeat = now() - interval '1 minute'")
        #expect(try await fixture.alarms("child_gone").count == 1)
        try await silence(fixture, seconds: 60)
        #expect(try await fixture.alarms("host_gone").count == 1)
        #expect(try await fixture.alarms("child_gone").isEmpty)
    }

    @Test("Deliveries that were started and that no supervisor prepares are an alarm")
    func unprepared() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 10, partSize: 10)
        #expect(try await fixture.alarms("deliveries_unprepared").isEmpty)
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET state = 'pending', start_at = now() - interval '5 minutes' WHERE id = \(id)"
        )
        let alarm = try required(try await fixture.alarms("deliveries_unprepared").first)
        #expect(alarm.text.hasPrefix("a delivery was to start ") && !alarm.remedy.isEmpty, "\(alarm)")
    }
}

/// What the command line, the API and SQL change is on the same record as what the console changes.
@Suite("The audit log of everybody")
struct AuditTriggerTests {
    /// Runs statements in a session of a program.
    private func run(_ fixture: StoreFixture, as program: String = "psql", _ script: String) async throws {
        let connection = try await fixture.database.connect()
        try await connection.run(script: "SET application_name = '\(program)'")
        try await connection.run(script: script)
        await connection.close()
    }

    private func rows(_ fixture: StoreFixture, _ condition: String) async throws -> Int64 {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.audit_log WHERE \(condition)") ?? 0
    }

    @Test(
        "A change is noted with its login and program, by the names of columns and without values; once, and not where nothing changes"
    )
    func changes() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 10, partSize: 10)
        try await run(
            fixture,
            """
            UPDATE pushmta_engine.external_account SET host = 'secret.example.com'
            WHERE name = (SELECT min(e.name) FROM pushmta_engine.external_account e)
            """
        )
        #expect(try await rows(fixture, "action = 'account.change' AND detail = 'host' AND who = session_user") == 1)
        #expect(try await rows(fixture, "detail LIKE '%secret%'") == 0)
        try await run(fixture, "UPDATE pushmta_engine.external_account SET host = host")
        #expect(try await rows(fixture, "action = 'account.change'") == 1)
        // What a function has put on record is not put there again.
        try await run(
            fixture,
            """
            BEGIN; UPDATE pushmta_engine.service SET label = 'another';
            SELECT pushmta_engine.note_audit('ada', 'service.change', 'shop', '', '1.2.3.4'); COMMIT
            """
        )
        #expect(try await rows(fixture, "action = 'service.change'") == 1)
        for action in ["pause", "resume", "stop"] {
            try await run(fixture, "SELECT pushmta.\(action)_delivery(\(id))")
        }
        for action in ["pause", "resume", "stop"] {
            #expect(try await rows(fixture, "action = 'delivery.\(action)' AND subject = '\(id)'") == 1, "\(action)")
        }
    }

    @Test("What the processes do by themselves is no person's change")
    func processes() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 10, partSize: 10)
        try await run(
            fixture,
            as: "pushmta/supervisor/push-1/7",
            "UPDATE pushmta_engine.service SET label = 'another'"
        )
        #expect(try await rows(fixture, "action = 'service.change'") == 0)
    }
}
