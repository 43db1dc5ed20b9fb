import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// Changes that people make by SQL are in the audit log, each once.
@Suite("The audit log of SQL")
struct AuditTests {
    /// Runs SQL as a person, and returns the resulting entries of the log.
    private func logged(_ fixture: StoreFixture, _ script: String) async throws -> String {
        let last = try await fixture.sql("SELECT coalesce(max(id), 0) FROM pushmta_engine.audit_log") ?? 0
        let connection = try await fixture.database.connect()
        defer { Task { await connection.close() } }
        try await connection.run(script: "SET application_name = 'psql'; " + script)
        return try await connection.execute(
            PostgresStatement(
                "SELECT coalesce(string_agg(concat_ws(' ', a.action, a.subject), ', ' ORDER BY a.id), '') "
                    + "FROM pushmta_engine.audit_log a WHERE a.id > \(last)",
                prepare: false
            )
        ).text(0, 0)
    }

    @Test("Each object that a transaction changes has a row, and a repeated change has only one")
    func transaction() async throws {
        let fixture = try await StoreFixture.make()
        let script = """
            BEGIN;
            SELECT pushmta.set_rate('application', 'shop-ios', 5);
            UPDATE pushmta_engine.application SET label = 'x' WHERE name = 'shop-ios';
            UPDATE pushmta_engine.application SET label = 'y' WHERE name = 'shop-ios';
            UPDATE pushmta_engine.external_account SET label = 'z' WHERE name = 'apns';
            INSERT INTO pushmta_engine.service (name) VALUES ('other');
            UPDATE pushmta_engine.service SET label = 'Other' WHERE name = 'other';
            COMMIT;
            """
        let wanted = "rate.add shop-ios, application.change shop-ios, account.change apns, service.add other"
        #expect(try await logged(fixture, script) == wanted)
    }

    @Test("Starts of continuous deliveries are logged, and a resumption before the start is logged as such")
    func deliveries() async throws {
        let fixture = try await StoreFixture.make()
        let content = "{\"ios\": {\"title\": \"t\", \"body\": \"b\"}}"
        let create =
            "SELECT pushmta.create_delivery(label => 'd', applications => ARRAY['shop-ios'], content => '\(content)')"
        let continuous = try #require(try await fixture.sql(create))
        let batch = try #require(try await fixture.sql(create))
        let script = """
            SELECT pushmta.make_continuous(\(continuous));
            SELECT pushmta.start_delivery(\(continuous));
            SELECT pushmta.start_delivery(\(batch), now() + interval '1 day');
            SELECT pushmta.pause_delivery(\(batch));
            SELECT pushmta.resume_delivery(\(batch));
            """
        #expect(
            try await logged(fixture, script)
                == "delivery.start \(continuous), delivery.start \(batch), delivery.pause \(batch), delivery.resume \(batch)"
        )
    }

    @Test(
        "A created delivery has one row with its first settings; rate, weight and proof have their own, days have none"
    )
    func made() async throws {
        let fixture = try await StoreFixture.make()
        let content = "{\"ios\": {\"title\": \"t\"}}"
        let create =
            "SELECT pushmta.create_delivery(label => 'd', applications => ARRAY['shop-ios'], content => '\(content)'"
        // Each script is a transaction.
        #expect(try await logged(fixture, "\(create), messages_per_second => 5)") == "delivery.add 1")
        let setUp = """
            \(create));
            SELECT pushmta.set_delivery_weight(2, 4);
            SELECT pushmta.set_delivery_rate(2, 4);
            """
        #expect(try await logged(fixture, setUp) == "delivery.add 2")
        #expect(try await logged(fixture, "\(create))") == "delivery.add 3")
        let change = """
            SELECT pushmta.set_delivery_rate(3, 3);
            SELECT pushmta.set_delivery_weight(3, 4);
            SELECT pushmta.set_delivery_weight(3, 4);
            """
        #expect(try await logged(fixture, change) == "rate.add delivery 3, delivery.weight 3")
        let unlimited = "SELECT pushmta.set_delivery_rate(3, NULL)"
        #expect(try await logged(fixture, unlimited) == "rate.remove delivery 3")
        let proof = """
            INSERT INTO pushmta_engine.subscription (id, application_id, push_token, user_key) VALUES (77, 1, 'token', 'u');
            SELECT pushmta.proof_delivery(delivery => 3, subscription_ids => ARRAY[77]);
            """
        #expect(try await logged(fixture, proof) == "delivery.proof 4")
        let continuous = """
            \(create));
            SELECT pushmta.make_continuous(5);
            SELECT pushmta.start_delivery(5);
            """
        #expect(try await logged(fixture, continuous) == "delivery.add 5, delivery.start 5")
        #expect(try await logged(fixture, "SELECT pushmta.send_message(5, 77)") == "")
        let days = "SELECT count(*) FROM pushmta_engine.delivery d WHERE d.parent_delivery_id = 5"
        #expect(try await fixture.sql(days) == 1)
    }

    @Test("Changes of opt-outs, devices and exclusion lists are logged; registrations by devices are not")
    func people() async throws {
        let fixture = try await StoreFixture.make()
        let device =
            "INSERT INTO pushmta_engine.subscription (id, application_id, push_token, user_key) VALUES (77, 1, 'token', 'u');"
        #expect(try await logged(fixture, device) == "")
        try await fixture.store.createExclusionList(name: "l")
        let script = """
            SELECT pushmta.set_opt_out(77, true);
            SELECT pushmta.set_opt_out(77, true);
            SELECT pushmta.set_opt_out(77, false);
            SELECT pushmta.unregister_device(77);
            SELECT pushmta.unregister_device(77);
            SELECT pushmta.add_exclusions('l', ARRAY['a', 'b']);
            SELECT pushmta.add_exclusions('l', ARRAY['a']);
            SELECT pushmta.remove_exclusions('l', ARRAY['a']);
            """
        #expect(
            try await logged(fixture, script)
                == "subscriber.opt_out 77, subscriber.opt_in 77, subscriber.unregister 77, list.put l, list.take l"
        )
    }

    @Test("Quarantines, tokens, hosts, imports, resumed applications and forgotten users are logged")
    func decisions() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 3)
        let (id, host) = (part.deliveryID, fixture.host)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (subscription_id, application_id, delivery_id, kind, state)
            SELECT s.id, s.application_id, \(id), 'invalid', CASE s.id WHEN 3 THEN 'pending' ELSE 'doubted' END
            FROM pushmta_engine.subscription s WHERE s.id > 1
            """
        )
        let script = """
            UPDATE pushmta_engine.subscription SET quarantine_status = 2, quarantined_at = now() WHERE id = 1;
            SELECT pushmta.lift_quarantine(1);
            SELECT pushmta.resolve_doubted_tokens('shop-ios', false);
            SELECT pushmta.resolve_doubted_tokens('shop-ios', false);
            SELECT pushmta.undo_token_effects(\(id));
            UPDATE pushmta_engine.mta_host SET drain_requested = true;
            UPDATE pushmta_engine.mta_host SET drain_requested = true;
            SELECT count(*) FROM pushmta_engine.resume_application(1, false);
            INSERT INTO pushmta_engine.subscription_import (application_id, source) VALUES (1, 'people.csv');
            UPDATE pushmta_engine.subscription_import SET undone_at = now();
            SELECT pushmta.forget_user('shop', 'shop-ios-2');
            SELECT pushmta.forget_user('shop', 'shop-ios-2');
            """
        #expect(
            try await logged(fixture, script)
                == "subscriber.lift 1, token.undo shop-ios, token.undo delivery \(id), subscriber.forget 2, host.drain \(host), "
                + "application.resume shop-ios, import.add 1, import.undo 1"
        )
    }

    @Test("A console user's change has one row, under that user")
    func console() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await fixture.actor(.admin)
        let session = "ROW(token_hash, now(), interval '1 hour', '192.0.2.1')::pushmta_engine.console_caller"
        let from = "FROM pushmta_engine.console_session;"
        let script = """
            SELECT pushmta_engine.console_add_list(\(session), 'gone', '') \(from)
            SELECT pushmta_engine.console_remove_list(\(session), l.id, 10)
                FROM pushmta_engine.exclusion_list l, pushmta_engine.console_session;
            SELECT pushmta_engine.console_add_service(\(session), 'other', 'Other') \(from)
            SELECT pushmta_engine.console_save_credential(\(session), 'shop-ios', 7, 'apns_key', 'k', '\\x00', '{}', 'abc', NULL, false)
                \(from)
            SELECT pushmta_engine.console_resume(\(session), 1, false) \(from)
            INSERT INTO pushmta_engine.subscription (id, application_id, push_token, user_key, quarantine_status, quarantined_at)
                VALUES (77, 1, 'token', 'u', 2, now());
            SELECT pushmta_engine.console_change_subscriber(\(session), 'lift', 77) \(from)
            SELECT pushmta_engine.console_add_draft(\(session), 'd', ARRAY['shop-ios'], '{}') \(from)
            SELECT pushmta_engine.console_start_draft(\(session), d.id, d.version, '{"ios": {"title": "t"}}',
                NULL, '{}', '{"weight": 3, "messages_per_second": 5}', now() + interval '1 day')
                FROM pushmta_engine.console_session, pushmta_engine.console_draft d;
            SELECT pushmta_engine.console_control(\(session), 'reschedule', 1, now() + interval '2 days') \(from)
            SELECT pushmta_engine.console_control(\(session), 'edit', 1) \(from)
            SELECT pushmta_engine.console_start_draft(\(session), d.id, d.version, '{"ios": {"title": "t"}}',
                NULL, '{}', '{"weight": 3, "messages_per_second": 5}', NULL, true)
                FROM pushmta_engine.console_session, pushmta_engine.console_draft d;
            SELECT pushmta_engine.console_forget(\(session), 77) \(from)
            """
        #expect(
            try await logged(fixture, script)
                == "list.add gone, list.remove gone, service.add other, credential.set shop-ios, "
                + "application.resume shop-ios, subscriber.lift 77, draft.add 1, delivery.start 1, "
                + "delivery.reschedule 1, delivery.edit 1, delivery.analyze 1, subscriber.forget 77"
        )
    }
}
