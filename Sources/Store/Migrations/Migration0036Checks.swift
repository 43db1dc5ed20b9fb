extension Migration {
    /// What can never be sent is refused where it is written.
    ///
    /// The rules are the program's: `migrate` writes them into `input_rule`, the JSON Schema of contents and the fields and limits of
    /// filters. Functions of the database only walk them, so that a caller of `create_delivery` needs no program.
    static let inputChecks = Migration(
        version: 36,
        name: "input checks",
        oldestProgram: 8,
        script: inputRules + contentCheck + filterCheck + deliveryChecks + exclusionView + readyMadeTemplates
            + checkRights
    )

    private static let inputRules = #"""
        CREATE TABLE pushmta_engine.input_rule (
            name text PRIMARY KEY,
            document jsonb NOT NULL,
            changed_at timestamptz NOT NULL DEFAULT now()
        );
        COMMENT ON TABLE pushmta_engine.input_rule IS
            'Rules of the program by which inputs are checked: content, a JSON Schema; filter, fields and limits. Written by pushmta migrate.';

        -- One thing that is wrong with an input: where, as a JSON Pointer, what, and what to do about it.
        CREATE TYPE pushmta_engine.input_problem AS (pointer text, problem text, remedy text);

        """#

    private static let exclusionView = #"""
        CREATE VIEW pushmta.exclusion_log AS
        SELECT e.delivery_id, a.name AS application, e.reason, e.subscription_id, s.user_key, e.target_id,
            t.user_key AS target_user_key, t.push_token AS target_push_token, t.variables AS target_variables, e.logged_at
        FROM pushmta_engine.delivery d
        JOIN pushmta_engine.exclusion_log e ON e.log_day = d.log_day AND e.delivery_id = d.id
        LEFT JOIN pushmta_engine.application a ON a.id = e.application_id
        LEFT JOIN pushmta_engine.subscription s ON s.id = e.subscription_id
        LEFT JOIN pushmta.delivery_target t ON t.id = e.target_id;
        COMMENT ON VIEW pushmta.exclusion_log IS
            'Who was left out of a delivery at its preparation, and why; target_… is the row of pushmta.delivery_target that named them.';

        """#

    private static let readyMadeTemplates = #"""
        -- A channel shows a notification, so the template could not be used for a data message. Without one FCM takes the app's own
        -- default channel.
        UPDATE pushmta_engine.delivery_template SET content = '{"android": {"priority": "high"}}', changed_at = now(),
            label = 'Notification or data message to the subscribers of an Android application'
        WHERE name = 'Deliver on Android' AND ready_made AND content = '{"android": {"channel_id": "AEPSDKPushChannel", "priority": "high"}}';

        """#

    private static let checkRights = #"""
        REVOKE ALL ON FUNCTION pushmta_engine.schema_problems(jsonb, jsonb, jsonb, text), pushmta_engine.content_problems(jsonb, text[]),
            pushmta_engine.filter_words(text), pushmta_engine.filter_problem(text), pushmta_engine.delivery_problems(bigint),
            pushmta_engine.refuse_content(text, pushmta_engine.input_problem[]), pushmta_engine.check_start(),
            pushmta.check_content(jsonb, text[]), pushmta.check_delivery(bigint) FROM PUBLIC;

        DO $$
        BEGIN
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                GRANT SELECT ON pushmta_engine.input_rule, pushmta.exclusion_log TO pushmta_runtime;
                GRANT EXECUTE ON FUNCTION pushmta_engine.schema_problems(jsonb, jsonb, jsonb, text),
                    pushmta_engine.content_problems(jsonb, text[]), pushmta_engine.filter_words(text), pushmta_engine.filter_problem(text),
                    pushmta_engine.delivery_problems(bigint), pushmta_engine.refuse_content(text, pushmta_engine.input_problem[]),
                    pushmta_engine.check_start(), pushmta.check_content(jsonb, text[]), pushmta.check_delivery(bigint) TO pushmta_runtime;
            END IF;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_marketing') THEN
                GRANT SELECT ON pushmta.exclusion_log TO pushmta_marketing;
                GRANT EXECUTE ON FUNCTION pushmta.check_content(jsonb, text[]), pushmta.check_delivery(bigint) TO pushmta_marketing;
            END IF;
        END $$;
        """#
}
