import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// Web process and console are treated as untrusted: no value that they write breaks a view that operators need.
@Suite("Values written by the least trusted roles")
struct ForeignValueTests {
    private func refusal(_ fixture: StoreFixture, _ sql: String) async -> String? {
        do {
            try await fixture.sql(sql)
            return nil
        } catch {
            return (error as? PostgresError)?.sqlState ?? "\(error)"
        }
    }

    @Test(
        "The end of a certificate is a time, and its host and file are plain texts",
        arguments: [
            "'h', 'f', 'Infinity'", "'h', 'f', '-Infinity'", "'h', 'f', 'NaN'", "'h', 'f', 1e300", "'h', 'f', -1e300",
            "'h', 'f', -1", "'h', 'f', 0", "'h', 'f', 946684799", "'h', 'f', 253402300800", "'h', 'f', NULL",
            "E'a\\x1b[2J', 'f', 1", "'', 'f', 1",
            "'h', E'f\\n', 1", "repeat('h', 201), 'f', 1", "'h', repeat('f', 4097), 1", "NULL, 'f', 1",
        ]
    )
    func certificates(_ values: String) async throws {
        let fixture = try await StoreFixture.make()
        #expect(await refusal(fixture, "SELECT pushmta_engine.note_web_certificate(\(values))") == "PM007")
        #expect(try await fixture.store.alarms().filter { $0.code == "certificate_expiry" }.isEmpty)
    }

    @Test("The latest hundred of an address are kept, and those of other addresses stay")
    func bounded() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(real)
        try await fixture.sql(
            "SELECT count(pushmta_engine.note_web_certificate('h', 'f' || g, 4000000000)) FROM generate_series(1, 1100) g"
        )
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.web_certificate") == 101)
        // A new one is stored, however many were invented before.
        try await fixture.store.noteWebCertificate(host: "new", file: "f", expires: 1_000_000_000)
        #expect(Set(try await fixture.alarms("certificate_expiry").map(\.subject)) == ["new", "real"])
    }

    @Test(
        "Invented hosts raise three alarms, the last with the number of the others, and hide none of another address"
    )
    func fewAlarms() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(real)
        try await fixture.sql(
            "SELECT count(pushmta_engine.note_web_certificate('h' || g, 'f', 1000000000 + g)) FROM generate_series(1, 90) g"
        )
        let alarms = try await fixture.store.alarms().filter { $0.code == "certificate_expiry" }
        #expect(Set(alarms.map(\.subject)) == ["h1", "h2", "h3", "real"])
        #expect(alarms.filter { $0.text.contains("87 more") }.map(\.subject) == ["h3"])
        #expect(alarms.first { $0.subject == "real" }?.text.contains("a session from 192.0.2.7") == true)
    }

    private let real = """
        INSERT INTO pushmta_engine.web_certificate (address, host, file, expires_at)
        VALUES ('192.0.2.7', 'real', 'f', now() + interval '3 days')
        """

    @Test(
        "Long texts of hits are cut, and registrations and sign-ins that no web process would send store nothing long"
    )
    func longTexts() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 3)
        let hits = """
            SELECT cardinality(pushmta_engine.record_hits(gen_random_uuid(), 1, 'h', ARRAY[\(part.deliveryID)]::bigint[],
                ARRAY[NULL]::bigint[], ARRAY[NULL]::bigint[], ARRAY[1], ARRAY[current_date - date '2000-01-01'], ARRAY[1]::smallint[],
                ARRAY[now()], ARRAY['192.0.2.1'], ARRAY[%], ARRAY[repeat('a', 1000000)], 0, 0, 0))
            """
        for platform in ["repeat('p', 1000000)", "'ios'"] {
            #expect(try await fixture.sql(hits.replacing("%", with: platform)) == 0)
        }
        let stored = "SELECT count(*) FROM pushmta_engine.tracking_log WHERE char_length(user_agent) = 300 AND "
        #expect(try await fixture.sql(stored + "platform IS NULL") == 1)
        #expect(try await fixture.sql(stored + "platform = 'ios'") == 1)
        for values in [
            "repeat('a', 1001), 'd', 'en', ''", "'u', repeat('a', 1001), 'en', ''", "'u', 'd', repeat('a', 201), ''",
            "'u', 'd', 'en', repeat('a', 201)",
        ] {
            let given =
                "SELECT r.created FROM (VALUES (\(values))) v(u, d, l, z), pushmta_engine.register_claims(ARRAY[1], "
                + "ARRAY['token'], ARRAY[v.u], ARRAY[v.d], ARRAY[v.l], ARRAY[v.z], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], "
                + "ARRAY[NULL], ARRAY['proven']) r"
            #expect(await refusal(fixture, given) == "PM007", "\(values)")
        }
        for sets in ["repeat('x', 70000), NULL", "NULL, repeat('x', 70000)"] {
            let given =
                "SELECT r.created FROM (VALUES (\(sets))) v(d, e), pushmta_engine.register_claims(ARRAY[1], ARRAY['token'], "
                + "ARRAY['u'], ARRAY['d'], ARRAY['en'], ARRAY[''], ARRAY[v.d], ARRAY[NULL], ARRAY[NULL], ARRAY[v.e], ARRAY['proven']) r"
            #expect(await refusal(fixture, given) == "PM007", "\(sets)")
        }
        try await fixture.sql("SELECT count(pushmta_engine.console_refuse('nobody', repeat('9', 1000000)))")
        try await fixture.sql(
            "SELECT count(*) FROM pushmta_engine.console_attempt('a', repeat('9', 1000000), NULL, now(), 5, 50, 100, '1 minute')"
        )
        let origins = "SELECT max(octet_length(origin)) FROM pushmta_engine.audit_log WHERE action = 'sign_in.refused'"
        #expect(try await fixture.sql(origins) == 500)
        let subjects = "SELECT count(*) FROM pushmta_engine.console_failure WHERE octet_length(subject) > 250"
        #expect(try await fixture.sql(subjects) == 0)
    }

    @Test(
        "One bad row, whatever its origin, hides no other",
        arguments: ["infinity", "-infinity", "294276-12-31"]
    )
    func survives(_ time: String) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.noteWebCertificate(host: "good", file: "f", expires: 1_000_000_000)
        for table in ["web_certificate", "credential"] {
            try await fixture.sql(
                "ALTER TABLE pushmta_engine.\(table) DROP CONSTRAINT \(table)_expires_at_check"
            )
        }
        try await fixture.sql(
            "INSERT INTO pushmta_engine.web_certificate (address, host, file, expires_at) VALUES ('x', 'bad', 'f', '\(time)')"
        )
        try await fixture.sql(
            """
            WITH made AS (INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed, expires_at)
                VALUES ('apns_key', 'x', 'k', '\\x00', '\(time)') RETURNING id)
            UPDATE pushmta_engine.application SET credential_id = made.id FROM made WHERE name = 'shop-ios'
            """
        )
        let alarms = try await fixture.store.alarms()
        #expect(alarms.contains { $0.code == "certificate_expiry" && $0.subject == "good" })
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta.credential") == 1)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta.web_certificate WHERE host = 'good'") == 1)
        _ = try await fixture.store.credentials()
    }

    @Test(
        "Texts of remaining time work for any value",
        arguments: ["'Infinity'", "'-Infinity'", "'NaN'", "1e300", "-1e300", "NULL", "0", "5"]
    )
    func words(_ seconds: String) async throws {
        let fixture = try await StoreFixture.make()
        let sql = "SELECT length(coalesce(pushmta_engine.expiry_text(\(seconds)), '')) + length(coalesce("
        #expect(try await fixture.sql(sql + "pushmta_engine.expiry_step(\(seconds)), ''))") != nil)
    }

    @Test("A credential of the console, and its sessions and failures, have times")
    func console() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await fixture.actor(.admin)
        for time in ["infinity", "-infinity"] {
            for sql in [
                "UPDATE pushmta_engine.console_session SET expires_at = '\(time)'",
                "SELECT pushmta_engine.console_attempt('a', '192.0.2.1', NULL, '\(time)', 5, 50, 100, interval '1 minute')",
                "INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed, expires_at) "
                    + "VALUES ('apns_key', 'x', 'k', '\\x00', '\(time)')",
            ] { #expect(await refusal(fixture, sql) == "23514", "\(sql)") }
        }
    }

    @Test("Hits are dated after their message and before tomorrow, and counts are never negative")
    func hits() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 3)
        let hits = """
            SELECT cardinality(pushmta_engine.record_hits(gen_random_uuid(), 1, E'evil\\x1b', ARRAY[\(part.deliveryID)]::bigint[],
                ARRAY[NULL]::bigint[], ARRAY[NULL]::bigint[], ARRAY[1], ARRAY[current_date - date '2000-01-01'], ARRAY[1]::smallint[],
                ARRAY['%']::timestamptz[], ARRAY['192.0.2.1'], ARRAY['ios'], ARRAY['agent'], -5, 9223372036854775807, 7))
            """
        for time in ["infinity", "-infinity", "2300-01-01", "1970-01-01"] {
            #expect(try await fixture.sql(hits.replacing("%", with: time)) == 0)
        }
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.tracking_log WHERE tracked_at BETWEEN now() - interval '3 days' AND now() + interval '2 h'"
            ) == 4
        )
        let sources =
            "SELECT count(*) FROM pushmta_engine.tracking_source WHERE host = '' AND malformed = 0 AND forged = 1000000000"
        #expect(try await fixture.sql(sources) == 4)
    }
}
