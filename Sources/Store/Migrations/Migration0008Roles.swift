extension Migration {
    /// Roles for the processes, marketing systems and monitoring.
    static let roles = Migration(
        version: 8,
        name: "roles",
        script: #"""
            -- Three roles without login, to grant to the users of each kind. Roles belong to the cluster: another database may have
            -- made them already, and without the right to make them the owner's own rights suffice.
            DO $$
            DECLARE
                wanted text;
            BEGIN
                FOREACH wanted IN ARRAY ARRAY['pushmta_runtime', 'pushmta_marketing', 'pushmta_monitoring'] LOOP
                    BEGIN
                        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
                            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
                        END IF;
                    EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN
                        NULL;
                    END;
                END LOOP;
            END $$;

            REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pushmta FROM PUBLIC;
            REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pushmta_engine FROM PUBLIC;
            -- A view's functions run with the rights of its reader.
            GRANT EXECUTE ON FUNCTION pushmta_engine.status_name(smallint) TO PUBLIC;

            DO $$
            BEGIN
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                    GRANT USAGE ON SCHEMA pushmta, pushmta_engine TO pushmta_runtime;
                    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pushmta, pushmta_engine TO pushmta_runtime;
                    GRANT USAGE ON ALL SEQUENCES IN SCHEMA pushmta, pushmta_engine TO pushmta_runtime;
                    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pushmta, pushmta_engine TO pushmta_runtime;
                END IF;
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_marketing') THEN
                    GRANT USAGE ON SCHEMA pushmta TO pushmta_marketing;
                    GRANT SELECT, INSERT, UPDATE, DELETE ON pushmta.delivery_target TO pushmta_marketing;
                    GRANT SELECT ON pushmta.application, pushmta.subscription, pushmta.delivery_progress, pushmta.message_status
                        TO pushmta_marketing;
                    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pushmta TO pushmta_marketing;
                END IF;
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_monitoring') THEN
                    GRANT USAGE ON SCHEMA pushmta TO pushmta_monitoring;
                    GRANT SELECT ON pushmta.application, pushmta.delivery_progress, pushmta.message_status, pushmta.mta_host,
                        pushmta.mta_child TO pushmta_monitoring;
                    GRANT EXECUTE ON FUNCTION pushmta.delivery_status(bigint) TO pushmta_monitoring;
                END IF;
            END $$;
            """#
    )
}
