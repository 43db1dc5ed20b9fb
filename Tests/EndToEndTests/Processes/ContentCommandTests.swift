import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Contents, templates and seed addresses on the command line.
@Suite struct ContentCommandTests {
    private let folder: TemporaryFolder
    private let program: Program
    private let database: TestDatabase

    init() async throws {
        folder = try TemporaryFolder()
        program = try Program.pushmta()
        database = try await TestDatabase.create(.migrated)
    }

    @discardableResult
    private func run(_ arguments: String..., expect status: Int32 = 0) async throws -> Program.Ending {
        let ending = try await program.run(arguments, environment: ["PUSHMTA_DATABASE_URL": database.connectionString])
        #expect(ending.status == status, "\(arguments): \(ending.output) \(ending.errors)")
        return ending
    }

    private static let token = String(repeating: "0a", count: 32)

    /// An application with one subscriber.
    private func addApplication() async throws {
        try await run("service", "add", "shop")
        try await run("account", "add", "apns", "--connector", "ios-http2", "--host", "localhost")
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
        let file = try folder.write(
            "push_token,user_key,locale,recipient.firstName\n\(Self.token),u1,fr-CA,\"Zoë \"\"Z\"\"\"\n",
            to: "subscribers.csv"
        )
        try await run("subscription", "import", file, "--app", "shop-ios")
    }

    @Test func aContentIsCheckedWithoutADatabase() async throws {
        let nowhere = ["PUSHMTA_DATABASE_URL": "host=/nowhere"]
        let good = try folder.write(
            #"{"ios":{"title":"Hi {{firstName}}"},"locales":{"fr":{"ios":{"title":"Salut {{firstName}}"}}}}"#,
            to: "good.json"
        )
        let checked = try await program.run(["delivery", "create", "--check", good, "--json"], environment: nowhere)
        #expect(checked.status == 0, "\(checked.errors)")
        let result = try checked.json()
        #expect(result["ok"] as? Bool == true && result["locales"] as? [String] == ["fr"])
        let format = try #require((result["formats"] as? [[String: Any]])?.first)
        #expect(format["fields"] as? String == "firstName" && format["limit"] as? Int == 4_096)

        let bad = try folder.write(#"{"ios":{"titel":"Hi","badge":-1},"locales":{"fr":{"ios":{}}}}"#, to: "bad.json")
        let refused = try await program.run(["delivery", "create", "--check", bad, "--json"], environment: nowhere)
        #expect(refused.status == 65)
        let problems = try #require(try refused.json()["problems"] as? [[String: Any]])
        #expect(problems.contains { ($0["key"] as? String)?.hasPrefix("ios.titel") == true })
        #expect(problems.contains { ($0["key"] as? String)?.hasPrefix("ios.badge") == true })
        let told = try await program.run(["delivery", "create", "--check", bad], environment: nowhere)
        #expect(told.status == 65 && told.errors.contains("ios.titel") && told.output.isEmpty)
        let schema = try await program.run(["content", "schema"], environment: nowhere)
        #expect(schema.status == 0)
        #expect(try JSONSerialization.jsonObject(with: Data(schema.output.utf8)) is [String: Any])
    }

    @Test func aContentIsCheckedForAnApplication() async throws {
        try await addApplication()
        let file = try folder.write(#"{"android":{"title":"Hi"}}"#, to: "android.json")
        try await run("delivery", "create", "--check", file)
        let refused = try await run("delivery", "create", "--check", file, "--app", "shop-ios", expect: 65)
        #expect(refused.errors.contains("shop-ios"))
        try await run("delivery", "create", "--check", file, "--app", "nobody", expect: 65)
        try await run("delivery", "create", "--check", folder.path + "/none.json", expect: 65)
        try await run("delivery", "create", "--check", file, "--label", "x", expect: 64)
        #expect(try await run("delivery", "list", "--json").rows().isEmpty, "a check creates nothing")
    }

    @Test func aPreviewShowsWhatASubscriberWouldGet() async throws {
        try await addApplication()
        let content = """
            {"ios": {"title": "Hi {{firstName}}"}, "locales": {"fr": {"ios":
                {"title": "Salut {{firstName}}", "body": "{{city|Paris}}", "priority": 5, "collapse_id": "c"}}}}
            """
        let id = try await run(
            "delivery",
            "create",
            "--label",
            "x",
            "--app",
            "shop-ios",
            "--content",
            content
        ).output.trimmingCharacters(in: .whitespacesAndNewlines)
        let file = try folder.write(content, to: "content.json")
        for words in [[id], ["--content", file, "--app", "shop-ios"]] {
            for subscription in ["1", Self.token] {
                let ending = try await program.run(
                    ["delivery", "preview"] + words + ["--subscription", subscription, "--json"],
                    environment: ["PUSHMTA_DATABASE_URL": database.connectionString]
                )
                let shown = try ending.json()
                #expect(ending.status == 0 && shown["locale"] as? String == "fr" && shown["limit"] as? Int == 4_096)
                let headers = try #require(shown["headers"] as? [String: String])
                #expect(headers[":path"] == "/3/device/\(Self.token)" && headers["apns-priority"] == "5")
                #expect(headers["apns-topic"] == "com.example.shop" && headers["apns-collapse-id"] == "c")
                let payload = try #require(shown["payload"] as? String)
                #expect(payload.utf8.count == shown["size"] as? Int)
                #expect(payload.contains(#""title":"Salut Zoë \"Z\"""#) && payload.contains(#""body":"Paris""#))
            }
        }
        let text = try await run("delivery", "preview", id, "--subscription", "1", "--variables", #"{"city":"Nice"}"#)
        #expect(text.output.contains("apns-push-type: alert") && text.output.contains(#""body":"Nice""#))
        #expect(text.output.contains("bytes of 4096, locale fr"))
        let long = #"{"city":"\#(String(repeating: "x", count: 5_000))"}"#
        let refused = try await run("delivery", "preview", id, "--subscription", "1", "--variables", long, expect: 1)
        #expect(refused.output.contains("It would not be sent: PayloadTooLarge"))
        try await run("delivery", "preview", id, "--subscription", "2", expect: 65)
        try await run("delivery", "preview", "99", "--subscription", "1", expect: 65)
        try await run("delivery", "preview", "--subscription", "1", expect: 64)
        try await run("delivery", "preview", id, "--subscription", "1", "--variables", "[]", expect: 65)
    }

    @Test func templatesAreListedCopiedAndUsed() async throws {
        try await addApplication()
        let ready = try await run("template", "list", "--json").rows()
        #expect(ready.compactMap { $0["name"] as? String } == ["Deliver on Android", "Deliver on iOS"])
        try await run("template", "duplicate", "Deliver on iOS", "sale", "--label", "For sales", "--app", "shop-ios")
        let shown = try await run("template", "show", "sale", "--json").json()
        #expect(shown["label"] as? String == "For sales" && shown["ready_made"] as? Bool == false)
        #expect(shown["applications"] as? [String] == ["shop-ios"])
        let added = try await run(
            "template",
            "add",
            "sale",
            "--content",
            #"{"ios":{"sound":"default"}}"#,
            "--settings",
            #"{"priority": 3}"#,
            "--replace"
        )
        #expect(added.status == 0)
        try await run("template", "add", "sale", "--content", "{}", expect: 65)
        try await run("template", "add", "other", "--content", "[]", expect: 65)
        try await run("template", "add", "other", "--content", "{}", "--settings", #"{"prio": 3}"#, expect: 65)
        try await run("template", "show", "nothing", expect: 65)

        func create(_ content: String?, template: String, expect status: Int32 = 0) async throws -> Program.Ending {
            let words = ["delivery", "create", "--label", "x", "--app", "shop-ios", "--template", template]
            let ending = try await program.run(
                words + (content.map { ["--content", $0] } ?? []),
                environment: ["PUSHMTA_DATABASE_URL": database.connectionString]
            )
            #expect(ending.status == status, "\(ending.output) \(ending.errors)")
            return ending
        }
        // The built-in template has no text; this is detected before anything is created.
        let empty = try await create(nil, template: "Deliver on iOS", expect: 65)
        #expect(empty.errors.contains("ios"))
        _ = try await create(#"{"ios":{"titel":"x"}}"#, template: "sale", expect: 65)
        _ = try await create("{}", template: "nothing", expect: 65)
        #expect(try await run("delivery", "list", "--json").rows().isEmpty)
        let id = try await create(#"{"ios":{"title":"Sale"}}"#, template: "sale").output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let preview = try await run("delivery", "preview", id, "--subscription", "1")
        #expect(preview.output.contains(#""sound":"default""#) && preview.output.contains(#""title":"Sale""#))
    }

    @Test func seedAddressesAreAddedListedAndRemoved() async throws {
        try await addApplication()
        let other = String(repeating: "b0", count: 32)
        try await run("seed", "add", "zoe", "--app", "shop-ios", "--user", "u1", "--variables", #"{"firstName":"Z"}"#)
        try await run("seed", "add", "lab", "--app", "shop-ios", "--token", other, "--locale", "de")
        try await run("seed", "add", "lab", "--app", "shop-ios", "--token", other, expect: 65)
        try await run("seed", "add", "x", "--token", other, expect: 64)
        try await run("seed", "add", "x", "--app", "shop-ios", expect: 64)
        try await run("seed", "add", "x", "--subscription", "99", expect: 65)
        try await run("seed", "add", "x", "--subscription", "1", "--variables", "{", expect: 65)
        let rows = try await run("seed", "list", "--json").rows()
        #expect(rows.compactMap { $0["name"] as? String } == ["lab", "zoe"])
        #expect(rows.compactMap { $0["seed_only"] as? Bool } == [true, false])
        let file = try folder.write(#"{"ios":{"title":"Hi {{firstName}}"}}"#, to: "content.json")
        let words = ["--content", file, "--app", "shop-ios", "--subscription"]
        let shown = try await program.run(
            ["delivery", "preview"] + words + ["zoe"],
            environment: ["PUSHMTA_DATABASE_URL": database.connectionString]
        )
        #expect(shown.output.contains(#""title":"Hi Z""#))
        let create = ["delivery", "create", "--label", "sale", "--app", "shop-ios", "--content", "@" + file]
        for (more, status, words) in [
            (["--seed", "zo"], 65, "zoe"), (["--seed", "zoe", "--all-seeds"], 64, "--all-seeds"),
            (["--continuous", "--all-seeds"], 64, "--continuous"), (["--seed", "lab", "--seed", "zoe"], 0, ""),
            (["--all-seeds"], 0, ""),
        ] as [([String], Int32, String)] {
            let ending = try await program.run(
                create + more,
                environment: ["PUSHMTA_DATABASE_URL": database.connectionString]
            )
            #expect(ending.status == status, "\(more): \(ending.output) \(ending.errors)")
            #expect(words.isEmpty || ending.errors.contains(words), "\(ending.errors)")
            guard status == 0 else { continue }
            let id = ending.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let state = try await run("delivery", "status", id)
            #expect(state.output.contains("Seed addresses: " + (more.count == 1 ? "all" : "lab, zoe")))
        }
        try await run("seed", "remove", "lab")
        try await run("seed", "remove", "lab", expect: 65)
    }
}
