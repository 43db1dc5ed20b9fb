import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Store

/// In a separate cluster, because roles belong to all databases of a cluster.
@Suite("An owner that may not create roles")
struct OwnerTests {
    private struct Site {
        let cluster: TestCluster
        let admin: PostgresConnection
        let owner: PostgresConfiguration

        static func make() async throws -> Site {
            let cluster = try await TestCluster.start()
            let admin = try await cluster.connect()
            for statement in [
                "CREATE ROLE shop_owner LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB",
                "CREATE DATABASE shop OWNER shop_owner",
                "CREATE DATABASE reference",
            ] { try await admin.run(script: statement) }
            return Site(cluster: cluster, admin: admin, owner: configuration(cluster, "shop", user: "shop_owner"))
        }

        static func configuration(_ cluster: TestCluster, _ database: String, user: String) -> PostgresConfiguration {
            let text = cluster.connectionString(database: database)
                .replacingOccurrences(of: "user=postgres", with: "user=\(user)")
            return PostgresConfiguration(
                text,
                applicationName: PostgresApplicationName(role: "test", host: "localhost", pid: 0)
            )
        }

        /// The rights of each role, in order.
        func rights(_ database: String) async throws -> [String] {
            let connection = try await cluster.connect(database: database)
            let result = try await connection.execute(PostgresStatement(Self.rightsSQL, prepare: false))
            await connection.close()
            return try (0..<result.rowCount).map { try result.text($0, 0) }
        }

        private static let rightsSQL = """
            WITH acl AS (
                SELECT 'schema ' || n.nspname AS object, (aclexplode(n.nspacl)).* FROM pg_namespace n
                UNION ALL
                SELECT c.relkind::text || ' ' || c.oid::regclass, (aclexplode(c.relacl)).* FROM pg_class c WHERE NOT c.relispartition
                UNION ALL
                SELECT 'function ' || p.oid::regprocedure, (aclexplode(p.proacl)).* FROM pg_proc p
            )
            SELECT format('%s: %s on %s', coalesce(r.rolname, 'public'), a.privilege_type, a.object)
            FROM acl a LEFT JOIN pg_roles r ON r.oid = a.grantee
            WHERE a.object LIKE '%pushmta%' AND (r.rolname LIKE 'pushmta%' OR r.rolname IS NULL)
                -- What everybody may need not be given to anybody.
                AND NOT (r.rolname IS NOT NULL AND EXISTS (SELECT FROM acl e
                    WHERE e.grantee = 0 AND e.object = a.object AND e.privilege_type = a.privilege_type))
            ORDER BY 1
            """

        func run(_ script: String, in database: String) async throws {
            let connection = try await cluster.connect(database: database)
            try await connection.run(script: script)
            await connection.close()
        }

        func missing() async throws -> SchemaRights {
            let store = try await Store.connect(owner)
            let missing = try await store.missingRights()
            await store.close()
            return missing
        }

        /// Migrates as the owner, which is refused; returns the statements in the error.
        func refusedMigration() async throws -> [String] {
            do {
                try await Store.migrate(owner)
                Issue.record("migrated without roles")
                return []
            } catch let error as StoreError {
                #expect(error.code == .schema && error.message.contains("shop_owner"))
                return try error.message.matches(of: Regex("(CREATE ROLE \\w+ NOLOGIN;|GRANT [^;]+;)"))
                    .map { String(error.message[$0.range]) }
            }
        }
    }

    @Test(
        "gets the statements for an administrator before anything is changed; afterwards everything works as for a superuser"
    )
    func refused() async throws {
        let site = try await Site.make()
        let statements = try await site.refusedMigration()
        let roles = SchemaRoles.names.map { "CREATE ROLE \($0) NOLOGIN;" }
        #expect(statements == roles + ["GRANT pushmta_reader, pushmta_signal TO shop_owner;"])
        let database = try await site.cluster.connect(database: "shop")
        let traces = try await database.execute(
            PostgresStatement("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'pushmta%'", prepare: false)
        )
        #expect(try traces.int64(0, 0) == 0, "nothing was changed")
        await database.close()
        for statement in statements { try await site.admin.run(script: statement) }
        #expect(try await Store.migrate(site.owner).applied == SchemaVersion.all.flatMap(\.files).map(\.name))
        #expect(try await Store.migrate(site.owner).granted == [])
        try await Store.migrate(Site.configuration(site.cluster, "reference", user: "postgres"))
        #expect(try await site.rights("shop") == site.rights("reference"))
        let missing = try await site.missing()
        #expect(missing.roles == [] && missing.grants == [])
        await site.admin.close()
    }

    @Test("A database in which schemas may not be created is reported, too")
    func database() async throws {
        let site = try await Site.make()
        try await site.admin.run(script: "ALTER DATABASE shop OWNER TO postgres")
        let statements = try await site.refusedMigration()
        #expect(statements.last == "GRANT CREATE ON DATABASE shop TO shop_owner;")
        for statement in statements { try await site.admin.run(script: statement) }
        try await Store.migrate(site.owner)
        await site.admin.close()
    }

    @Test("The next run restores lost rights, and the list has all rights that the steps grant")
    func repaired() async throws {
        let site = try await Site.make()
        for role in SchemaRoles.names { try await site.admin.run(script: SchemaRoles.creation(of: role)) }
        try await site.admin.run(script: SchemaRoles.membership(of: "shop_owner"))
        try await Store.migrate(site.owner)
        let whole = try await site.rights("shop")
        for role in SchemaRoles.names {
            try await site.run("DROP OWNED BY \(role)", in: "shop")
            #expect(try await site.rights("shop") != whole)
        }
        #expect(try await site.missing().grants.count > 100)
        let report = try await Store.migrate(site.owner)
        #expect(report.applied == [] && report.granted.count > 100)
        #expect(try await site.rights("shop") == whole)
        // A dropped role is reported as missing, and nothing is done without it.
        try await site.run("DROP OWNED BY pushmta_web; DROP ROLE pushmta_web", in: "shop")
        #expect(try await site.missing().roles == ["CREATE ROLE pushmta_web NOLOGIN;"])
        let statements = try await site.refusedMigration()
        #expect(statements == ["CREATE ROLE pushmta_web NOLOGIN;"])
        for statement in statements { try await site.admin.run(script: statement) }
        #expect(try await !site.missing().grants.isEmpty)
        try await Store.migrate(site.owner)
        #expect(try await site.rights("shop") == whole)
        // It works: the web process switches to its role and can read.
        let web = try await Store.connect(site.owner, role: Store.webRole)
        #expect(try await web.registrableApplications().isEmpty)
        await web.close()
        await site.admin.close()
    }

    @Test(
        "A right on a missing object is an error, not skipped",
        arguments: [
            "ALTER FUNCTION pushmta.find_message(text, bigint) RENAME TO find_it",
            "ALTER VIEW pushmta.seed RENAME TO seeds",
        ]
    )
    func list(change: String) async throws {
        let database = try await TestDatabase.create()
        let connection = try await database.connect()
        try await connection.run(script: change)
        await #expect(throws: PostgresError.self) { try await Store.migrate(database.configuration()) }
        await connection.close()
    }
}
