import Foundation
import PostgresClient
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Console users on the command line, and settings that keep the console from starting.
@Suite struct ConsoleCommandTests {
    private let program: Program
    private let database: TestDatabase

    init() async throws {
        program = try Program.pushmta()
        database = try await TestDatabase.create(.migrated)
    }

    @discardableResult
    private func run(_ arguments: String..., expect status: Int32 = 0) async throws -> Program.Ending {
        let ending = try await program.run(arguments, environment: ["PUSHMTA_DATABASE_URL": database.connectionString])
        #expect(ending.status == status, "\(arguments): \(ending.output) \(ending.errors)")
        return ending
    }

    @Test func usersAreAddedChangedListedAndRemovedOnRecord() async throws {
        let first = try await run("console", "user", "add", "ada", "--role", "operate").output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(first.wholeMatch(of: /([a-z2-9]{5}-){3}[a-z2-9]{5}/) != nil)
        try await run("console", "user", "add", "ada", expect: 65)
        try await run("console", "user", "add", "bob", "--role", "everything", expect: 64)
        try await run("console", "user", "add", " ", expect: 64)
        // Standard input is empty here, which is not a password.
        try await run("console", "user", "add", "bob", "--stdin", expect: 65)
        try await run("console", "user", "add", "bob")
        try await run("console", "user", "role", "bob", "admin")
        let second = try await run("console", "user", "password", "ada").output
        #expect(second != first + "\n")
        let rows = try await run("console", "user", "list", "--json").rows()
        #expect(rows.compactMap { $0["name"] as? String } == ["ada", "bob"])
        #expect(rows.compactMap { $0["role"] as? String } == ["operate", "admin"])
        try await run("console", "user", "remove", "ada")
        try await run("console", "user", "remove", "ada", expect: 65)
        try await run("console", "user", "password", "ada", expect: 65)
        let connection = try await database.connect()
        let actions = try await connection.execute(
            .init("SELECT string_agg(a.action, ' ' ORDER BY a.id) FROM pushmta_engine.audit_log a", prepare: false)
        ).text(0, 0)
        #expect(actions == "user.add user.add user.role user.password user.remove")
        await connection.close()
    }

    @Test func anAddressThatOthersReachNeedsTLS() async throws {
        for command in [["console"], ["config", "check"]] {
            let ending = try await program.run(
                command + ["--set", "console.address=0.0.0.0"],
                environment: ["PUSHMTA_DATABASE_URL": database.connectionString]
            )
            #expect(ending.status == 78, "\(command): \(ending.errors)")
            #expect(ending.errors.contains("console.certificateFile"), "\(ending.errors)")
        }
        let files = ["--set", "console.certificateFile=/nowhere.pem", "--set", "console.privateKeyFile=/nowhere.key"]
        let ending = try await program.run(["console"] + files, environment: [:])
        #expect(ending.status == 78 && ending.errors.contains("/nowhere.pem"), "\(ending.errors)")
    }
}
