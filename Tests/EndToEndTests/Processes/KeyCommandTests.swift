import Foundation
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// API keys, as operators create and revoke them.
@Suite struct KeyCommandTests {
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

    @Test func aKeyIsMadeShownOnceListedAndRevoked() async throws {
        let store = Store(configuration: database.configuration())
        try await run("service", "add", "shop")
        try await run(
            "app",
            "add",
            "--message-id-format",
            "uuid",
            "shop-ios",
            "--service",
            "shop",
            "--platform",
            "ios",
            "--bundle-id",
            "com.example.shop"
        )
        let made = try await run("key", "create", "crm", "--scope", "devices:read", "messages:send", "--days", "30")
            .output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let key = try #require(APIKey(made))
        let verified = try #require(try await store.verifyAPIKey(publicID: key.publicID, hash: key.hash))
        #expect(verified.scopes == [.readDevices, .sendMessages] && verified.applicationIDs == nil)
        #expect(verified.name == "crm" && verified.problem.isEmpty)
        let second = try await run("key", "create", "shop", "--scope", "devices:write", "--app", "shop-ios", "--json")
            .json()
        #expect((second["key"] as? String).flatMap { APIKey($0)?.publicID } == second["id"] as? String)
        // A name already in use; an unknown scope, an unknown application, an invalid time.
        try await run("key", "create", "crm", "--scope", "devices:read", expect: 65)
        try await run("key", "create", "x", "--scope", "everything", expect: 64)
        try await run("key", "create", "x", expect: 64)
        try await run("key", "create", "x", "--scope", "devices:read", "--days", "0", expect: 64)
        try await run("key", "create", "x", "--scope", "devices:read", "--app", "nobody", expect: 65)
        let listed = try await run("key", "list", "--json")
        #expect(!listed.output.contains(key.secretText.suffix(64)), "the secret is shown again")
        let rows = try listed.rows()
        #expect(rows.compactMap { $0["name"] as? String } == ["crm", "shop"])
        #expect(rows.compactMap { $0["state"] as? String } == ["active", "active"])
        #expect(rows.compactMap { $0["applications"] as? String } == ["all", "shop-ios"])
        try await run("key", "revoke", key.publicID)
        try await run("key", "revoke", "shop")
        try await run("key", "revoke", "shop", expect: 65)
        #expect(try await store.verifyAPIKey(publicID: key.publicID, hash: key.hash)?.problem == "revoked")
        #expect(
            try await run("key", "list", "--json").rows().compactMap { $0["state"] as? String } == [
                "revoked", "revoked",
            ]
        )
        // A quoted list, as a script has it in a variable.
        try await run("key", "create", "list", "--scope", "devices:read, messages:send deliveries:read")
        try await run("key", "create", "x", "--scope", "devices:read everything", expect: 64)
        try await run("key", "create", "x", "--scope", " , ", expect: 64)
        let list = try await run("key", "list", "--json").rows().first { $0["name"] as? String == "list" }
        let scopes = (list?["scopes"] as? String ?? "").split(separator: " ").map(String.init)
        #expect(Set(scopes) == ["deliveries:read", "devices:read", "messages:send"])
        await store.close()
    }
}
