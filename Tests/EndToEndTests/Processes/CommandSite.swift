import TestSupport

/// The program with a migrated database and a folder of its own.
struct CommandSite {
    let folder: TemporaryFolder
    let program: Program
    let database: TestDatabase

    init() async throws {
        folder = try TemporaryFolder()
        program = try Program.pushmta()
        database = try await TestDatabase.create(.migrated)
    }
}
