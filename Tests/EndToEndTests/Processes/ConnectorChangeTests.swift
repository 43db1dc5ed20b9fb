import Crypto
import Foundation
import PostgresClient
import TestSupport
import Testing

/// Accounts and credentials that do not go together, as operators put them together.
@Suite struct ConnectorChangeTests {
    private let folder: TemporaryFolder
    private let program: Program
    private let database: TestDatabase

    init() async throws {
        folder = try TemporaryFolder()
        program = try Program.pushmta()
        database = try await TestDatabase.create(.empty)
    }

    @discardableResult
    private func run(_ line: String, _ more: [String] = [], expect status: Int32 = 0) async throws -> Program.Ending {
        let ending = try await program.run(
            line.split(separator: " ").map(String.init) + more,
            environment: [
                "PUSHMTA_DATABASE_URL": database.connectionString,
                "PUSHMTA_CREDENTIAL_KEY_FILE": folder.path + "/credential.key",
                "PUSHMTA_MTA_WORKING_PATH": folder.path + "/journal",
            ]
        )
        #expect(ending.status == status, "\(line): \(ending.output) \(ending.errors)")
        return ending
    }

    /// A service, accounts of both of Apple's connectors, and the words that give a key (.p8).
    private func setUp() async throws -> [String] {
        try await run("migrate")
        try await run("credential create-key", [folder.path + "/credential.key"])
        try await run("service add shop")
        try await run("account add binary --connector ios-binary --host localhost --port 2195")
        try await run("account add stand-in --connector ios-http2 --host localhost --port 35777")
        try await run("account add own --connector ios-http2")
        let key = try folder.write(P256.Signing.PrivateKey().pemRepresentation, to: "AuthKey_ABCDE12345.p8")
        return ["--key", key, "--team-id", "ABCDE12345"]
    }

    private static let add = "--service shop --platform ios --bundle-id com.example.shop"

    @Test func anApplicationIsNotBoundToAnAccountThatCannotUseItsCredential() async throws {
        let key = try await setUp()
        let refused = try await run("app add bk --account binary \(Self.add)", key, expect: 65)
        #expect(
            refused.errors.contains("APNs certificate (.p12)")
                && refused.errors.contains("application bk has an APNs key")
        )
        #expect(try await run("app list --json").rows().isEmpty, "nothing is made by halves")
        try await run("app add bk --account stand-in \(Self.add)", key)
        let moved = try await run("app set bk --account binary", expect: 65)
        #expect(moved.errors.contains("External account binary is of connector ios-binary"))
        let row = try #require(try await run("app list --json").rows().first)
        #expect(row["account"] as? String == "stand-in")
        try await run("app set bk --account own")
    }

    @Test(arguments: ["--connector ios-binary", "--url http://localhost/nms/jsp/ios.jsp"])
    func anAccountDoesNotGetAConnectorThatItsApplicationsCannotUse(_ words: String) async throws {
        let key = try await setUp()
        try await run("app add bk --account stand-in \(Self.add)", key)
        let refused = try await run("account set stand-in \(words) --port 2195", expect: 65)
        #expect(refused.errors.contains("do not have: bk") && refused.errors.contains("credential set"))
        let rows = try await run("account list --json").rows()
        #expect(rows.first { $0["name"] as? String == "stand-in" }?["connector"] as? String == "ios-http2")
        // One that still has no credential is in nobody's way.
        try await run("app set bk --account own")
        try await run("app add bare --account stand-in \(Self.add)")
        let changed = try await run("account set stand-in \(words) --port 2195")
        #expect(changed.output.contains("ios-binary to localhost:2195"))
    }

    @Test func aStandInsAddressIsNotTakenOverByAnotherConnector() async throws {
        _ = try await setUp()
        for host in ["", " --host 127.0.0.1"] {
            let refused = try await run("account set stand-in --connector ios-binary\(host)", expect: 65)
            #expect(refused.errors.contains("localhost:35777") && refused.errors.contains("--port"))
        }
        let own = try await run("account set own --connector ios-binary")
        #expect(own.output.contains("gateway.push.apple.com:2195"), "Apple's own is known")
        let named = try await run("account set stand-in --connector ios-binary --environment sandbox")
        #expect(named.output.contains("gateway.sandbox.push.apple.com:2195"))
        try await run("account add google --connector android-v1 --host localhost --port 9")
        let same = try await run("account set google --connector android-v2")
        #expect(same.output.contains("android-v2 to localhost:9"), "it is one gateway for both")
    }
}
