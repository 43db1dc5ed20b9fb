extension Migration {
    /// Services with their mappings, filters of targets, exclusion lists.
    static let targets = Migration(
        version: 17,
        name: "targets",
        oldestProgram: 8,
        script: serviceScript + filterScript + exclusionScript + targetFunctions + targetRights
    )

    private static let serviceScript = #"""
        ALTER TABLE pushmta_engine.target_mapping ADD label text NOT NULL DEFAULT '';
        ALTER TABLE pushmta_engine.target_mapping ADD changed_at timestamptz NOT NULL DEFAULT now();
        ALTER TABLE pushmta_engine.service ADD type text NOT NULL DEFAULT 'mobile_application' CHECK (type = 'mobile_application');
        ALTER TABLE pushmta_engine.service ADD changed_at timestamptz NOT NULL DEFAULT now();

        CREATE VIEW pushmta.service AS
        SELECT v.id, v.name, v.label, v.type, m.name AS mapping,
            ARRAY(SELECT a.name FROM pushmta_engine.application a WHERE a.service_id = v.id ORDER BY a.platform DESC, a.environment DESC, a.name)
                AS applications, v.created_at
        FROM pushmta_engine.service v LEFT JOIN pushmta_engine.target_mapping m ON m.id = v.target_mapping_id;

        CREATE VIEW pushmta.target_mapping AS
        SELECT m.id, m.name, m.label, m.view_name, m.key_column, m.created_at FROM pushmta_engine.target_mapping m;

        -- The applications of a service in an environment, for create_delivery.
        CREATE FUNCTION pushmta.applications_of(service text, environment text DEFAULT 'production') RETURNS text[] LANGUAGE plpgsql STABLE
            SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            names text[];
        BEGIN
            SELECT array_agg(a.name ORDER BY a.name) INTO names FROM application a JOIN pushmta_engine.service v ON v.id = a.service_id
            WHERE v.name = service AND a.environment = environment;
            IF names IS NULL THEN
                RAISE EXCEPTION 'Service "%" has no % application, or there is no such service.', service, environment
                    USING ERRCODE = 'PM001', HINT = 'pushmta.service lists the services with their applications.';
            END IF;
            RETURN names;
        END $$;

        """#

    private static let filterScript = #"""
        -- What a filter makes of a text that is compared with a number or a time; null if it is none. Nobody's data may end a
        -- preparation.
        CREATE FUNCTION pushmta_engine.filter_number(value text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE WHEN value ~ '^[+-]?[0-9]{1,100}([.][0-9]{1,100})?$' THEN value::numeric END $$;
        CREATE FUNCTION pushmta_engine.filter_time(value text) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
        BEGIN
            IF value !~ ('^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?'
                '(Z|[+-](0[0-9]|1[0-5]):?[0-5][0-9])?)?$') THEN
                RETURN NULL;
            ELSIF value ~ '(Z|[+-][0-9]{2}:?[0-9]{2})$' AND length(value) > 10 THEN
                RETURN value::timestamptz;
            END IF;
            RETURN value::timestamp AT TIME ZONE 'UTC';
        EXCEPTION WHEN datetime_field_overflow OR invalid_datetime_format THEN
            RETURN NULL;
        END $$;

        -- A condition in SQL beside the filter; see set_target_sql.
        ALTER TABLE pushmta_engine.delivery ADD target_sql text CHECK (octet_length(target_sql) BETWEEN 1 AND 65536);

        CREATE OR REPLACE FUNCTION pushmta_engine.exclusion_name(code smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE code WHEN 1 THEN 'disabled' WHEN 2 THEN 'opted_out' WHEN 3 THEN 'quarantine' WHEN 5 THEN 'duplicate'
                WHEN 6 THEN 'unknown_subscription' WHEN 7 THEN 'exclusion_list' ELSE 'other' END $$;

        """#

    private static let targetRights = #"""
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pushmta_raw FROM PUBLIC;
        REVOKE ALL ON FUNCTION pushmta.applications_of(text, text), pushmta_engine.filter_number(text), pushmta_engine.filter_time(text),
            pushmta_engine.plain_token(), pushmta_engine.check_preparer(), pushmta_engine.find_exclusion_list(text),
            pushmta.set_target(bigint, text, text[], boolean), pushmta.create_exclusion_list(text, text),
            pushmta.add_exclusions(text, text[], bigint[], text[]), pushmta.remove_exclusions(text, text[], bigint[], text[])
            FROM PUBLIC;

        DO $$
        BEGIN
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                GRANT SELECT, INSERT, UPDATE, DELETE ON pushmta_engine.exclusion_list, pushmta_engine.exclusion_entry,
                    pushmta_engine.delivery_exclusion_list, pushmta.delivery_exclusion, pushmta.service, pushmta.target_mapping,
                    pushmta.exclusion_list, pushmta.delivery_targeting TO pushmta_runtime;
                GRANT USAGE ON ALL SEQUENCES IN SCHEMA pushmta, pushmta_engine TO pushmta_runtime;
                GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pushmta, pushmta_engine TO pushmta_runtime;
            END IF;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_marketing') THEN
                GRANT SELECT, INSERT, UPDATE, DELETE ON pushmta.delivery_exclusion TO pushmta_marketing;
                GRANT SELECT ON pushmta.service, pushmta.target_mapping, pushmta.exclusion_list, pushmta.delivery_targeting
                    TO pushmta_marketing;
                GRANT EXECUTE ON FUNCTION pushmta.applications_of(text, text), pushmta.set_target(bigint, text, text[], boolean),
                    pushmta.create_exclusion_list(text, text), pushmta.add_exclusions(text, text[], bigint[], text[]),
                    pushmta.remove_exclusions(text, text[], bigint[], text[]) TO pushmta_marketing;
            END IF;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_monitoring') THEN
                GRANT SELECT ON pushmta.service TO pushmta_monitoring;
            END IF;
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_raw_sql') THEN
                GRANT USAGE ON SCHEMA pushmta_raw TO pushmta_raw_sql;
                GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pushmta_raw TO pushmta_raw_sql;
            END IF;
        END $$;
        """#
}
