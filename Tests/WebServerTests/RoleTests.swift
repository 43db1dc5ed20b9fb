import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// The rights of the web process's role.
@Suite struct RoleTests {
    @Test func theRoleReadsNoSecretAndWritesNoTable() async throws {
        let site = try await StoreSite.make()
        let connection = try await site.database.connect()
        try await connection.run(script: "SET ROLE pushmta_web")
        let tables = try await site.value(
            "SELECT string_agg(c.oid::regclass::text, ' ') FROM pg_class c WHERE c.relnamespace IN ('pushmta'::regnamespace, 'pushmta_engine'::regnamespace) AND c.relkind IN ('r', 'p', 'v')"
        )
        let names = (tables ?? "").split(separator: " ")
        #expect(names.count > 40)
        // A delivery's signal is a name and rates.
        let readable: Set<Substring> = [
            "pushmta_engine.schema_version", "pushmta.dead_letter", "pushmta.delivery_signal", "pushmta.event_consumer",
        ]
        for name in names {
            let rights = try await connection.execute(
                PostgresStatement(
                    "SELECT has_table_privilege('\(name)', 'SELECT'), has_table_privilege('\(name)', 'INSERT') OR has_table_privilege('\(name)', 'UPDATE') OR has_table_privilege('\(name)', 'DELETE') OR has_table_privilege('\(name)', 'TRUNCATE')",
                    prepare: false
                )
            )
            #expect(try rights.bool(0, 0) == readable.contains(name), "\(name)")
            #expect(try rights.bool(0, 1) == false, "\(name)")
        }
        for statement in [
            "SELECT sealed FROM pushmta_engine.credential", "SELECT key FROM pushmta_engine.tracking_key",
            "DELETE FROM pushmta_engine.subscription", "UPDATE pushmta_engine.delivery_part SET state = 'done'",
            "SELECT pushmta_engine.ensure_partitions(current_date, current_date)", "CREATE TABLE pushmta_engine.x ()",
        ] {
            await #expect(throws: PostgresError.self, "\(statement)") {
                try await connection.execute(PostgresStatement(statement, prepare: false))
            }
        }
        await connection.close()
    }

    @Test func theProcessTakesTheRole() async throws {
        let site = try await WebSite.start()
        #expect(
            try await site.registerIOS("registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey").status
                == 200
        )
        let session = PostgresConnectionProbe(site.database.configuration())
        #expect(try await session.role(Store.webRole) == "pushmta_web")
        try await site.drain()
    }
}

/// Returns the user of a store's own session.
struct PostgresConnectionProbe {
    let configuration: PostgresConfiguration

    init(_ configuration: PostgresConfiguration) {
        self.configuration = configuration
    }

    func role(_ name: String) async throws -> String {
        let store = Store(configuration: configuration, role: name)
        let role = try await store.sessionRole()
        await store.close()
        return role
    }
}
