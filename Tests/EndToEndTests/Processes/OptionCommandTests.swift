import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Options without effect, files that are pipes, and contents that cannot be sent are reported at once.
@Suite struct OptionCommandTests {
    private let folder: TemporaryFolder
    private let program: Program
    private let database: TestDatabase

    init() async throws {
        folder = try TemporaryFolder()
        program = try Program.pushmta()
        database = try await TestDatabase.create(.migrated)
    }

    @discardableResult
    private func run(_ line: String, _ words: [String] = [], expect status: Int32 = 0) async throws -> Program.Ending {
        let arguments = line.split(separator: " ").map(String.init) + words
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

    /// Runs a command with this text on standard input, which is a pipe.
    private func pipe(_ text: String, _ line: String, expect status: Int32 = 0) async throws -> Program.Ending {
        let file = try folder.write(text, to: "input")
        let shell = Program(path: "/bin/sh")
        let ending = try await shell.run(
            ["-c", "cat '\(file)' | '\(program.path)' \(line)"],
            environment: ["PUSHMTA_DATABASE_URL": database.connectionString]
        )
        #expect(ending.status == status, "\(line): \(ending.output) \(ending.errors)")
        return ending
    }

    private func addApplications() async throws {
        try await run("service add shop")
        try await run("account add apns --connector ios-http2 --host localhost")
        try await run("account add fcm --connector android-v2 --host localhost")
        try await run(
            "app add ios --message-id-format uuid --service shop --platform ios --bundle-id com.shop --account apns"
        )
        try await run(
            "app add droid --message-id-format uuid --service shop --platform android --bundle-id com.shop_app --account fcm"
        )
    }

    @Test func whatHasNoEffectIsRefused() async throws {
        try await addApplications()
        try await run("account set apns", expect: 64)
        try await run("app set ios", expect: 64)
        try await run("service set shop", expect: 64)
        try await run("app set ios --icon x.png --remove-icon", expect: 64)
        let twice = try await run("app set ios --variable a:text=1 --variable a:integer=2", expect: 65)
        #expect(twice.errors.contains("appears twice"))
        let sounds = try await run("app set ios --sound a.caf --system-sound a.caf", expect: 65)
        #expect(sounds.errors.contains("appears twice"))
        #expect(try await run("app show ios").output.contains("variables") == false)
        try await run("account add x --connector android-v2 --environment sandbox", expect: 64)
        try await run("credential create-key \(folder.path)/credential.key")
        let word = try folder.write(String(repeating: "k", count: 39), to: "project.key")
        for option in ["--key-id A", "--team-id B", "--passphrase-file /dev/null"] {
            let text = try await run("credential set droid --key \(word) \(option)", expect: 65)
            #expect(text.errors.contains(String(option.prefix { $0 != " " })))
        }
        for day in ["2026-02-31", "2030-13-01", "tomorrow"] {
            let text = try await run("credential set droid --key \(word) --expires \(day)", expect: 65)
            #expect(text.errors.contains("not a valid day"))
        }
    }

    @Test func aDeliveryNamesItsRetrySchedule() async throws {
        try await addApplications()
        let content = ["--content", #"{"ios": {"title": "a"}}"#]
        let line = "delivery create --label x --app ios"
        func stored(_ ending: Program.Ending) async throws -> String {
            let id = ending.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let connection = try await database.connect()
            let row = try await connection.execute(
                PostgresStatement(
                    """
                    SELECT retry_schedule || ' ' || coalesce(retry_period_seconds::text, '-') || ' ' || kind
                    FROM pushmta_engine.delivery WHERE id = \(Int64(id) ?? 0)
                    """,
                    prepare: false
                )
            )
            await connection.close()
            return try row.text(0, 0)
        }
        #expect(try await stored(run(line, content)) == "default - batch")
        #expect(try await stored(run(line + " --retry-schedule exponential", content)) == "exponential - batch")
        let continuous = line + " --continuous --retry-period 60"
        #expect(try await stored(run(continuous, content)) == "default 60 continuous", "60 is no sign of the default")
        try await run(line + " --retry-schedule hourly", content, expect: 64)
        let template = content + ["--settings", #"{"retry_schedule": "exponential"}"#]
        try await run("template add code", template)
        #expect(try await stored(run(line + " --template code", content)) == "exponential - batch")
        #expect(try await stored(run(line + " --template code --retry-schedule default", content)) == "default - batch")
        let wrong = try await run(
            "template add x",
            content + ["--settings", #"{"retry_schedule": "hourly"}"#],
            expect: 65
        )
        #expect(wrong.errors.contains("default, daily or exponential"))
    }

    @Test func anEmptyFilterReplacesThatOfATemplate() async throws {
        try await addApplications()
        try await run("template add french --filter", ["locale = 'fr'", "--content", #"{"ios": {"title": "a"}}"#])
        let line = "delivery create --label x --app ios --template french"
        func filter(_ ending: Program.Ending) async throws -> String? {
            let id = ending.output.trimmingCharacters(in: .whitespacesAndNewlines)
            return try await run("delivery status \(id) --json").json()["filter"] as? String
        }
        #expect(try await filter(run(line)) == "locale = 'fr'")
        #expect(try await filter(run(line, ["--filter", ""])) == nil)
        #expect(try await filter(run(line, ["--filter", " \t"])) == nil)
        #expect(try await filter(run(line + " --continuous", ["--filter", ""])) == nil)
        #expect(try await run(line, ["--filter", "locale"], expect: 65).errors.contains("comparison"))
    }

    @Test func aRateIsADecimalNumber() async throws {
        try await addApplications()
        let content = ["--content", #"{"ios": {"title": "a"}}"#]
        for wrong in ["0x10", "inf", "nan", "1,5", "0", "1e7"] {
            try await run("delivery create --label x --app ios --rate \(wrong)", content, expect: 64)
            try await run("rate set application ios \(wrong)", expect: 64)
        }
        try await run("delivery create --label x --app ios --rate 12.5", content)
        try await run("rate set application ios 1e3")
    }

    @Test func aFileIsEmptyOrTooLargeOrNotThere() async throws {
        try await addApplications()
        let files = [
            (try folder.write("", to: "empty"), "is empty"), ("/dev/zero", "more than 1 MiB"),
            (folder.path + "/none", "cannot be read"),
        ]
        for (file, reason) in files {
            let text = try await run("credential set droid --key \(file)", expect: 65).errors
            #expect(text.contains(reason) && text.contains(file), "\(text)")
        }
    }

    @Test func anEndThatIsNearIsSaidByBothCommands() async throws {
        try await addApplications()
        try await run("credential create-key \(folder.path)/credential.key")
        let word = try folder.write(String(repeating: "k", count: 39), to: "project.key")
        for (days, words) in [(3.0, "this week"), (20, "in time"), (0.5, "now"), (100, "")] {
            let day = Date(timeIntervalSinceNow: (days + 0.5) * 86_400).formatted(.iso8601.year().month().day())
            let set = try await run("credential set droid --key \(word) --expires \(day)")
            #expect(set.output.contains("It expires in"))
            #expect(set.errors.contains("pushmta: warning: the credential of droid") == !words.isEmpty)
            #expect(set.errors.contains(words) || words.isEmpty, "\(set.errors)")
        }
        let day = Date(timeIntervalSinceNow: 3 * 86_400).formatted(.iso8601.year().month().day())
        let added = try await run(
            "app add two --message-id-format uuid --service shop --platform android --bundle-id com.two --key \(word) --expires \(day)"
        )
        #expect(added.output.contains("It expires in") && added.errors.contains("of two expires in"))
    }

    @Test func aFileMayBeAPipe() async throws {
        try await addApplications()
        let content = #"{"ios":{"title":"x"}}"#
        for path in ["-", "/dev/stdin"] {
            #expect(try await pipe(content, "delivery create --check \(path)").output.contains("is valid"))
        }
        let created = try await pipe(content, "delivery create --label x --app ios --content @-")
        #expect(Int64(created.output.trimmingCharacters(in: .whitespacesAndNewlines)) != nil)
        let token = String(repeating: "0a", count: 32)
        let imported = try await pipe("push_token,user_key\n\(token),u1\n", "subscription import - --app ios")
        #expect(imported.output.contains("1 created"))
        let listed = try await run("subscription list --json").rows()
        #expect(listed.count == 1)
    }

    @Test func whatACheckRefusesIsNotCreated() async throws {
        try await addApplications()
        let contents = [
            (#"{"android":{"title":"x"}}"#, "ios"),
            (#"{"ios":{"title":"\#(String(repeating: "x", count: 5_000))"}}"#, "ios"),
            (#"{"ios":{"title":"x"}}"#, "droid"),
        ]
        for (content, application) in contents {
            for start in [[], ["--start"]] {
                try await run(
                    "delivery create --label x --app \(application) --content",
                    [content] + start,
                    expect: 65
                )
            }
        }
        #expect(try await run("delivery list --json").rows().isEmpty)
        // There is no credential, so the preparation would fail.
        let refused = try await run(
            "delivery create --label x --app ios --start --content",
            [#"{"ios":{"title":"x"}}"#],
            expect: 65
        )
        #expect(refused.errors.contains("created but not started") && refused.errors.contains("credential"))
        let rows = try await run("delivery list --json").rows()
        #expect(rows.compactMap { $0["state"] as? String } == ["editing"])
    }

    @Test func whatIsNoSubscriptionIsNotImported() async throws {
        try await addApplications()
        let token = String(repeating: "0a", count: 32)
        let foreign = try folder.write("push_token\n\(token)\n", to: "foreign.csv")
        let text = try await run("subscription import \(foreign) --app droid", expect: 65).errors
        #expect(text.contains("line 2") && text.contains("iOS device") && !text.contains(token))
        let file = try folder.write(
            """
            push_token,locale,time_zone
            \(token),not a locale!!,
            \(token),fr,Mars Phobos
            \(token),en_US@rg=gbzzzz,America/Argentina/Buenos_Aires

            """,
            to: "odd.csv"
        )
        let odd = try await run("subscription import \(file) --app ios", expect: 65)
        #expect(odd.output.contains("1 created") && odd.errors.contains("locale") && odd.errors.contains("time_zone"))
        for header in ["push_token,parameter.", "push_token,", ",push_token"] {
            let nameless = try folder.write("\(header)\n", to: "nameless.csv")
            let text = try await run("subscription import \(nameless) --app ios", expect: 65).errors
            #expect(text.contains("has no name"))
        }
    }

    @Test func aMistypedSeedAddressIsNamed() async throws {
        try await addApplications()
        let id = try await run("delivery create --label x --app ios --content", [#"{"ios":{"title":"x"}}"#]).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let text = try await run("delivery proof \(id) --to nope", expect: 65).errors
        #expect(text.contains("no seed address \"nope\""), "\(text)")
    }

    @Test func aKeyFileForOthersIsAWarning() async throws {
        let key = folder.path + "/credential.key"
        try await run("credential create-key \(key)")
        func result() async throws -> String? {
            let rows = try await run("doctor --json").rows()
            return rows.first { $0["check"] as? String == "credential key file" }?["result"] as? String
        }
        #expect(try await result() == "ok")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        #expect(try await result() == "warning")
    }
}
