import PostgresClient
import TestSupport
import Testing

/// A suite that runs commands as operators type them.
protocol CommandSuite {
    var site: CommandSite { get }
}

extension CommandSuite {
    var folder: TemporaryFolder { site.folder }
    var program: Program { site.program }
    var database: TestDatabase { site.database }

    /// What each command needs to find the database.
    var environment: [String: String] {
        ["PUSHMTA_DATABASE_URL": database.connectionString, "PUSHMTA_MTA_WORKING_PATH": folder.path]
    }

    @discardableResult
    func run(_ arguments: String..., expect status: Int32 = 0) async throws -> Program.Ending {
        let ending = try await program.run(arguments, environment: environment)
        #expect(ending.status == status, "\(arguments): \(ending.output) \(ending.errors)")
        return ending
    }

    /// Adds the service shop with the application shop-ios.
    func addShop() async throws {
        try await run("service", "add", "shop")
        try await run("account", "add", "apns", "--connector", "ios-http2")
        let application = ["app", "add", "shop-ios", "--service", "shop", "--platform", "ios", "--account", "apns"]
        let added = try await program.run(
            application + ["--message-id-format", "uuid", "--bundle-id", "com.shop"],
            environment: environment
        )
        #expect(added.status == 0, "\(added.errors)")
    }

    func sql(_ script: String) async throws {
        let connection = try await database.connect()
        try await connection.run(script: script)
        await connection.close()
    }

    /// The first column of the first row, as text.
    func value(_ sql: String) async throws -> String? {
        let connection = try await database.connect()
        defer { Task { await connection.close() } }
        return try await connection.execute(PostgresStatement("SELECT (\(sql))::text", prepare: false)).textOrNil(0, 0)
    }
}
