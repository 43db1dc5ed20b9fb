import Foundation
import PostgresClient

/// Objects in schema `public` that stand in the place of PostgreSQL's own: functions, operators, types and catalogues of all names, with
/// the arguments of those whose place they take, and for functions of any arguments some that fit better.
///
/// A role that may create in a schema that a session looks into could make them, and they would run with the session's rights. These count
/// each call in a way that no rollback takes back, and raise an error.
public enum ShadowNames {
    /// Makes them in a database, in which sessions look into `public` first from then on.
    public static func plant(in configuration: PostgresConfiguration) async throws {
        let connection = try await PostgresConnection.connect(configuration)
        for script in [trap, functions, variadic, operators, relations, types] {
            try await connection.run(script: script)
        }
        await connection.close()
        try await lead(to: configuration)
    }

    /// Lets sessions of a database look into `public` first: what is cloned has no settings of its template.
    static func lead(to configuration: PostgresConfiguration) async throws {
        let connection = try await PostgresConnection.connect(configuration)
        try await connection.run(script: path)
        await connection.close()
    }

    /// Whether all databases of a run get them: to look through everything that tests do. Of SQL that is a test's own, and looks into
    /// `public`, a few statements fail then; the product's must not.
    static let areEverywhere = ProcessInfo.processInfo.environment["PUSHMTA_TEST_SHADOWS"] == "1"

    /// How often one of them ran, and how many there are.
    public static func calls(in configuration: PostgresConfiguration) async throws -> (calls: Int64, names: Int64) {
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

    /// A body that calls the trap, with every name in full.
    private static let body = "format('BEGIN PERFORM public.spring(%L::pg_catalog.text); RETURN NULL; END', f.name)"

    /// What cannot be made, as arguments or results are of no language but C, is left out.
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

    /// One with a type for each argument is taken before one that takes any.
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
