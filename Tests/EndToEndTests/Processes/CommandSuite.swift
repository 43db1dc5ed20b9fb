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
}
