import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Alarms begin and end, and an operator may acknowledge them.
@Suite("The history of alarms")
struct AlarmHistoryTests {
    private func silence(_ fixture: StoreFixture, seconds: Int) async throws {
        try await fixture.sql(
            "UPDATE pushmta_engine.mta_host SET last_heartbeat = now() - interval '\(seconds) seconds', state = 'running'"
        )
    }

    /// Simulates ten seconds since the last check.
    private func look(_ fixture: StoreFixture) async throws {
        try await fixture.sql("UPDATE pushmta_engine.alarm_look SET looked_at = now() - interval '10 seconds'")
        #expect(try await fixture.store.noteAlarms())
    }

    private func hosts(_ fixture: StoreFixture) async throws -> [AlarmRecord] {
        try await fixture.store.alarmHistory(limit: 100).filter { $0.alarm.code == "host_gone" }
    }

    @Test(
        "An alarm begins, is acknowledged and ends; if it returns within a minute it is the same alarm, later it is a new one"
    )
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
        // It ends and returns at once: it is the same alarm.
        try await silence(fixture, seconds: 0)
        try await look(fixture)
        #expect(try await hosts(fixture).first?.endedAt != nil)
        try await silence(fixture, seconds: 60)
        try await look(fixture)
        #expect(try await hosts(fixture).map(\.id) == [begun.id])
        #expect(try await hosts(fixture).first?.endedAt == nil)
        // Later it is a new one, which is not acknowledged.
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

    @Test("A host that was alive at the last check before a database outage is gone only if the next check confirms it")
    func outage() async throws {
        let (fixture, _) = try await StoreFixture.withClaimedPart(messages: 10)
        #expect(try await fixture.store.secondsSinceAlarmLook() == nil)
        // The last check and the last heartbeat were just before the outage.
        try await silence(fixture, seconds: 29)
        try await fixture.sql("UPDATE pushmta_engine.alarm_look SET looked_at = now() - interval '30 seconds'")
        #expect(try required(try await fixture.store.secondsSinceAlarmLook()) >= 30)
        #expect(try await fixture.store.noteAlarms())
        #expect(try required(try await fixture.store.secondsSinceAlarmLook()) < 30)
        #expect(try await fixture.alarms("host_gone").count == 1, "nobody has been heard of yet")
        #expect(try await hosts(fixture).isEmpty)
        // The host has not returned either.
        try await silence(fixture, seconds: 39)
        try await look(fixture)
        #expect(try await hosts(fixture).count == 1)
        // While the database is available, the first check after 15 s finds it.
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
                try await fixture.store.alarmHistory(limit: 100).first { $0.alarm.code == "credential_expiry" }
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
        // An alarm that was acknowledged at its worst stays acknowledged when it is less severe.
        try await fixture.store.acknowledgeAlarm(warning.id, by: AuditAuthor(name: "max", origin: "here"))
        try await fixture.sql("UPDATE pushmta_engine.credential SET expires_at = now() + interval '5 days 1 hour'")
        #expect(try await record().acknowledgement?.by == "max")
    }

    @Test("The children of a gone host raise no alarms of their own")
    func children() async throws {
        let (fixture, _) = try await StoreFixture.withClaimedPart(messages: 10)
        try await fixture.sql("UPDATE pushmta_engine.mta_child SET last_heartbeat = now() - interval '1 minute'")
        #expect(try await fixture.alarms("child_gone").count == 1)
        try await silence(fixture, seconds: 60)
        #expect(try await fixture.alarms("host_gone").count == 1)
        #expect(try await fixture.alarms("child_gone").isEmpty)
    }

    @Test("Started deliveries that no supervisor prepares raise an alarm")
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

/// Changes through the command line, the API and SQL are in the same audit log as the console's.
@Suite("The audit log of all programs")
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
        "A change is logged once, with login, program and column names but no values; an unchanged row is not logged"
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
        // A change that a function has logged is not logged again.
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

    @Test("The processes' own changes are not logged as a person's")
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
