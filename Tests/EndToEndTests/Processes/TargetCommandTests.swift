import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Services, applications, accounts, exclusion lists and targets, as operators type them.
@Suite struct TargetCommandTests {
    private let folder: TemporaryFolder
    private let program: Program
    private let database: TestDatabase

    init() async throws {
        folder = try TemporaryFolder()
        program = try Program.pushmta()
        database = try await TestDatabase.create(.migrated)
    }

    @discardableResult
    private func run(_ arguments: String, expect status: Int32 = 0) async throws -> Program.Ending {
        // Words between quotes count as one.
        let words = arguments.split(separator: "\"", omittingEmptySubsequences: false).enumerated().flatMap {
            place,
            piece in
            place % 2 == 1 ? [String(piece)] : piece.split(separator: " ").map(String.init)
        }
        let ending = try await program.run(
            words,
            environment: ["PUSHMTA_DATABASE_URL": database.connectionString, "PUSHMTA_MTA_WORKING_PATH": folder.path]
        )
        #expect(ending.status == status, "\(words): \(ending.output) \(ending.errors)")
        return ending
    }

    private func make() async throws {
        try await run("service add shop --label \"The shop\"")
        try await run("account add apns --connector ios-http2")
        try await run(
            "application add shop-ios --service shop --platform ios --bundle-id com.shop --account apns --integration-key k1 --message-id-format uuid"
        )
    }

    @Test func servicesKeepWhatPeopleDid() async throws {
        try await make()
        func row() async throws -> [String: Any]? { try await run("behaviour list --json").rows().first }
        #expect(try await row()?["kept"] as? Bool == false)
        #expect(try await run("behaviour keep shop").output.contains("from now on"))
        #expect(try await row()?["kept"] as? Bool == true)
        #expect(try await row()?["deliveries"] as? Int == 0)
        try await run("behaviour drop shop")
        #expect(try await row()?["kept"] as? Bool == false)
        try await run("behaviour keep none", expect: 65)
    }

    @Test func accountsTakeAdobesAddresses() async throws {
        let added = try await run("account add a --url https://localhost:8080/nms/jsp/ios.jsp")
        #expect(added.output.contains("ios-binary to gateway.push.apple.com:2195") && added.output.contains("2021"))
        try await run("account set a --url http://localhost:8080/nms/jsp/iosHTTP2.jsp")
        func row(_ name: String) async throws -> [String: Any] {
            try #require(try await run("account list --json").rows().first { $0["name"] as? String == name })
        }
        #expect(try await row("a")["connector"] as? String == "ios-http2")
        #expect(try await row("a")["host"] as? String == "api.push.apple.com")
        #expect(try await row("a")["port"] as? Int == 443)
        try await run("account set a --environment sandbox --port 2197")
        #expect(try await row("a")["host"] as? String == "api.sandbox.push.apple.com")
        #expect(try await row("a")["port"] as? Int == 2197)
        try await run("account add b --url https://x:1/nms/jsp/androidPushConnectorV2.js --host stand-in --port 8443")
        try await run("account set b --connector android-v1")
        #expect(try await row("b")["host"] as? String == "stand-in", "a stand-in's address stays")
        #expect(try await run("account set a --port 444", expect: 65).errors.contains("443 and 2197"))
        #expect(try await run("account set a --connector android-v2", expect: 65).errors.contains("serves ios"))
        #expect(try await run("account set b --connections 2", expect: 65).errors.contains("connections"))
        try await run("account add c --url https://x/other.jsp", expect: 64)
        try await run("account add c --url https://x/nms/jsp/ios.jsp --connector ios-binary", expect: 64)
        try await run("account add c", expect: 64)
        #expect(
            try await run("account add c --connector ios-http2 --host gateway.push.apple.com", expect: 65).errors
                .contains("ios-binary")
        )
    }

    @Test func applicationsShowWhatTheyDeclare() async throws {
        try await make()
        let icon = folder.path + "/icon.png"
        let png = try #require(Data(base64Encoded: Self.icon))
        try png.write(to: URL(fileURLWithPath: icon))
        try await run(
            "app set shop-ios --variable \"screen:text=home=1\" --variable count:integer=3 --variable-label \"count=How many\" "
                + "--sound \"chime.caf=Chime\" --system-sound default --parameter lang=locale --parameter tier "
                + "--zone-parameter zone=recipient.tz --icon \(icon)"
        )
        let copy = folder.path + "/copy.png"
        let shown = try await run("application show shop-ios --json --save-icon \(copy)").json()
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) == png)
        #expect((shown["icon"] as? String)?.contains("48×48") == true)
        let variables = try #require(shown["variables"] as? [[String: Any]])
        #expect(variables.map { $0["name"] as? String } == ["screen", "count"])
        #expect(variables[0]["default"] as? String == "home=1" && variables[1]["label"] as? String == "How many")
        #expect((shown["sounds"] as? [[String: Any]])?.map { $0["system"] as? Bool } == [false, true])
        let parameters = try #require(shown["parameters"] as? [[String: Any]])
        #expect(parameters.map { $0["column"] as? String } == ["locale", "parameters.tier", "recipient.tz"])
        #expect(parameters.map { $0["time_zone"] as? Bool } == [false, false, true])
        try await run(
            "app set shop-ios --remove-variable screen --remove-sound default --remove-parameter tier --remove-icon"
        )
        let after = try await run("app show shop-ios --json").json()
        #expect((after["variables"] as? [[String: Any]])?.count == 1 && after["icon"] is NSNull)
        for (wrong, words) in [
            ("--variable count", "NAME:TYPE"), ("--variable count:integer=x", "whole number"),
            ("--variable aps:text", "Apple"),
            ("--parameter x=push_token", "no column"), ("--remove-sound nothing", "chime.caf"),
            ("--zone-parameter x=locale", "cannot be marked"), ("--zone-parameter x", "already the time zone"),
            ("--icon \(folder.path)/none", "none"),
            ("--variable-label x=y", "declare it"),
        ] {
            let errors = try await run("app set shop-ios \(wrong)", expect: 65).errors
            #expect(errors.contains(words), "\(wrong): \(errors)")
        }
        let text = try folder.write("no image", to: "icon.txt")
        #expect(try await run("app set shop-ios --icon \(text)", expect: 65).errors.contains("PNG"))
        #expect(try await run("app set shop-os --label x", expect: 65).errors.contains("Did you mean shop-ios?"))
        let content = try folder.write(#"{"ios": {"title": "x", "variables": {"cont": 1}}}"#, to: "content.json")
        let refused = try await run("delivery create --label x --app shop-ios --content @\(content)", expect: 65)
        #expect(refused.errors.contains("did you mean count"))
        #expect(
            try await run("delivery create --check \(content) --app shop-ios", expect: 65).errors.contains(
                "did you mean count"
            )
        )
    }

    @Test func servicesHaveAMappingAndApplications() async throws {
        try await make()
        let connection = try await database.connect()
        try await connection.run(
            script: "CREATE TABLE person (id text PRIMARY KEY, age integer); CREATE TABLE plain (id text, n integer)"
        )
        await connection.close()
        #expect(try await run("mapping add people --view person --key id").output.contains("public.person"))
        #expect(try await run("mapping add slow --view plain --key id").output.contains("No index"))
        #expect(try await run("mapping add x --view persons --key id", expect: 65).errors.contains("no view"))
        let columns = try await run("mapping show people --json").rows()
        #expect(columns.map { $0["kind"] as? String } == ["text", "number"])
        #expect(try await run("mapping list --json").rows().count == 2)
        let doctor = try await run("doctor --json", expect: 1).rows()
        let decisions = ["people", "slow"].map { name in
            doctor.first { $0["check"] as? String == "target mapping \(name)" }?["result"] as? String
        }
        #expect(decisions == ["ok", "warning"])
        try await run("service set shop --mapping people")
        #expect(try await run("service set shop --mapping nobody", expect: 65).errors.contains("mapping list"))
        let shown = try await run("service show shop --json").json()
        #expect(shown["mapping"] as? String == "people" && shown["label"] as? String == "The shop")
        #expect((shown["applications"] as? [[String: Any]])?.first?["integration_key"] as? String == "k1")
        let file = try folder.write("push_token,user_key\n\(String(repeating: "ab", count: 32)),u1\n", to: "s.csv")
        try await run("subscription import \(file) --app shop-ios")
        #expect(try await run("subscription list --service shop --json").rows().count == 1)
        #expect(try await run("subscription list --service shup", expect: 65).errors.contains("service list"))
    }

    @Test func exclusionsAndTargetsComeFromFiles() async throws {
        try await make()
        let tokens = (1...6).map { String(repeating: "0\($0)", count: 32) }
        let lines = tokens.enumerated().map { "\($1),u\($0 + 1),\($0 < 3 ? "Lyon" : "Oslo")" }.joined(separator: "\n")
        let people = try folder.write("push_token,user_key,recipient.city\n\(lines)\n", to: "people.csv")
        try await run("subscription import \(people) --app shop-ios")
        try await run("exclusion create control --label \"Control group\"")
        try await run("exclusion add control --user u2 --subscription 5")
        let list = try folder.write(
            "user_key,push_token\nu9,\nu2,\n,\(tokens[5].uppercased())\nu1,x\n,,\n",
            to: "list.csv"
        )
        let imported = try await run("exclusion import control \(list)", expect: 65)
        let told = "2 added to control, 1 already on it, 1 of them match no subscription, 2 lines skipped"
        #expect(imported.output.hasPrefix(told))
        #expect(imported.errors.contains("line 5") && imported.errors.contains("line 6"))
        #expect(try await run("exclusion list --json").rows().first?["user_keys"] as? Int == 2)
        #expect(try await run("exclusion list control --json").rows().count == 4)
        #expect(try await run("exclusion remove control --user u9").output.hasPrefix("1 removed"))
        let content = try folder.write(#"{"ios": {"title": "x"}}"#, to: "content.json")
        let made = try await run(
            "delivery create --label x --service shop --content @\(content) --exclude control "
                + "--filter \"recipient.city = 'Lyon' and not user_key = 'u3'\""
        )
        let id = try #require(Int64(made.output.trimmingCharacters(in: .whitespacesAndNewlines)))
        let connection = try await database.connect()
        let row = try await connection.execute(
            PostgresStatement(
                "SELECT target_filter, exclusion_lists FROM pushmta.delivery_targeting WHERE delivery_id = $1",
                [.int64(id)]
            )
        )
        #expect(
            try row.text(0, 0) == "recipient.city = 'Lyon' and not user_key = 'u3'"
                && row.textArray(0, 1) == ["control"]
        )
        let status = try await run("delivery status \(id) --json").json()
        let filter = try row.text(0, 0)
        #expect(status["exclusion_lists"] as? [String] == ["control"] && status["filter"] as? String == filter)
        #expect(try await run("delivery status \(id)").output.contains("Filter: recipient.city = 'Lyon'"))
        let wrong = try await run(
            "delivery create --label x --app shop-ios --content @\(content) --filter \"citi = 'Lyon'\"",
            expect: 65
        )
        #expect(wrong.errors.contains("character 1"))
        let unknown = try await run(
            "delivery create --label x --app shop-ios --content @\(content) --exclude contrl",
            expect: 65
        )
        #expect(unknown.errors.contains("Did you mean control?"))
        #expect(try await run("delivery target \(id) \(list)", expect: 65).errors.contains("--explicit-targets"))
        let explicit = try await run(
            "delivery create --label x --app shop-ios --explicit-targets --content @\(content)"
        )
        let listed = explicit.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let targets = try folder.write("user_key,subscription_id,code\nu1,,A1\n,2,\n,x,\n", to: "targets.csv")
        #expect(try await run("delivery target \(listed) \(targets)", expect: 65).output.hasPrefix("2 added"))
        #expect(
            try await run("delivery target \(listed) \(targets) --exclude", expect: 65).errors.contains(
                "no column code"
            )
        )
        let rows = try await connection.execute(
            PostgresStatement(
                "SELECT user_key, subscription_id, variables::text FROM pushmta.delivery_target ORDER BY id"
            )
        )
        #expect(try rows.rowCount == 2 && rows.text(0, 2) == #"{"code": "A1"}"# && rows.int64(1, 1) == 2)
        await connection.close()
        try await run("exclusion delete control", expect: 65)
        try await run("delivery create --label x --content @\(content)", expect: 64)
    }

    /// A grey PNG of 48×48 pixels.
    private static let icon =
        "iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAAAAAByaaZbAAAAIElEQVR42mNoIBEwjGoY1TCqYVTDqIZRDaMaRjWMLA0AP1OAPa8c"
        + "PpEAAAAASUVORK5CYII="
}
