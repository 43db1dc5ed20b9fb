import Foundation
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Which names are allowed, and what commands report about changes while deliveries are in progress.
@Suite struct NameCommandTests: CommandSuite {
    let site: CommandSite

    init() async throws { site = try await CommandSite() }

    @Test func namesThatATerminalObeysAreRefusedAndNotRepeated() async throws {
        try await addShop()
        let bad = "evil\u{1B}[31mx\nname"
        let content = #"{"ios": {"title": "x"}}"#
        let commands = [
            ["service", "add", bad], ["account", "add", bad, "--connector", "ios-http2"],
            ["template", "add", bad, "--content", content], ["exclusion", "create", bad],
            ["seed", "add", bad, "--subscription", "1"],
            [
                "app", "add", bad, "--message-id-format", "uuid", "--service", "shop", "--platform", "ios",
                "--bundle-id", "com.shop", "--account",
                "apns",
            ],
            ["app", "set", "shop-ios", "--label", bad], ["app", "set", "shop-ios", "--integration-key", " "],
            ["service", "set", "shop", "--label", String(repeating: "l", count: 501)],
            ["service", "add", String(repeating: "n", count: 300)],
        ]
        for words in commands {
            let ending = try await program.run(words, environment: ["PUSHMTA_DATABASE_URL": database.connectionString])
            #expect(ending.status == 65 && !ending.errors.contains("\u{1B}"), "\(words): \(ending.errors)")
            #expect(ending.errors.split(separator: "\n").count == 1 && !ending.errors.contains("SQLSTATE"), "\(words)")
        }
        try await run("delivery", "create", "--label", bad, "--app", "shop-ios", "--content", content, expect: 64)
        try await run("key", "create", bad, "--scope", "devices:read", expect: 64)
    }

    @Test func whatHadSuchANameBeforeIsShownWithoutItsEffect() async throws {
        try await addShop()
        try await sql(
            #"""
            ALTER TABLE pushmta_engine.service DROP CONSTRAINT service_name_form, DROP CONSTRAINT service_label_form;
            INSERT INTO pushmta_engine.service (name, label) VALUES (E'two\nlines\u001b[2J', repeat('x', 100000));
            """#
        )
        let listed = try await run("service", "list").output
        #expect(listed.contains(#"two | lines\u001b[2J"#) && !listed.contains("\u{1B}") && listed.utf8.count < 1_000)
        let unknown = try await run("subscription", "list", "--service", "two\u{1B}", expect: 65).errors
        #expect(unknown.contains(#"two\u001b"#) && !unknown.contains("\u{1B}"), "\(unknown)")
        #expect(unknown.split(separator: "\n").count == 1)
    }

    @Test func theBoundsOfAValidityAreSaid() async throws {
        try await addShop()
        let content = #"{"ios": {"title": "x"}}"#
        for validity in ["0", "311040001", "9223372036854775807"] {
            let ending = try await run(
                "delivery",
                "create",
                "--label",
                "x",
                "--app",
                "shop-ios",
                "--content",
                content,
                "--validity",
                validity,
                expect: 64
            )
            #expect(
                ending.errors.contains("--validity: \(validity) is out of range")
                    && ending.errors.contains("3600 days"),
                "\(ending.errors)"
            )
        }
        #expect(try await run("delivery", "create", "--help").output.contains("311040000"))
        let template = try await run(
            "template",
            "add",
            "long",
            "--content",
            content,
            "--settings",
            #"{"validity_seconds": 999999999}"#,
            expect: 65
        )
        #expect(template.errors.contains("311040000"))
    }

    @Test func aListSaysWhoWasNotOnIt() async throws {
        try await run("exclusion", "create", "vip")
        #expect(try await run("exclusion", "add", "vip", "--token", "abc", expect: 64).errors.contains("number 1"))
        #expect(
            try await run("exclusion", "add", "vip", "--subscription=-1", expect: 64).errors.contains("begin with 1")
        )
        let file = try folder.write("subscription_id,push_token\n-1,\n,abc\n7,\n", to: "list.csv")
        let imported = try await run("exclusion", "import", "vip", file, expect: 65)
        #expect(imported.output.hasPrefix("1 added to vip") && imported.errors.contains("line 2"))
        #expect(imported.errors.contains("line 3") && imported.output.contains("1 of them match no subscription"))
        let nobody = try await run("exclusion", "remove", "vip", "--user", "nope", expect: 1)
        #expect(nobody.errors.contains("No one was removed from vip") && nobody.output.isEmpty)
        let some = try await run(
            "exclusion",
            "remove",
            "vip",
            "--user",
            "nope",
            "--subscription",
            "7",
            "--subscription",
            "7"
        )
        #expect(some.output == "1 removed from vip. 1 not on it.\n")
        #expect(
            try await run("seed", "add", "lab", "--app", "x", "--token", "t", "--locale", "!!", expect: 64).errors
                .contains("--locale")
        )
    }

    @Test func aChangeSaysWhatBecomesOfDeliveriesUnderWay() async throws {
        try await addShop()
        let quiet = try await run("account", "set", "apns", "--connections", "2").output
        #expect(quiet.contains("replaced one by one") && !quiet.contains("Under way"))
        let made = try await run(
            "delivery",
            "create",
            "--label",
            "x",
            "--app",
            "shop-ios",
            "--content",
            #"{"ios": {"title": "x"}}"#
        )
        let id = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        try await sql("SELECT pushmta.start_delivery(\(id))")
        let account = try await run("account", "set", "apns", "--port", "2197").output
        #expect(account.contains("Under way: delivery \(id).") && account.contains("use the new values"))
        let bundle = try await run("app", "set", "shop-ios", "--bundle-id", "com.other").output
        #expect(bundle.contains("Under way: delivery \(id).") && bundle.contains("replaced one by one"))
        try await run("account", "add", "other", "--connector", "ios-http2")
        let other = try await run("app", "set", "shop-ios", "--account", "other").output
        #expect(other.contains("keep the account that they were created with"))
        #expect(!(try await run("app", "set", "shop-ios", "--label", "y").output.contains("Under way")))
    }
}
