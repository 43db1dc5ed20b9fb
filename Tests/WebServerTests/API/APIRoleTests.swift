import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// The API's database role can only do what its functions do.
@Suite struct APIRoleTests {
    @Test func theRoleReadsNoHashAndNoCredentialAndWritesNoTable() async throws {
        let site = try await APISite.start()
        let secret = try await site.key()
        let key = try #require(APIKey(secret))
        let connection = try await site.web.database.connect()
        try await connection.run(script: "SET ROLE pushmta_web")
        for statement in [
            "SELECT key_hash FROM pushmta_engine.api_key", "SELECT public_id FROM pushmta_engine.api_key",
            "UPDATE pushmta_engine.api_key SET scopes = '{}'", "INSERT INTO pushmta_engine.api_key DEFAULT VALUES",
            "DELETE FROM pushmta_engine.api_key", "SELECT sealed FROM pushmta_engine.credential",
            "SELECT fingerprint FROM pushmta.credential", "SELECT key FROM pushmta_engine.tracking_key",
            "UPDATE pushmta_engine.delivery SET state = 'in_progress'",
            "INSERT INTO pushmta.delivery_target DEFAULT VALUES",
            "UPDATE pushmta_engine.subscription SET opted_out = false", "DELETE FROM pushmta_engine.broad_log",
            "SELECT pushmta_engine.hold_delivery(1, 'x')", "SELECT pushmta_raw.set_target_sql(1, 'true')",
            "SELECT pushmta.undo_token_effects(1)", "SELECT samples FROM pushmta.delivery_analysis",
            "SELECT url FROM pushmta.webhook", "SELECT sealed FROM pushmta_engine.webhook_secret",
            "SELECT source FROM pushmta.health_signal", "SELECT pushmta.set_health_signal('a', 'http', 'https://a')",
        ] {
            await #expect(throws: PostgresError.self, "\(statement)") { try await connection.run(script: statement) }
            try await connection.run(script: "SET ROLE pushmta_web")
        }
        // Its function tells it whether a key is valid, and nothing about an invalid key.
        let right = try await connection.execute(
            PostgresStatement(
                "SELECT count(*) FROM pushmta_engine.verify_api_key($1, $2) k WHERE k.problem = ''",
                [.text(key.publicID), .bytes(key.hash)]
            )
        )
        #expect(try right.int64(0, 0) == 1)
        for wrong in [[UInt8](), [UInt8](repeating: 0, count: 32)] {
            let none = try await connection.execute(
                PostgresStatement(
                    "SELECT count(*) FROM pushmta_engine.verify_api_key($1, $2)",
                    [.text(key.publicID), .bytes(wrong)]
                )
            )
            #expect(try none.int64(0, 0) == 0)
        }
        await connection.close()
        try await site.finish()
    }

    /// A function with its owner's rights must not look up names in its caller's search path.
    @Test func everyFunctionWithItsOwnersRightsHasAFixedSearchPath() async throws {
        let site = try await StoreSite.make()
        let loose = try await site.value(
            """
            SELECT coalesce(string_agg(p.oid::regprocedure::text, ' '), '') FROM pg_proc p
            WHERE p.pronamespace IN ('pushmta'::regnamespace, 'pushmta_engine'::regnamespace) AND p.prosecdef
                AND coalesce(array_to_string(p.proconfig, ','), '') !~ 'search_path=(pushmta_engine|pg_catalog), pg_temp'
            """
        )
        #expect(loose == "")
        let open = try await site.value(
            """
            SELECT string_agg(p.proname, ' ' ORDER BY p.proname) FROM pg_proc p
            WHERE p.pronamespace IN ('pushmta'::regnamespace, 'pushmta_engine'::regnamespace)
                AND has_function_privilege('pushmta_web', p.oid, 'EXECUTE')
                AND NOT has_function_privilege('public', p.oid, 'EXECUTE')
            """
        )
        let names = Set((open ?? "").split(separator: " ").map(String.init))
        let wanted: Set<String> = [
            "registrable_applications", "register_claims", "busy_registrations", "registration_trust",
            "registration_proof_keys",
            "message_numbers_key", "api_key_ids", "note_web_certificate", "current_tracking_keys",
            "tracking_position", "record_hits",
            "verify_api_key", "api_applications", "api_device", "api_find_devices", "api_deliveries", "api_outcomes",
            "api_outcome_range", "api_create_delivery", "add_targets", "unregister_device", "set_opt_out",
            "start_delivery",
            "pause_delivery", "resume_delivery", "stop_delivery", "send_message", "send_messages", "find_message",
            "explain_message_id", "follow_signal", "make_continuous", "set_delivery_rate", "api_set_user_opt_out",
            "add_exclusions", "add_seed", "set_seeds", "add_template", "create_delivery_from_template",
            "create_exclusion_list",
            "duplicate_template", "remove_exclusions", "remove_seed", "remove_template", "set_one_time_code",
            "api_exclusion_lists", "api_find_exclusions", "api_remove_list", "api_seeds", "api_templates",
            "check_delivery", "api_content", "api_failures", "api_forms", "api_proofs", "api_prove_delivery",
            "api_read_view", "api_reader", "api_reader_row", "api_statistics", "api_statistics_by", "code_exclusion",
            "parse_filter",
            "analyze_delivery", "update_delivery", "copy_delivery", "reschedule_delivery", "api_analysis",
            "api_analysis_counts", "api_exclusion_counts", "api_problems",
            "api_plan", "api_waves", "service_hours", "set_plan", "api_frequency_caps",
            "set_frequency_cap", "drop_frequency_cap",
            "create_consumer", "drop_consumer", "begin_webhook_secret", "create_webhook", "rotate_webhook_secret",
            "drop_webhook", "enable_webhook", "resend_dead_letter", "set_webhook",
            "api_behaviour",
            "request_approval",
            "approve_delivery", "reject_delivery", "withdraw_approval", "approval_of",
            "recall_delivery", "recall_of",
            "archive_delivery", "compare_deliveries",
            "next_runs", "set_recurrence", "start_recurrence", "pause_recurrence", "remove_recurrence",
            "run_recurrence", "api_recurrence", "api_recurrence_runs",
            "audience_sample", "count_audience", "remove_audience", "save_audience", "api_audiences",
            "service_applications",
            "control_result", "record_user_conversion", "set_control_group", "api_control_group",
            "set_experiment", "choose_winner", "api_experiment", "api_experiment_variants", "add_conversion",
            "record_conversions", "count_target", "api_events",
            "api_categories", "api_set_user_category_opt_out", "api_user_opt_outs", "device_categories",
            "set_category_opt_out",
        ]
        #expect(names == wanted, "\(names.symmetricDifference(wanted))")
    }
}
