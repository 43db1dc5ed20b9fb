-- The rights of the roles: a query whose rows are the statements that grant what is missing. Each migration runs them, and doctor
-- reports them.
--
-- Roles belong to the cluster and rights to the database, so either can be missing, for example after a restore without roles or
-- after a role was dropped and recreated. Nothing is revoked: an administrator may have granted more. pushmta_runtime has all
-- rights on everything, so it is not in the list. Partitions are accessed through their parent tables.
--
-- kind is the kind of the objects: schema; relation, a table or a view; columns, the readable columns of a relation; function, all
-- functions of a name, whatever their arguments.
WITH given (role, kind, privileges, objects) AS (
    VALUES
        ('pushmta_runtime', 'schema', 'USAGE', 'pushmta pushmta_engine'),
        ('pushmta_marketing', 'schema', 'USAGE', 'pushmta'),
        ('pushmta_tokens', 'schema', 'USAGE', 'pushmta'),
        ('pushmta_monitoring', 'schema', 'USAGE', 'pushmta'),
        ('pushmta_raw_sql', 'schema', 'USAGE', 'pushmta_raw'),
        ('pushmta_events', 'schema', 'USAGE', 'pushmta'),
        ('pushmta_web', 'schema', 'USAGE', 'pushmta pushmta_engine'),
        ('pushmta_console', 'schema', 'USAGE', 'pushmta pushmta_engine'),
        -- No UPDATE or DELETE: a role that has one of them can lock the table, and so block all preparations and messages.
        ('pushmta_marketing', 'relation', 'INSERT', 'pushmta.delivery_exclusion pushmta.delivery_target'),
        -- Without push_token: members of the role must not see tokens that others have named.
        ('pushmta_marketing', 'columns', 'id, delivery_id, subscription_id, user_key, variables, created_at', 'pushmta.delivery_target'),
        ('pushmta_marketing', 'columns', 'id, delivery_id, subscription_id, user_key', 'pushmta.delivery_exclusion'),
        -- Without samples, which have values of people.
        ('pushmta_marketing', 'columns', 'delivery_id, label, state, messages, excluded, seeds, frozen_at, frozen_until, requested_by, '
            'requested_at, finished_at, rendered, smallest, largest, refused, remade_because, seconds, limited_by, ends_at, '
            'bound',
            'pushmta.delivery_analysis'),
        -- Without addresses, queries and errors, which name machines of others.
        ('pushmta_marketing', 'columns', 'name, kind, good, interval_seconds, reaction_seconds, stale_after_seconds, value, sampled_at, '
            'age_seconds, stale, deliveries', 'pushmta.health_signal'),
        ('pushmta_events', 'relation', 'SELECT', 'pushmta.event_consumer pushmta.event_gap pushmta.event_kind'),
        -- Addresses of webhooks may hold secrets of their receivers.
        ('pushmta_console', 'columns', 'consumer, host, active, inactive_reason, accepted, accepted_at, attempts, trouble, dead_letters',
            'pushmta.webhook'),
        ('pushmta_web', 'columns', 'consumer, host, active, inactive_reason, accepted, accepted_at, attempts, trouble, dead_letters',
            'pushmta.webhook'),
        ('pushmta_monitoring', 'columns', 'consumer, host, max_events, active, inactive_reason, created_at, accepted_at, accepted, '
            'attempts, next_at, http_status, trouble, dead_letters, earlier_secret_ends_at', 'pushmta.webhook'),
        ('pushmta_tokens', 'relation', 'SELECT', 'pushmta.delivery_exclusion pushmta.delivery_target pushmta.subscription_token'),
        ('pushmta_marketing', 'relation', 'SELECT',
            'pushmta.application pushmta.approval pushmta.approval_rule pushmta.category pushmta.category_opt_out '
            'pushmta.delivery_awaiting_approval pushmta.delivery_count pushmta.delivery_day '
            'pushmta.delivery_failures '
            'pushmta.delivery_problem pushmta.delivery_progress pushmta.delivery_proof pushmta.delivery_refusal pushmta.delivery_signal '
            'pushmta.delivery_conversion pushmta.experiment pushmta.experiment_variant '
            'pushmta.delivery_statistics pushmta.delivery_statistics_by_application pushmta.delivery_statistics_by_hour '
            'pushmta.delivery_statistics_by_locale pushmta.delivery_statistics_by_version pushmta.delivery_statistics_detail '
            'pushmta.event_consumer pushmta.event_gap pushmta.event_kind '
            'pushmta.delivery_targeting pushmta.delivery_template pushmta.exclusion_list pushmta.exclusion_log '
            'pushmta.behaviour '
            'pushmta.frequency_cap pushmta.gateway_trouble pushmta.message_status pushmta.rate_limit pushmta.recall_report '
            'pushmta.recurrence pushmta.recurrence_run pushmta.schema_version '
            'pushmta.seed pushmta.service pushmta.subscription pushmta.target_mapping pushmta.user_category_opt_out '
            'pushmta.user_opt_out '
            'pushmta.day_off pushmta.delivery_plan pushmta.delivery_wave pushmta.sending_hours '
            'pushmta.audience pushmta.control_group'),
        ('pushmta_monitoring', 'relation', 'SELECT',
            'pushmta.alarm pushmta.alarm_history pushmta.alarm_look pushmta.ambiguous_message pushmta.application pushmta.approval '
            'pushmta.approval_rule pushmta.credential pushmta.delivery_awaiting_approval '
            'pushmta.behaviour '
            'pushmta.dead_letter '
            'pushmta.delivery_day pushmta.delivery_failures pushmta.delivery_progress pushmta.delivery_proof '
            'pushmta.delivery_refusal pushmta.delivery_signal pushmta.delivery_statistics '
            'pushmta.delivery_statistics_by_application pushmta.delivery_statistics_by_hour '
            'pushmta.delivery_statistics_by_locale pushmta.delivery_statistics_by_version '
            'pushmta.event_consumer pushmta.event_gap pushmta.event_kind '
            'pushmta.delivery_statistics_detail pushmta.feedback_backlog pushmta.feedback_service pushmta.feedback_worker '
            'pushmta.forgotten_subscription pushmta.gateway_trouble pushmta.health_signal pushmta.lock_alarm pushmta.lock_wait '
            'pushmta.message_status pushmta.mta_child '
            'pushmta.mta_host pushmta.rate_limit pushmta.recall_report pushmta.ready_work pushmta.recurrence pushmta.recurrence_run '
            'pushmta.retention_hold pushmta.retention_log '
            'pushmta.schema_version pushmta.service pushmta.web_certificate '
            'pushmta.day_off pushmta.delivery_plan pushmta.delivery_wave pushmta.experiment pushmta.experiment_variant '
            'pushmta.control_group '
            'pushmta.sending_hours'),
        ('pushmta_web', 'relation', 'SELECT',
            'pushmta.dead_letter pushmta.delivery_signal pushmta.event_consumer pushmta_engine.schema_version'),
        ('pushmta_web', 'columns', 'name, kind, good, interval_seconds, reaction_seconds, stale_after_seconds, value, sampled_at, '
            'age_seconds, stale, deliveries', 'pushmta.health_signal'),
        -- No push token, no credential, no key, and nothing of the console's own users.
        ('pushmta_console', 'relation', 'SELECT',
            'pushmta.day_off pushmta.delivery_plan pushmta.delivery_wave pushmta.experiment pushmta.experiment_variant '
            'pushmta.sending_hours '
            'pushmta.dead_letter pushmta.event_consumer pushmta.event_gap pushmta.event_kind '
            'pushmta.alarm pushmta.alarm_history pushmta.application pushmta.delivery_count pushmta.delivery_day '
            'pushmta.delivery_awaiting_approval '
            'pushmta.delivery_failures pushmta.delivery_problem '
            'pushmta.delivery_progress pushmta.delivery_refusal pushmta.delivery_signal pushmta.delivery_statistics '
            'pushmta.delivery_statistics_by_hour pushmta.delivery_targeting '
            'pushmta.delivery_statistics_by_application pushmta.health_signal pushmta.lock_alarm pushmta.mta_child pushmta.mta_host '
            'pushmta.rate_limit '
            'pushmta.recurrence pushmta.recurrence_run '
            'pushmta_engine.application pushmta_engine.application_health pushmta_engine.delivery '
            'pushmta_engine.delivery_application pushmta_engine.delivery_part pushmta_engine.exclusion_log pushmta_engine.open_part '
            'pushmta_engine.external_account pushmta_engine.gateway_trouble pushmta_engine.mta_child '
            'pushmta_engine.schema_version '
            -- For the composer.
            'pushmta.approval_rule pushmta.category pushmta.delivery_template pushmta.frequency_cap pushmta_engine.console_audience '
            -- For services and applications. pushmta.credential shows nothing secret.
            'pushmta.credential pushmta.gateway_trouble pushmta.service pushmta.target_mapping pushmta_engine.service '
            -- For plans and audiences.
            'pushmta.audience pushmta.control_group pushmta_engine.time_zone'),
        -- A view's functions run with the rights of its reader, and a trigger's condition with those of the user who changes the
        -- table.
        ('public', 'function', 'EXECUTE',
            'pushmta_engine.as_percent pushmta_engine.circuit_of pushmta_engine.event_alarms pushmta_engine.event_names '
            'pushmta_engine.experiment_alarms pushmta_engine.expiry_step pushmta_engine.recall_alarms '
            'pushmta_engine.expiry_text pushmta_engine.difference_words pushmta_engine.error_share '
            'pushmta_engine.failure_reason pushmta_engine.failure_type pushmta_engine.has_unread pushmta_engine.is_forgetting '
            'pushmta_engine.is_integration_key pushmta_engine.is_label pushmta_engine.is_name pushmta_engine.is_plain '
            'pushmta_engine.is_taken_back '
            'pushmta_engine.login_text pushmta_engine.uncounted '
            'pushmta_engine.approval_version pushmta_engine.is_push_token pushmta_engine.plan_words pushmta_engine.rate_at '
            'pushmta_engine.too_late '
            'pushmta_engine.rule_words pushmta_engine.status_name '
            'pushmta_engine.token_hash pushmta_engine.token_problem'),
        ('pushmta_marketing', 'function', 'EXECUTE',
            'pushmta.add_exclusions pushmta.add_seed pushmta.add_targets pushmta.add_template pushmta.analyze_delivery '
            'pushmta.approve_delivery pushmta.recall_delivery pushmta.reject_delivery pushmta.withdraw_approval '
            'pushmta.request_approval '
            'pushmta.applications_of '
            'pushmta.check_content pushmta.check_delivery pushmta.copy_delivery pushmta.count_target '
            'pushmta.archive_delivery pushmta.compare_deliveries pushmta.list_deliveries '
            'pushmta.set_delivery_rate pushmta.set_delivery_weight '
            'pushmta.set_retry_schedule '
            'pushmta.keep_behaviour '
            'pushmta.create_delivery pushmta.drop_frequency_cap pushmta.set_frequency_cap pushmta.set_one_time_code '
            'pushmta.create_delivery_from_template pushmta.create_exclusion_list pushmta.delivery_status pushmta.duplicate_template '
            'pushmta.explain_message_id '
            'pushmta.find_message pushmta.find_subscriptions pushmta.follow_signal pushmta.lift_quarantine pushmta.make_continuous '
            'pushmta.pause_delivery pushmta.preview_message pushmta.proof_delivery '
            'pushmta.drop_category pushmta.set_category pushmta.set_category_opt_out pushmta.set_user_category_opt_out '
            'pushmta.next_events pushmta.next_runs pushmta.pause_recurrence pushmta.remove_recurrence '
            'pushmta.run_recurrence pushmta.set_recurrence '
            'pushmta.start_recurrence pushmta.reschedule_delivery pushmta.update_delivery '
            'pushmta.remove_delivery_exclusions pushmta.remove_exclusions pushmta.remove_seed pushmta.remove_targets '
            'pushmta.remove_template pushmta.resume_delivery pushmta.send_message '
            'pushmta.send_messages pushmta.set_opt_out pushmta.set_seeds pushmta.set_target pushmta.set_user_opt_out '
            'pushmta.service_hours pushmta.set_hours_rule pushmta.set_local_time pushmta.set_plan pushmta.set_waves '
            'pushmta.start_delivery pushmta.stop_delivery pushmta.set_experiment pushmta.choose_winner pushmta.record_conversion '
            'pushmta.undo_token_effects pushmta.unregister_device pushmta_engine.sending_forecast pushmta_engine.token_bar '
            'pushmta.audience_sample pushmta.count_audience pushmta.remove_audience pushmta.save_audience '
            'pushmta.control_result pushmta.record_user_conversion pushmta.set_control_group'),
        ('pushmta_monitoring', 'function', 'EXECUTE',
            'pushmta.control_result '
            'pushmta.delivery_status pushmta.next_runs pushmta.queue pushmta.service_hours'),
        ('pushmta_console', 'function', 'EXECUTE',
            'pushmta_engine.behaviour_blocks '
            'pushmta_engine.who_did '
            'pushmta_engine.api_analysis_counts pushmta_engine.api_exclusion_counts pushmta_engine.api_problems '
            'pushmta_engine.console_drop_signal pushmta_engine.console_follow pushmta_engine.console_set_rate '
            'pushmta_engine.console_set_signal '
            'pushmta.delivery_status pushmta.next_runs pushmta_engine.api_recurrence pushmta_engine.api_recurrence_runs '
            'pushmta.compare_deliveries pushmta.list_deliveries pushmta_engine.console_archive '
            'pushmta_engine.api_experiment pushmta_engine.api_experiment_variants pushmta_engine.console_choose_winner '
            'pushmta_engine.api_content pushmta_engine.api_forms pushmta_engine.console_prove_variant '
            'pushmta_engine.console_set_recurrence pushmta_engine.console_control_recurrence pushmta_engine.console_edit_recurring '
            'pushmta_engine.console_acknowledge pushmta_engine.console_actions pushmta_engine.console_analysis '
            'pushmta_engine.approval_of pushmta_engine.console_judge pushmta_engine.console_recall pushmta_engine.recall_of '
            'pushmta_engine.copy_source pushmta_engine.caps_of pushmta_engine.cap_holders pushmta_engine.returned_because '
            'pushmta_engine.approval_standings pushmta_engine.recalled_by pushmta_engine.replaceable_platforms '
            'pushmta_engine.running_recall pushmta_engine.replacing_text pushmta_engine.last_counts pushmta_engine.sending_forecast '
            'pushmta_engine.console_attempt pushmta_engine.console_audit pushmta_engine.console_begin '
            'pushmta_engine.console_choose_password pushmta_engine.console_control pushmta_engine.console_drain pushmta_engine.console_end '
            'pushmta_engine.console_open_sessions '
            'pushmta_engine.console_recycle pushmta_engine.console_refuse pushmta_engine.console_session_of pushmta_engine.project_of '
            'pushmta_engine.console_begin_outcomes pushmta_engine.console_change_subscriber pushmta_engine.console_find_people '
            'pushmta_engine.console_forget pushmta_engine.console_history pushmta_engine.console_messages '
            'pushmta_engine.console_find_message '
            'pushmta_engine.console_next_number pushmta_engine.console_outcomes '
            'pushmta_engine.console_quarantine pushmta_engine.console_quarantined pushmta_engine.console_service_people '
            'pushmta_engine.console_token_effects pushmta_engine.console_undo_tokens '
            'pushmta_engine.console_categories pushmta_engine.console_set_category pushmta_engine.console_subscriber '
            -- For the composer.
            'pushmta_engine.code_exclusion pushmta_engine.console_add_draft pushmta_engine.console_choices pushmta_engine.console_drafts '
            'pushmta_engine.console_duplicate pushmta_engine.console_keep_template pushmta_engine.console_remove_template '
            'pushmta_engine.console_find_reader pushmta_engine.console_prove_draft pushmta_engine.console_read_view '
            'pushmta_engine.console_reader '
            'pushmta_engine.console_remove_draft pushmta_engine.console_stopped_with pushmta_engine.console_delivery_of_draft '
            'pushmta_engine.console_returned '
            'pushmta_engine.console_save_draft pushmta_engine.console_start_draft pushmta_engine.filter_number '
            'pushmta_engine.check_start_at pushmta_engine.console_check_draft '
            'pushmta_engine.filter_time pushmta_engine.parse_filter '
            'pushmta_engine.console_add_list pushmta_engine.console_add_seed pushmta_engine.console_change_list '
            'pushmta_engine.console_lists pushmta_engine.console_remove_list pushmta_engine.console_remove_seed '
            'pushmta_engine.console_seed_list '
            -- For services and applications.
            'pushmta_engine.console_add_account pushmta_engine.console_add_application pushmta_engine.console_add_service '
            'pushmta_engine.console_change_account pushmta_engine.console_change_application pushmta_engine.console_change_service '
            'pushmta_engine.console_credential_id pushmta_engine.console_resume pushmta_engine.console_save_credential '
            'pushmta_engine.console_seeds pushmta_engine.console_test_push pushmta_engine.hold_credential_key pushmta_engine.version_of '
            -- For plans.
            'pushmta.service_hours pushmta_engine.api_plan pushmta_engine.api_waves pushmta_engine.console_change_hours '
            -- For frequency caps.
            'pushmta_engine.console_drop_cap pushmta_engine.console_set_cap '
            -- For approvals.
            'pushmta_engine.console_set_approval_rule '
            -- For users. Those of the command line, which check no session, are not for the console.
            'pushmta_engine.console_admin_add_user pushmta_engine.console_admin_change_user pushmta_engine.console_admin_remove_user '
            'pushmta_engine.console_admin_users '
            -- For events.
            'pushmta_engine.console_begin_secret pushmta_engine.console_control_events pushmta_engine.console_create_consumer '
            'pushmta_engine.console_create_webhook pushmta_engine.console_resend_letter pushmta_engine.console_rotate_secret '
            'pushmta_engine.console_set_webhook '
            -- For audiences and control groups.
            'pushmta.control_result pushmta.count_audience pushmta_engine.console_audience_sample pushmta_engine.console_remove_audience '
            'pushmta_engine.console_save_audience pushmta_engine.console_set_control_group pushmta_engine.may_leave_out'),
        ('pushmta_events', 'function', 'EXECUTE', 'pushmta.next_events'),
        ('pushmta_raw_sql', 'function', 'EXECUTE', 'pushmta_raw.set_target_sql'),
        ('pushmta_web', 'function', 'EXECUTE',
            'pushmta.explain_message_id '
            'pushmta.archive_delivery pushmta.compare_deliveries '
            'pushmta.add_targets pushmta.analyze_delivery pushmta.find_message pushmta.follow_signal pushmta.make_continuous '
            'pushmta.pause_delivery '
            'pushmta.resume_delivery '
            'pushmta.send_message pushmta.send_messages pushmta.set_delivery_rate pushmta.set_opt_out pushmta.start_delivery '
            'pushmta.stop_delivery pushmta.unregister_device '
            'pushmta.add_exclusions pushmta.add_seed pushmta.add_template pushmta.create_delivery_from_template '
            'pushmta.create_exclusion_list pushmta.duplicate_template pushmta.remove_exclusions pushmta.remove_seed '
            'pushmta.remove_template pushmta.set_one_time_code pushmta.set_seeds '
            'pushmta_engine.api_exclusion_lists pushmta_engine.api_find_exclusions pushmta_engine.api_remove_list '
            'pushmta_engine.api_seeds pushmta_engine.api_templates '
            'pushmta.set_category_opt_out pushmta_engine.api_categories pushmta_engine.api_set_user_category_opt_out '
            'pushmta_engine.api_events pushmta_engine.api_set_user_opt_out pushmta_engine.api_user_opt_outs '
            'pushmta_engine.device_categories '
            'pushmta_engine.api_applications pushmta_engine.api_create_delivery pushmta_engine.api_deliveries '
            'pushmta_engine.api_device pushmta_engine.api_find_devices pushmta_engine.api_outcome_range '
            'pushmta_engine.api_outcomes pushmta_engine.busy_registrations pushmta_engine.current_tracking_keys '
            'pushmta_engine.parse_filter pushmta_engine.record_conversions pushmta_engine.record_hits pushmta_engine.api_key_ids '
            'pushmta_engine.message_numbers_key pushmta_engine.note_web_certificate pushmta_engine.register_claims '
            'pushmta_engine.registration_proof_keys pushmta_engine.registration_trust '
            'pushmta_engine.registrable_applications pushmta_engine.tracking_position '
            'pushmta_engine.verify_api_key'),
        ('pushmta_web', 'function', 'EXECUTE',
            'pushmta.check_delivery pushmta_engine.api_content pushmta_engine.api_failures pushmta_engine.api_forms '
            'pushmta.copy_delivery pushmta.count_target pushmta.reschedule_delivery pushmta.update_delivery pushmta_engine.api_analysis '
            'pushmta.set_experiment pushmta.choose_winner pushmta_engine.add_conversion pushmta_engine.api_experiment '
            'pushmta_engine.api_experiment_variants '
            'pushmta.approve_delivery pushmta.recall_delivery pushmta.reject_delivery pushmta.withdraw_approval '
            'pushmta.request_approval '
            'pushmta_engine.approval_of pushmta_engine.recall_of '
            'pushmta_engine.api_analysis_counts pushmta_engine.api_exclusion_counts pushmta_engine.api_problems '
            'pushmta_engine.api_proofs pushmta_engine.api_prove_delivery pushmta_engine.api_read_view pushmta_engine.api_reader '
            'pushmta_engine.api_reader_row pushmta_engine.api_statistics pushmta_engine.api_statistics_by '
            'pushmta_engine.code_exclusion '
            'pushmta_engine.api_behaviour '
            'pushmta.next_runs pushmta.pause_recurrence pushmta.remove_recurrence pushmta.run_recurrence pushmta.set_recurrence '
            'pushmta.start_recurrence pushmta_engine.api_recurrence pushmta_engine.api_recurrence_runs '
            'pushmta.drop_frequency_cap pushmta.set_frequency_cap '
            'pushmta.create_consumer pushmta.drop_consumer pushmta.drop_webhook pushmta.enable_webhook pushmta.resend_dead_letter '
            'pushmta.set_webhook '
            'pushmta_engine.begin_webhook_secret pushmta_engine.create_webhook pushmta_engine.rotate_webhook_secret '
            'pushmta.service_hours pushmta.set_plan pushmta_engine.api_frequency_caps pushmta_engine.api_plan pushmta_engine.api_waves '
            'pushmta.audience_sample pushmta.control_result pushmta.count_audience pushmta.remove_audience pushmta.save_audience '
            'pushmta.record_user_conversion pushmta.set_control_group pushmta_engine.api_audiences pushmta_engine.api_control_group '
            'pushmta_engine.service_applications')
), wanted AS (
    SELECT g.role, g.kind, g.privileges, o.object FROM given g CROSS JOIN LATERAL string_to_table(g.objects, ' ') o(object)
), reader (function, owner, statements) AS (
    -- read_view always runs as pushmta_reader, and no SET ROLE leads out of that. After a restore without owners it has another
    -- owner and refuses to run. Dropping its owner's objects drops it too, so it is created here. So it is with read_signal.
    VALUES ('read_view', 'pushmta_reader', $reader$GRANT CREATE ON SCHEMA pushmta_engine TO pushmta_reader;
DROP FUNCTION IF EXISTS pushmta_engine.read_view(text, text[], boolean);
CREATE FUNCTION pushmta_engine.read_view(query text, user_keys text[], shows_plan boolean) RETURNS SETOF text[]
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    -- 16 KiB for each of 1,000 people: no gateway takes a message a third as long. A caller that asked for more people asks again
    -- for fewer at a time.
    most CONSTANT integer := 16777216;
    line text;
    list text[];
BEGIN
    IF current_user <> 'pushmta_reader' THEN
        RAISE EXCEPTION 'pushmta_engine.read_view belongs to %, not to pushmta_reader, so it reads nothing.', current_user
            USING ERRCODE = 'insufficient_privilege', HINT = 'Run pushmta migrate, which restores the owner.';
    ELSIF shows_plan THEN
        FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query USING user_keys LOOP
            RETURN NEXT ARRAY[line];
        END LOOP;
    ELSE
        FOR list IN EXECUTE query USING user_keys LOOP
            IF pg_column_size(list) > most THEN
                RAISE EXCEPTION 'A view returned more than % MiB for % people.', most >> 20, cardinality(user_keys)
                    USING ERRCODE = 'program_limit_exceeded';
            END IF;
            RETURN NEXT list;
        END LOOP;
    END IF;
END $body$;
REVOKE ALL ON FUNCTION pushmta_engine.read_view(text, text[], boolean) FROM PUBLIC;
COMMENT ON FUNCTION pushmta_engine.read_view(text, text[], boolean) IS
    'Runs a query as pushmta_reader, which may read the views of target mappings and nothing else: the views may call functions that '
    'others wrote. The query returns lists of texts, and its $1 is the list of user keys. With shows_plan, returns the lines of its plan '
    'instead, each as a list of one text.';
ALTER FUNCTION pushmta_engine.read_view(text, text[], boolean) OWNER TO pushmta_reader;
GRANT EXECUTE ON FUNCTION pushmta_engine.read_view(text, text[], boolean) TO pushmta_runtime;
REVOKE CREATE ON SCHEMA pushmta_engine FROM pushmta_reader$reader$),
    ('read_signal', 'pushmta_signal', $reader$GRANT CREATE ON SCHEMA pushmta_engine TO pushmta_signal;
DROP FUNCTION IF EXISTS pushmta_engine.read_signal(text);
CREATE FUNCTION pushmta_engine.read_signal(source text) RETURNS SETOF text[]
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    called regprocedure := to_regprocedure(source);
    value double precision;
BEGIN
    IF current_user <> 'pushmta_signal' THEN
        RAISE EXCEPTION 'pushmta_engine.read_signal belongs to %, not to pushmta_signal, so it reads nothing.', current_user
            USING ERRCODE = 'insufficient_privilege', HINT = 'Run pushmta migrate, which restores the owner.';
    ELSIF called IS NULL OR source !~ '^[a-z_][a-z0-9_$]*\.[a-z_][a-z0-9_$]*\(\)$' THEN
        RAISE EXCEPTION 'there is no function %', source USING ERRCODE = 'undefined_function';
    END IF;
    EXECUTE 'SELECT (' || source || ')::double precision' INTO value;
    RETURN NEXT ARRAY[value::text];
END $body$;
REVOKE ALL ON FUNCTION pushmta_engine.read_signal(text) FROM PUBLIC;
COMMENT ON FUNCTION pushmta_engine.read_signal(text) IS
    'The value of a health signal of kind sql: calls its function as pushmta_signal, which may call what operators have granted to it and '
    'nothing else. Returns a list of one text, null if the function returned null.';
ALTER FUNCTION pushmta_engine.read_signal(text) OWNER TO pushmta_signal;
GRANT EXECUTE ON FUNCTION pushmta_engine.read_signal(text) TO pushmta_runtime;
REVOKE CREATE ON SCHEMA pushmta_engine FROM pushmta_signal$reader$)
), of_runtime AS (
    SELECT c.oid, CASE c.relkind WHEN 'v' THEN 'SELECT' WHEN 'S' THEN 'USAGE' ELSE 'SELECT, INSERT, UPDATE, DELETE' END
        AS privileges, c.relkind = 'S' AS is_sequence
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('pushmta', 'pushmta_engine') AND c.relkind IN ('r', 'p', 'v', 'S') AND NOT c.relispartition
        -- The counter of a day's messages is created with the day's first message. Only functions of the schema use it, as its
        -- owner.
        AND NOT (c.relkind = 'S' AND c.relname LIKE 'message\_number\_%')
)
SELECT r.statements FROM reader r
WHERE NOT EXISTS (SELECT FROM pg_proc f JOIN pg_namespace n ON n.oid = f.pronamespace AND n.nspname = 'pushmta_engine'
    WHERE f.proname = r.function AND pg_get_userbyid(f.proowner) = r.owner)
UNION ALL
SELECT format('GRANT %s ON SCHEMA %I TO %I', w.privileges, n.nspname, w.role)
FROM wanted w JOIN pg_namespace n ON n.nspname = w.object
WHERE w.kind = 'schema' AND NOT has_schema_privilege(w.role, n.oid, w.privileges)
UNION ALL
SELECT format('GRANT %s ON %s TO %I', string_agg(p.name, ', ' ORDER BY p.place), w.object, w.role)
FROM wanted w CROSS JOIN LATERAL string_to_table(w.privileges, ', ') WITH ORDINALITY p(name, place)
WHERE CASE WHEN w.kind = 'relation' THEN NOT has_table_privilege(w.role, w.object::regclass, p.name) END
GROUP BY w.object, w.role
UNION ALL
SELECT format('GRANT SELECT (%s) ON %s TO %I', string_agg(c.name, ', ' ORDER BY c.place), w.object, w.role)
FROM wanted w CROSS JOIN LATERAL string_to_table(w.privileges, ', ') WITH ORDINALITY c(name, place)
WHERE CASE WHEN w.kind = 'columns' THEN NOT has_column_privilege(w.role, w.object::regclass, c.name, 'SELECT') END
GROUP BY w.object, w.role
UNION ALL
-- A function that does not exist gives a statement that fails.
SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I',
    CASE WHEN f.oid IS NULL THEN w.object
        ELSE format('%I.%I(%s)', n.nspname, f.proname, pg_get_function_identity_arguments(f.oid)) END, w.role)
FROM wanted w LEFT JOIN (pg_namespace n JOIN pg_proc f ON f.pronamespace = n.oid)
    ON n.nspname = split_part(w.object, '.', 1) AND f.proname = split_part(w.object, '.', 2)
WHERE w.kind = 'function' AND NOT coalesce(has_function_privilege(w.role, f.oid, 'EXECUTE'), false)
UNION ALL
SELECT format('GRANT %s ON %s %s TO pushmta_runtime', r.privileges, CASE WHEN r.is_sequence THEN 'SEQUENCE' ELSE 'TABLE' END,
    r.oid::regclass)
FROM of_runtime r
WHERE CASE WHEN r.is_sequence THEN NOT has_sequence_privilege('pushmta_runtime', r.oid, 'USAGE')
    ELSE EXISTS (SELECT FROM string_to_table(r.privileges, ', ') p WHERE NOT has_table_privilege('pushmta_runtime', r.oid, p)) END
UNION ALL
SELECT format('GRANT EXECUTE ON FUNCTION %I.%I(%s) TO pushmta_runtime', n.nspname, f.proname,
    pg_get_function_identity_arguments(f.oid))
FROM pg_proc f JOIN pg_namespace n ON n.oid = f.pronamespace
WHERE n.nspname IN ('pushmta', 'pushmta_engine') AND NOT has_function_privilege('pushmta_runtime', f.oid, 'EXECUTE')
ORDER BY 1;
