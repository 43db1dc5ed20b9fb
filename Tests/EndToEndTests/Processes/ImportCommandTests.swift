import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// `subscription import` with things that are not files, lines that count twice, and a database that fails in the
/// middle.
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
        #expect(
            ending.output.contains("0 lines skipped, 1 lines replaced by a later one with the same token (3 lines)")
        )
        #expect(
            ending.errors.contains("line 2: its push token appears again on line 3") && !ending.errors.contains(letters)
        )
        let users = try await run("subscription list --json").rows().compactMap { $0["user_key"] as? String }
        #expect(Set(users) == ["two", "three"])
    }

    @Test func aFileOfTheOtherPlatformIsNotWrittenToTheTerminalWhole() async throws {
        let lines = (1...2_000).map { token($0) + "\n" }.joined()
        let file = try folder.write("push_token\n\(lines)", to: "ios.csv")
        let ending = try await run("subscription import \(file) --app droid", expect: 65)
        #expect(ending.output.contains("2000 lines skipped"))
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
        #expect(ending.errors.contains("after line \(created + 1): up to there \(created) created, 0 updated"))
    }

    @Test func linesThatAnOpenQuoteSwallowsAreCounted() async throws {
        let rest = (3...12).map { "\(token($0)),u\($0)\n" }.joined()
        let open = try folder.write("push_token,user_key\n\(token(1)),u1\n\(token(2)),\"u2\n\(rest)", to: "open.csv")
        let subscriptions = try await run("subscription import \(open) --app ios", expect: 65)
        #expect(subscriptions.output.hasPrefix("1 created") && subscriptions.output.contains("11 lines skipped"))
        let words =
            "open.csv, line 3: the quote that opens on line 3 is never closed, so the 10 lines after it were never read"
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
            #expect(ending.output.contains("3 lines skipped"), "\(line): \(ending.output)")
            #expect(ending.errors.contains("opens on line 3 is never closed, so the 2 lines after it were never read"))
        }
    }

    /// A quote that is not closed ends where the next one opens. The values look right, so the user must be told.
    @Test func linesInsideOfValuesAreTold() async throws {
        let text =
            "push_token,user_key,recipient.city\n\(token(1)),u1,\"Lyon\n\(token(2)),u2,Paris\n\(token(3)),u3,Lille\"\n\(token(4)),u4,\n"
        let file = try folder.write(text, to: "pair.csv")
        let ending = try await run("subscription import \(file) --app ios")
        #expect(ending.output.hasPrefix("2 created"))
        #expect(
            ending.errors.contains("pair.csv: 2 lines were read as parts of values in quotes, the first after line 2")
        )
    }

    /// A column that is silently dropped or misread would send messages to the wrong people.
    @Test(arguments: [
        ("push_token,userkey", "user_key"), ("push_token,User Key", "user_key"), ("push_token,user_keys", "user_key"),
        ("pushToken,user_key", "push_token"), ("push_token,timezone", "time_zone"), ("push_token,locales", "locale"),
        ("push_token,disabled", "no column disabled"), ("push_token,optOut", "no column optOut"),
        ("push_token,user_key,CustomerNumber", "recipient.CustomerNumber"),
        ("push_token,lang,is_active", "no column lang, is_active"),
        ("push_token,token", "recipient.token"), ("device_token,user_key", "push_token"),
        ("push_token,parameter.a,parameters.a", "twice"),
        ("push_token,recipient.city,recipient.city", "recipient.city"),
    ])
    func nearNamesOfColumnsAreRefused(_ header: String, _ words: String) async throws {
        let file = try folder.write("\(header)\n", to: "near.csv")
        let ending = try await run("subscription import \(file) --app ios", expect: 65)
        #expect(ending.errors.contains(words), "\(ending.errors)")
    }

    @Test func keysAreReadWithoutBlanksAndWithoutLostDigits() async throws {
        let text =
            "\u{FEFF}\"push_token\", user_key,recipient.userid\r\(token(1)), u1\u{A0},x\r\(token(2)),1.2E11,\r\(token(3)) ,u3,\r"
        let file = try folder.write(text, to: "blanks.csv")
        let ending = try await run("subscription import \(file) --app ios", expect: 65)
        #expect(ending.output.contains("2 created") && ending.output.contains("1 lines skipped (3 lines)"))
        #expect(ending.errors.contains("line 3: its user_key is a number that a spreadsheet or program has rewritten"))
        #expect(ending.errors.contains("columns: push_token, user_key; fields of the recipient: userid"))
        let rows = try await run("subscription list --json").rows()
        #expect(Set(rows.compactMap { $0["user_key"] as? String }) == ["u1", "u3"])
        // The same people, written just as badly, are found; unknown ones are reported.
        try await run("exclusion create nobody")
        let people = try folder.write("user_key\r\n u1\r\nu3\u{A0}\r\nu4\r\n1E+15\r\n", to: "people.csv")
        let excluded = try await run("exclusion import nobody \(people)", expect: 65)
        #expect(excluded.output.contains("3 added to nobody, 0 already on it, 1 of them match no subscription"))
        #expect(
            excluded.output.contains("1 lines skipped (4 lines)")
                && excluded.errors.contains("line 4: no subscription matches it")
        )
        #expect(try await run("exclusion add nobody --user ghost").output.contains("1 of them match no subscription"))
        let near = try folder.write("userkey\nu1\n", to: "near.csv")
        #expect(
            try await run("exclusion import nobody \(near)", expect: 65).errors.contains(
                "there is no column userkey; rename it to user_key."
            )
        )
    }

    @Test func aFileIsAsOldAsItSays() async throws {
        func importing(_ text: String, _ options: String = "", expect status: Int32 = 0) async throws -> String {
            let file = try folder.write(text, to: "age.csv")
            let ending = try await run("subscription import \(file) --app ios \(options)", expect: status)
            return ending.output + ending.errors
        }
        _ = try await importing("push_token,user_key\n\(token(1)),ada\n")
        #expect(try await importing("push_token,user_key\n\(token(1)),ben\n").contains("kept: 1 known"))
        let old = "push_token,user_key,registered_at\n\(token(1)),ben,2026-01-31 08:00:00+00\n"
        #expect(try await importing(old, "--as-of now").contains("kept: 1 older"))
        #expect(
            try await importing(old.replacing("+00", with: ""), expect: 65).contains(
                "its registered_at is not a time with its zone"
            )
        )
        let file = "push_token,user_key\n\(token(1)),ben\n\(token(2)),cleo\n"
        let planned = try await importing(file, "--as-of now --dry-run")
        #expect(
            planned.contains("1 created, 0 updated, 1 moved") && planned.contains("nothing was changed")
                && planned.contains("are counted independently")
                && !planned.contains("--undo")
        )
        let done = try await importing(file, "--as-of now")
        #expect(done.contains("1 created, 0 updated, 1 moved to another user"))
        let id = try #require(done.split(separator: "--undo ").last?.prefix { $0.isNumber })
        #expect(try await run("subscription imports --json").rows().count == 2)
        #expect(
            try await run("subscription import --undo \(id)").output.contains("2 removed, 1 restored, 0 not undone")
        )
        let users = try await run("subscription list --json").rows().compactMap { $0["user_key"] as? String }
        #expect(users == ["ada"])
        try await run("subscription import --undo 999", expect: 65)
        for wrong in ["--as-of yesterday", "--bring-back everything", "--undo 1"] {
            _ = try await importing(file, wrong, expect: 64)
        }
    }
}
