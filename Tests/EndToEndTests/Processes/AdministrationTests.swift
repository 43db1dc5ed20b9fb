import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Commands as operators type them, including mistakes.
@Suite struct AdministrationTests {
    private let folder: TemporaryFolder
    private let program: Program
    private let database: TestDatabase

    init() async throws {
        folder = try TemporaryFolder()
        program = try Program.pushmta()
        database = try await TestDatabase.create(.empty)
    }

    @discardableResult
    private func run(_ arguments: String..., expect status: Int32 = 0) async throws -> Program.Ending {
        let ending = try await program.run(
            arguments,
            environment: [
                "PUSHMTA_DATABASE_URL": database.connectionString,
                "PUSHMTA_CREDENTIAL_KEY_FILE": folder.path + "/credential.key",
                "PUSHMTA_MTA_WORKING_PATH": folder.path + "/journal",
            ]
        )
        #expect(ending.status == status, "\(arguments): \(ending.output) \(ending.errors)")
        return ending
    }

    private func addApplication() async throws {
        try await run("migrate")
        try await run("service", "add", "shop")
        try await run("account", "add", "apns", "--connector", "ios-http2")
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
            "com.example.shop",
            "--account",
            "apns"
        )
    }

    @Test func anAppAndItsSandboxAreAddedTogether() async throws {
        try await run("migrate")
        try await run("service", "add", "shop")
        try await run("account", "add", "apns", "--connector", "ios-http2")
        let declared = ["--service", "shop", "--bundle-id", "com.example.shop", "--message-id-format", "uuid"]
        func add(_ name: String, _ more: [String], expect status: Int32) async throws -> Program.Ending {
            let ending = try await program.run(
                ["app", "add", name] + declared + more,
                environment: ["PUSHMTA_DATABASE_URL": database.connectionString]
            )
            #expect(ending.status == status, "\(ending.output) \(ending.errors)")
            return ending
        }
        let both = ["--platform", "ios", "--with-sandbox", "--sound", "bell.caf=Bell", "--account", "apns"]
        // Both or neither is added: the sandbox application's key is already in use.
        _ = try await add("other", ["--platform", "ios", "--integration-key", "taken"], expect: 0)
        _ = try await add("shop", both + ["--sandbox-integration-key", "taken"], expect: 65)
        let added = try await add("shop", both + ["--sandbox-integration-key", "own"], expect: 0)
        #expect(added.output.contains("pushmta credential set shop-sandbox --key FILE"))
        let rows = try await run("app", "list", "--json").rows()
        #expect(rows.compactMap { $0["name"] as? String } == ["other", "shop", "shop-sandbox"])
        #expect(rows.last?["environment"] as? String == "sandbox" && rows.last?["integration_key"] as? String == "own")
        let half = try await run("app", "show", "shop-sandbox", "--json").output
        #expect(half.contains("bell.caf"))
        _ = try await add("android", ["--platform", "android", "--with-sandbox"], expect: 64)
    }

    private func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    @Test func migrationsMayRunAtOnceAndAgain() async throws {
        async let one: Program.Ending = run("migrate")
        async let two: Program.Ending = run("migrate")
        _ = try await (one, two)
        #expect(try await run("migrate").output.contains("already"))
    }

    @Test func withoutASchemaTheWayOutIsSaid() async throws {
        let ending = try await run("status", expect: 78)
        #expect(ending.errors.contains("pushmta migrate"))
        #expect(try await run("doctor", expect: 1).output.contains("pushmta migrate"))
    }

    @Test func aDatabaseThatIsNotThereIsAnErrorOfItsOwn() async throws {
        let ending = try await run("status", "--database", "host=\(folder.path)", expect: 69)
        #expect(ending.errors.contains(folder.path))
    }

    @Test func aMalformedLineIsNamedAndTheRestGoesIn() async throws {
        try await addApplication()
        let file = try folder.write(
            """
            push_token,user_key,recipient.firstName,parameter.tier
            \(token(1)),u1,"Ann, the first",gold
            zz,u2,Bob,
            \(token(4)),u4
            ,u5,E,
            \(token(6)),u6,,
            \(token(7)),u7,"Eve
            \(token(8)),u8,Owned,
            ",
            "\(token(3)),u3,C,
            \(token(9)),u9,,

            """,
            to: "subscribers.csv"
        )
        let ending = try await run("subscription", "import", file, "--app", "shop-ios", expect: 65)
        #expect(ending.output.hasPrefix("3 created, 0 updated"))
        for line in [3, 4, 5, 10] { #expect(ending.errors.contains("line \(line): "), "\(ending.errors)") }
        #expect(ending.output.contains("5 lines skipped") && ending.errors.contains("line 10 is never closed"))
        #expect(!ending.errors.contains(token(3)))
        let rows = try await run("subscription", "list", "--json").rows()
        #expect(Set(rows.compactMap { $0["user_key"] as? String }) == ["u1", "u6", "u7"])
        let first = try #require(rows.first { $0["user_key"] as? String == "u1" })
        #expect(first["recipient"] as? String == #"{"firstName": "Ann, the first"}"#)
        #expect(first["parameters"] as? String == #"{"tier": "gold"}"#)
    }

    @Test(arguments: ["", "token,user\n1,2\n", "push_token,push_token\n1,2\n"])
    func aFileWithoutItsColumnsIsRefused(_ text: String) async throws {
        try await addApplication()
        let file = try folder.write(text, to: "subscribers.csv")
        #expect(try await run("subscription", "import", file, "--app", "shop-ios", expect: 65).errors.contains(file))
    }

    @Test func unknownNamesSayHowToFindTheRightOne() async throws {
        try await addApplication()
        let file = try folder.write("push_token\n\(token(1))\n", to: "subscribers.csv")
        #expect(try await run("subscription", "import", file, "--app", "shop", expect: 65).errors.contains("app list"))
        #expect(
            try await run("account", "set", "apms", "--port", "2197", expect: 65).errors.contains("Did you mean apns?")
        )
        let unknown = try await run("delivery", "start", "100", expect: 65).errors
        #expect(unknown.contains("100") && unknown.contains("pushmta delivery list"))
        #expect(try await run("service", "add", "shop", expect: 65).errors.contains("shop"))
        let create = try await run(
            "delivery",
            "create",
            "--label",
            "x",
            "--app",
            "shop-os",
            "--content",
            #"{"ios":{"title":"x"}}"#,
            expect: 65
        )
        #expect(create.errors.contains("shop-os"))
    }

    @Test func whatTheTablesRefuseIsSaidInWords() async throws {
        try await addApplication()
        #expect(try await run("service", "add", "", expect: 65).errors.contains("name of the service is empty"))
        #expect(try await run("account", "set", "apns", "--port", "70000", expect: 65).errors.contains("1 to 65535"))
        let key = try await run(
            "app",
            "add",
            "--message-id-format",
            "uuid",
            "other",
            "--service",
            "shop",
            "--platform",
            "ios",
            "--bundle-id",
            "x",
            "--integration-key",
            "",
            expect: 65
        )
        #expect(key.errors.contains("integration key is empty"))
        #expect(!key.errors.contains("SQLSTATE"))
    }

    @Test(arguments: [("{", "JSON"), (#"{"ios":{"tittle":"x"}}"#, "\"title\""), ("@/nowhere.json", "/nowhere.json")])
    func wrongContentIsExplained(_ content: String, _ hint: String) async throws {
        try await addApplication()
        let ending = try await run(
            "delivery",
            "create",
            "--label",
            "x",
            "--app",
            "shop-ios",
            "--content",
            content,
            expect: 65
        )
        #expect(ending.errors.contains(hint), "\(ending.errors)")
    }

    @Test func aCredentialIsCheckedBeforeItIsStored() async throws {
        try await addApplication()
        let noKey = try folder.write("not a key", to: "AuthKey_ABCDE12345.p8")
        let wrong = try await run(
            "credential",
            "set",
            "shop-ios",
            "--key",
            noKey,
            "--team-id",
            "ABCDE12345",
            expect: 65
        )
        #expect(wrong.errors.contains(noKey))
        let doctor = try await run("doctor", "--json", expect: 1).rows()
        let result = doctor.first { $0["check"] as? String == "credential of shop-ios" }?["detail"] as? String
        #expect(result?.contains("credential set shop-ios") == true)
    }

    @Test func aSealingKeyIsNeverOverwritten() async throws {
        let file = folder.path + "/credential.key"
        try await run("credential", "create-key", file)
        let key = try String(contentsOfFile: file, encoding: .utf8)
        // Running the same instruction twice is reported and does no harm.
        let again = try await run("credential", "create-key", file)
        #expect(again.output.contains("is kept"), "\(again.output)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == key)
        let other = try folder.write("no key\n", to: "other")
        let refused = try await run("credential", "create-key", other, expect: 65)
        #expect(refused.errors.contains("no key can be read from it"), "\(refused.errors)")
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "no key\n")
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    }

    @Test func theCommandLineIsRefusedWithItsOwnCode() async throws {
        try await run("delivery", "create", expect: 64)
        try await run("frobnicate", expect: 64)
        try await run("mta-child", "--frobnicate", expect: 64)
        try await run("config", "check", "--set", "mta.child.maxAgeSecs=3", expect: 78)
    }
}
