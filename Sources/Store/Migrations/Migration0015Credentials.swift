extension Migration {
    /// What monitoring may know of credentials.
    static let credentials = Migration(
        version: 15,
        name: "credentials",
        oldestProgram: 8,
        script: #"""
            -- Everything of a credential that may be shown. What it is made of stays sealed in the engine's schema, which neither
            -- monitoring nor marketing systems may look into.
            CREATE VIEW pushmta.credential AS
            SELECT c.id, c.kind, c.fingerprint, c.seal_key_id, c.expires_at,
                floor(extract(epoch FROM c.expires_at - now()) / 86400)::integer AS days_left,
                ARRAY(SELECT a.name FROM pushmta_engine.application a WHERE a.credential_id = c.id ORDER BY a.name) AS applications,
                c.created_at
            FROM pushmta_engine.credential c;
            COMMENT ON VIEW pushmta.credential IS 'The credentials of applications: kind, fingerprint and expiry.';

            -- It goes into a header of each request. What an earlier version took stays until somebody changes it.
            ALTER TABLE pushmta_engine.application
                ADD CONSTRAINT application_bundle_id_check CHECK (bundle_id ~ '^[A-Za-z0-9._-]{0,255}$') NOT VALID;

            DO $$
            BEGIN
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_runtime') THEN
                    GRANT SELECT ON pushmta.credential TO pushmta_runtime;
                END IF;
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushmta_monitoring') THEN
                    GRANT SELECT ON pushmta.credential TO pushmta_monitoring;
                END IF;
            END $$;
            """#
    )
}
