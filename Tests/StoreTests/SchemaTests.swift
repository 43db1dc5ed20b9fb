import Foundation
import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("The schema")
struct SchemaTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/Schema")

    @Test("The program contains each file of the folder unchanged")
    func embedded() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path + "/version1").sorted()
        #expect(names == SchemaVersion.all[0].files.map(\.name))
        for file in SchemaVersion.all[0].files {
            let text = try String(contentsOfFile: "\(Self.folder.path)/version1/\(file.name)", encoding: .utf8)
            #expect(text == file.text, "\(file.name): build again")
        }
        let later = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path + "/migrations")
            .filter { $0.hasSuffix(".sql") }.sorted()
        #expect(later == SchemaVersion.all.dropFirst().flatMap(\.files).map(\.name).sorted())
    }

    @Test("Each table, view, function, type and schema has a comment")
    func comments() async throws {
        let database = try await TestDatabase.create()
        let connection = try await database.connect()
        let silent = try await connection.execute(
            PostgresStatement(
                """
                SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname ~ '^pushmta' AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
                    AND obj_description(c.oid, 'pg_class') IS NULL
                UNION ALL SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
                WHERE n.nspname ~ '^pushmta' AND obj_description(p.oid, 'pg_proc') IS NULL
                UNION ALL SELECT t.oid::regtype::text FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
                JOIN pg_class c ON c.oid = t.typrelid AND c.relkind = 'c'
                WHERE n.nspname ~ '^pushmta' AND obj_description(t.oid, 'pg_type') IS NULL
                UNION ALL SELECT n.nspname FROM pg_namespace n
                WHERE n.nspname ~ '^pushmta' AND obj_description(n.oid, 'pg_namespace') IS NULL
                """,
                prepare: false
            )
        )
        #expect(try (0..<silent.rowCount).map { try silent.text($0, 0) } == [])
        await connection.close()
    }

    /// Keywords that are not names in the schema.
    private static let keywords = [
        "SELECT", "INSERT", "UPDATE", "DELETE", "WHERE", "EXISTS", "VALUES", "HAVING", "ELSIF", "RETURNS", "BEGIN",
        "DECLARE", "PERFORM", "RAISE", "UNION", "INNER", "RETURNING",
    ]

    @Test("The files have one form: steps of four blanks, 140 columns, keywords in capitals, a newline at the end")
    func form() throws {
        let rights = try String(contentsOfFile: Self.folder.path + "/rights.sql", encoding: .utf8)
        let files = SchemaVersion.all.flatMap(\.files) + [SchemaFile(name: "rights.sql", text: rights)]
        let words = Self.keywords.map { $0.lowercased() }.joined(separator: "|")
        let wrong = try Regex("[^\\w.\"](\(words))[^\\w.(]")
        let texts = try Regex("--[^\\n]*|'(?:[^']|'')*'")
        for file in files {
            #expect(file.text.hasSuffix("\n") && !file.text.hasSuffix("\n\n"), "\(file.name)")
            let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
            for (number, line) in zip(1..., lines) {
                let isInForm =
                    line.prefix { $0 == " " }.count % 4 == 0 && line.count <= 140 && line.last?.isWhitespace != true
                    && !line.contains("\t")
                #expect(isInForm, "\(file.name):\(number)")
            }
            let small = file.text.replacing(texts, with: "").matches(of: wrong).count
            #expect(small == 0, "\(file.name): keywords in small letters")
        }
    }

    @Test("No function has more than 60 lines, and each has its comment before the next")
    func lengths() throws {
        for file in SchemaVersion.all.flatMap(\.files) {
            var first: Int?
            let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
            for (number, line) in zip(1..., lines) {
                if line.hasPrefix("CREATE FUNCTION ") {
                    #expect(first == nil, "\(file.name):\(number): the function before it has no comment")
                    first = number
                } else if let begin = first, line.hasPrefix("COMMENT ON ") {
                    #expect(number - begin <= 60, "\(file.name):\(begin): \(number - begin) lines")
                    first = nil
                }
            }
            #expect(first == nil, "\(file.name): the last function has no comment")
        }
    }

    /// With `plpgsql_check`, which resolves the tables, types and functions of each statement in a function's body.
    @Test("No function has a statement that cannot run, or that means something other than it seems")
    func bodies() async throws {
        let database = try await TestDatabase.create()
        let connection = try await database.connect()
        let isThere = try await connection.execute(
            PostgresStatement(
                "SELECT count(*) FROM pg_available_extensions WHERE name = 'plpgsql_check'",
                prepare: false
            )
        )
        try #require(try isThere.int64(0, 0) == 1, "install postgresql-*-plpgsql-check, as ./Deploy/test does")
        try await connection.run(script: "CREATE EXTENSION plpgsql_check")
        let results = try await connection.execute(PostgresStatement(Self.checkSQL, prepare: false))
        let findings = try (0..<results.rowCount).map { try results.text($0, 0) }
        #expect(findings == [], "\(findings.joined(separator: "\n"))")
        let checked = try await connection.execute(
            PostgresStatement("SELECT count(*) FROM (\(Self.functionsSQL)) f", prepare: false)
        )
        #expect(try checked.int64(0, 0) > 80)
        // It finds a known error; otherwise the test would be worthless.
        try await connection.run(
            script: """
                CREATE FUNCTION pushmta_engine.wrong() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DELETE FROM nowhere; END $$
                """
        )
        #expect(try await connection.execute(PostgresStatement(Self.checkSQL, prepare: false)).rowCount == 1)
        await connection.close()
    }

    /// Functions of triggers once for each trigger.
    private static let functionsSQL = """
        SELECT p.oid, coalesce(t.tgrelid, 0) AS relation, t.tgnewtable AS new_table, t.tgoldtable AS old_table
        FROM pg_proc p
        JOIN pg_namespace n ON n.oid = p.pronamespace AND n.nspname IN ('pushmta', 'pushmta_engine', 'pushmta_raw')
        JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
        LEFT JOIN pg_trigger t ON t.tgfoid = p.oid AND NOT t.tgisinternal
        """

    private static let checkSQL = """
        SELECT format('%s line %s: %s %s', c.functionid::regprocedure, c.lineno, c.message, c.detail)
        FROM (\(functionsSQL)) f CROSS JOIN LATERAL plpgsql_check_function_tb(f.oid, f.relation,
            newtable => f.new_table, oldtable => f.old_table) c
        ORDER BY 1
        """

    /// An SQL function that is bound at creation (`RETURN`, `BEGIN ATOMIC`) looks up no names when it runs, and can be
    /// inlined. Every other function sets its search path.
    @Test("No function looks up names in its caller's search path")
    func paths() async throws {
        let database = try await TestDatabase.create()
        let connection = try await database.connect()
        let loose = try await connection.execute(
            PostgresStatement(
                """
                SELECT p.proname::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
                WHERE n.nspname ~ '^pushmta' AND p.prosqlbody IS NULL AND p.prokind <> 'a'
                    AND coalesce(array_to_string(p.proconfig, ','), '') !~ 'search_path=(pushmta_engine|pg_catalog), pg_temp'
                ORDER BY 1
                """,
                prepare: false
            )
        )
        // The condition belongs to its caller, like a condition in a statement. The other functions use only operators
        // of PostgreSQL's own types, for which no better match can exist. A setting would cost more than they do,
        // because they are called for each row of a part or filter.
        #expect(
            try (0..<loose.rowCount).map { try loose.text($0, 0) } == [
                "filter_time", "is_part", "keep_no_row", "try_condition",
            ]
        )
        await connection.close()
    }

    @Test("Numbers that the program and the schema share are equal")
    func shared() async throws {
        let database = try await TestDatabase.create()
        let connection = try await database.connect()
        func text(_ sql: String) async throws -> String {
            try await connection.execute(PostgresStatement(sql, prepare: false)).text(0, 0)
        }
        for (trigger, limit) in [
            ("delivery_target_variables_size", MessageLimits.maxVariablesBytes),
            ("delivery_content_size", MessageLimits.maxContentBytes),
            ("delivery_template_content_size", MessageLimits.maxContentBytes),
        ] {
            let definition = try await text("SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = '\(trigger)'")
            #expect(definition.contains("> \(limit))"), "\(trigger)")
        }
        let message = try await text("SELECT prosrc FROM pg_proc WHERE proname = 'send_message'")
        #expect(message.contains("octet_length(given::text) > \(MessageLimits.maxVariablesBytes)"))
        let messages = try await text("SELECT prosrc FROM pg_proc WHERE proname = 'check_messages'")
        #expect(messages.contains("octet_length(u.given::text) > \(MessageLimits.maxVariablesBytes)"))
        let slices = try await text("SELECT prosrc FROM pg_proc WHERE proname = 'take_rates'")
        #expect(slices.contains("messages_per_second / \(Int(1 / (RateShare.slice / .seconds(1))))"))
        // The signatures of create_delivery show no defaults: these come from the program's table of settings.
        let shown = try await text(
            """
            SELECT coalesce(string_agg(p.shown, ', '), '') FROM (
                SELECT unnest(string_to_array(pg_get_function_arguments(oid), ', ')) AS shown FROM pg_proc
                WHERE proname LIKE 'create_delivery%' AND pronamespace = 'pushmta'::regnamespace) p
            WHERE p.shown LIKE '%DEFAULT%' AND p.shown NOT LIKE '%DEFAULT NULL%'
            """
        )
        #expect(shown.isEmpty, "\(shown)")
        await connection.close()
    }
}
