import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// `subscription import` with files that are none, lines that count twice, and a database that gives up in the middle.
@Suite struct ImportCommandTests {
    private let folder: TemporaryFolder
    private let program: Program
    private let database: TestDatabase

    init() async throws {
        folder = try TemporaryFolder()
        program = try Program.pushmta()
        database = try await TestDatabase.create(.migrated)
        for line in [
            "service add shop", "account add apns --connector ios-http2 --host localhost",
            "app add ios --message-id-format uuid --service shop --platform ios --bundle-id com.shop --account apns",
            "app add droid --message-id-format uuid --service shop --platform android --bundle-id com.shop",
        ] {
            try await run(line)
        }
    }

    @discardableResult
    private func run(_ line: String, expect status: Int32 = 0) async throws -> Program.Ending {
        let ending = try await program.run(
            line.split(separator: " ").map(String.init),
            environment: [
                "PUSHMTA_DATABASE_URL": database.connectionString,
                "PUSHMTA_CREDENTIAL_KEY_FILE": folder.path + "/credential.key",
            ]
        )
        #expect(ending.status == status, "\(line): \(ending.output) \(ending.errors)")
        return ending
    }

    private func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    @Test func aDirectoryIsNoFile() async throws {
        for line in [
            "subscription import \(folder.path) --app ios", "subscription import . --app ios",
            "exclusion import nobody \(folder.path)",
        ] {
            if line.hasPrefix("exclusion") { try await run("exclusion create nobody") }
            let ending = try await run(line, expect: 65)
            #expect(ending.errors.contains("directory") && !ending.errors.contains("NSCocoa"), "\(ending.errors)")
        }
        #expect(try await run("subscription import /nowhere.csv --app ios", expect: 65).errors.contains("/nowhere.csv"))
    }

    @Test func aTokenOnTwoLinesIsCountedAndNamed() async throws {
        let letters = String(repeating: "ab", count: 32)
        let text = "push_token,user_key\n\(letters),one\n\(letters.uppercased()),two\n\(token(3)),three\n"
        let file = try folder.write(text, to: "twice.csv")
        let ending = try await run("subscription import \(file) --app ios")
        #expect(ending.output.hasPrefix("2 created, 0 updated"))
        #expect(ending.output.contains("0 lines left out, 1 lines replaced"))
        #expect(ending.errors.contains("line 2: its push token is on line 3 again") && !ending.errors.contains(letters))
        let users = try await run("subscription list --json").rows().compactMap { $0["user_key"] as? String }
        #expect(Set(users) == ["two", "three"])
    }

    @Test func aFileOfTheOtherPlatformIsNotWrittenToTheTerminalWhole() async throws {
        let lines = (1...2_000).map { token($0) + "\n" }.joined()
        let file = try folder.write("push_token\n\(lines)", to: "ios.csv")
        let ending = try await run("subscription import \(file) --app droid", expect: 65)
        #expect(ending.output.contains("2000 lines left out"))
        #expect(ending.errors.split(separator: "\n").count <= 102 && ending.errors.contains("… and 1900 more lines"))
    }

    @Test func whatIsInIsSaidWhenTheRestIsNot() async throws {
        let connection = try await database.connect()
        try await connection.run(
            script: """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    RAISE EXCEPTION 'no more room'; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON pushmta_engine.subscription FOR EACH ROW
                    WHEN (NEW.user_key = 'u9000') EXECUTE FUNCTION refuse();
                """
        )
        await connection.close()
        // Several pieces of a file.
        let lines = (1...9_000).map { "\(token($0)),u\($0)\n" }.joined()
        let file = try folder.write("push_token,user_key\n\(lines)", to: "long.csv")
        let ending = try await run("subscription import \(file) --app ios", expect: 69)
        #expect(ending.errors.contains("no more room"))
        let words = ending.errors.split(whereSeparator: { " :,.\n".contains($0) }).map(String.init)
        let place = try #require(words.firstIndex(of: "there"))
        let created = try #require(Int(words[place + 1]))
        let rows = try await run("subscription list --limit 100000 --json").rows()
        #expect(created > 1_000 && created < 9_000 && rows.count == created)
        #expect(ending.errors.contains("behind line \(created + 1): until there \(created) created, 0 updated"))
    }

    @Test func linesThatAnOpenQuoteSwallowsAreCounted() async throws {
        let rest = (3...12).map { "\(token($0)),u\($0)\n" }.joined()
        let open = try folder.write("push_token,user_key\n\(token(1)),u1\n\(token(2)),\"u2\n\(rest)", to: "open.csv")
        let subscriptions = try await run("subscription import \(open) --app ios", expect: 65)
        #expect(subscriptions.output.hasPrefix("1 created") && subscriptions.output.contains("11 lines left out"))
        let words =
            "open.csv, line 3: the quote that opens on line 3 is never closed, so the 10 lines behind it were never read"
        #expect(subscriptions.errors.contains(words), "\(subscriptions.errors)")
        try await run("exclusion create nobody")
        let people = try folder.write("user_key\nu1\n\"u2\nu3\nu4\n", to: "people.csv")
        let content = try folder.write(#"{"ios": {"title": "x"}}"#, to: "content.json")
        let id =
            try await run("delivery create --label x --app ios --explicit-targets --content @\(content)").output
            .split(whereSeparator: { !$0.isNumber }).first ?? ""
        for line in [
            "exclusion import nobody \(people)", "delivery target \(id) \(people)",
            "delivery target \(id) \(people) --exclude",
        ] {
            let ending = try await run(line, expect: 65)
            #expect(ending.output.contains("3 lines left out"), "\(line): \(ending.output)")
            #expect(ending.errors.contains("opens on line 3 is never closed, so the 2 lines behind it were never read"))
        }
    }

    /// A quote that is not closed ends where the next one opens: the values look right, and somebody has to be told.
    @Test func linesInsideOfValuesAreTold() async throws {
        let text =
            "push_token,user_key,city\n\(token(1)),u1,\"Lyon\n\(token(2)),u2,Paris\n\(token(3)),u3,Lille\"\n\(token(4)),u4,\n"
        let file = try folder.write(text, to: "pair.csv")
        let ending = try await run("subscription import \(file) --app ios")
        #expect(ending.output.hasPrefix("2 created"))
        #expect(
            ending.errors.contains("pair.csv: 2 lines were read as parts of values in quotes, the first behind line 2")
        )
    }
}
