import Foundation
import PostgresClient

/// Objects in schema `public` that shadow PostgreSQL's own: functions, operators, types and catalogues of all names,
/// with the same argument types. For functions with arguments of any type there are also better-fitting ones.
///
/// A role that may create objects in a schema on a session's search path could create them, and they would run with the
/// session's rights. These objects count each call, which no rollback undoes, and raise an error.
package enum ShadowNames {
    /// Creates them in a database. From then on `public` comes first on the search path of its sessions.
    package static func plant(in configuration: PostgresConfiguration) async throws {
        let connection = try await PostgresConnection.connect(configuration)
        for script in [trap, functions, variadic, operators, relations, types] {
            try await connection.run(script: script)
        }
        await connection.close()
        try await lead(to: configuration)
    }

    /// Puts `public` first on the search path of a database's sessions. A clone does not inherit the settings of its
    /// template.
    static func lead(to configuration: PostgresConfiguration) async throws {
        let connection = try await PostgresConnection.connect(configuration)
        try await connection.run(script: path)
        await connection.close()
    }

    /// Whether all databases of a run get them, to check everything that the tests do. A few SQL statements of the
    /// tests themselves, which use `public`, fail then; statements of the product must not.
    static let areEverywhere = ProcessInfo.processInfo.environment["PUSHMTA_TEST_SHADOWS"] == "1"

    /// The number of calls, and the number of objects.
    package static func calls(in configuration: PostgresConfiguration) async throws -> (calls: Int64, names: Int64) {
        let connection = try await PostgresConnection.connect(configuration)
        let row = try await connection.execute(
            PostgresStatement(
                """
                SELECT (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM public.sprung),
                    (SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace)
                """,
                prepare: false
            )
        )
        await connection.close()
        return (try row.int64(0, 0), try row.int64(0, 1))
    }

    private static let trap = """
        CREATE SEQUENCE public.sprung;
        CREATE FUNCTION public.spring(name text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
        BEGIN
            PERFORM nextval('public.sprung'::regclass);
            RAISE EXCEPTION 'public.% was called in the place of PostgreSQL''s', name;
        END $$;
        """

    /// The body that calls the trap, with every name qualified.
    private static let body = "format('BEGIN PERFORM public.spring(%L::pg_catalog.text); RETURN NULL; END', f.name)"

    /// Functions whose arguments or results only C supports are omitted.
    private static let functions = """
        DO $do$
        DECLARE f record;
        BEGIN
            FOR f IN SELECT p.proname AS name,
                    (SELECT string_agg(CASE WHEN a.place = cardinality(p.proargtypes::oid[]) AND p.provariadic <> 0 THEN 'VARIADIC ' ELSE '' END
                        || format_type(a.type, NULL), ', ' ORDER BY a.place)
                    FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a(type, place)) AS arguments,
                    CASE WHEN t.typtype = 'p' AND t.typname <> 'void' THEN 'text' ELSE format_type(t.oid, NULL) END AS result
                FROM pg_proc p JOIN pg_type t ON t.oid = p.prorettype
                WHERE p.pronamespace = 'pg_catalog'::regnamespace
            LOOP
                BEGIN
                    EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', f.name, f.arguments, f.result,
                        \(body));
                EXCEPTION WHEN others THEN NULL;
                END;
            END LOOP;
        END $do$;
        """

    /// A function with a type for each argument is preferred to one that accepts any.
    private static let variadic = """
        DO $do$
        DECLARE f record;
        BEGIN
            FOR f IN WITH RECURSIVE list(types, n) AS (
                    SELECT v.type, 1 FROM (VALUES ('text'), ('integer'), ('bigint'), ('jsonb')) v(type)
                    UNION ALL SELECT l.types || ', ' || v.type, l.n + 1
                    FROM list l, (VALUES ('text'), ('integer'), ('bigint'), ('jsonb')) v(type) WHERE l.n < 3
                )
                SELECT DISTINCT p.proname AS name, l.types FROM pg_proc p CROSS JOIN (SELECT types FROM list UNION ALL
                    VALUES ('text, text, integer, jsonb'), ('bigint, text, text, jsonb'), ('text, text, text, text')) l
                WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.provariadic = '"any"'::regtype
            LOOP
                BEGIN
                    EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS text LANGUAGE plpgsql AS %L', f.name, f.types, \(body));
                EXCEPTION WHEN others THEN NULL;
                END;
            END LOOP;
        END $do$;
        """

    private static let operators = """
        DO $do$
        DECLARE f record;
        BEGIN
            FOR f IN SELECT o.oprname AS name, o.oid, CASE WHEN o.oprleft <> 0 THEN format_type(o.oprleft, NULL) END AS l,
                    format_type(o.oprright, NULL) AS r, format_type(o.oprresult, NULL) AS result
                FROM pg_operator o WHERE o.oprnamespace = 'pg_catalog'::regnamespace
            LOOP
                BEGIN
                    EXECUTE format('CREATE FUNCTION public.operator_%s(%s) RETURNS %s LANGUAGE plpgsql AS %L', f.oid,
                        concat_ws(', ', f.l, f.r), f.result, \(body));
                    EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = public.operator_%s, %s RIGHTARG = %s)', f.name, f.oid,
                        CASE WHEN f.l IS NULL THEN '' ELSE format('LEFTARG = %s,', f.l) END, f.r);
                EXCEPTION WHEN others THEN NULL;
                END;
            END LOOP;
        END $do$;
        """

    private static let relations = """
        DO $do$
        DECLARE f record;
        BEGIN
            FOR f IN SELECT c.relname AS name FROM pg_class c
                WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v')
            LOOP
                BEGIN
                    EXECUTE format('CREATE VIEW public.%I AS SELECT * FROM pg_catalog.%I WHERE public.spring(%L)', f.name, f.name, f.name);
                    EXECUTE format('GRANT SELECT ON public.%I TO PUBLIC', f.name);
                EXCEPTION WHEN others THEN NULL;
                END;
            END LOOP;
        END $do$;
        """

    private static let types = """
        DO $do$
        DECLARE f record;
        BEGIN
            FOR f IN SELECT t.typname AS name FROM pg_type t
                WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype IN ('b', 'r') AND t.typname NOT LIKE '\\_%'
            LOOP
                BEGIN
                    EXECUTE format('CREATE DOMAIN public.%I AS pg_catalog.%I CHECK (public.spring(%L))', f.name, f.name, f.name);
                EXCEPTION WHEN others THEN NULL;
                END;
            END LOOP;
        END $do$;
        """

    private static let path = """
        DO $do$
        BEGIN
            EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database());
        END $do$;
        """
}
