import Crypto
import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Accounts and credentials that do not match, as operators may combine them.
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

    /// Sets up a service and accounts for both of Apple's connectors; returns the options for a key (.p8).
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
        let refused = try await run("app add bk --message-id-format uuid --account binary \(Self.add)", key, expect: 65)
        #expect(
            refused.errors.contains("APNs certificate (.p12)")
                && refused.errors.contains("application bk has an APNs key")
        )
        #expect(try await run("app list --json").rows().isEmpty, "nothing is made by halves")
        try await run("app add bk --message-id-format uuid --account stand-in \(Self.add)", key)
        let moved = try await run("app set bk --account binary", expect: 65)
        #expect(moved.errors.contains("External account binary is of connector ios-binary"))
        let row = try #require(try await run("app list --json").rows().first)
        #expect(row["account"] as? String == "stand-in")
        try await run("app set bk --account own")
    }

    @Test(arguments: ["--connector ios-binary", "--url http://localhost/nms/jsp/ios.jsp"])
    func anAccountDoesNotGetAConnectorThatItsApplicationsCannotUse(_ words: String) async throws {
        let key = try await setUp()
        try await run("app add bk --message-id-format uuid --account stand-in \(Self.add)", key)
        let refused = try await run("account set stand-in \(words) --port 2195", expect: 65)
        #expect(refused.errors.contains("do not have: bk") && refused.errors.contains("credential set"))
        let rows = try await run("account list --json").rows()
        #expect(rows.first { $0["name"] as? String == "stand-in" }?["connector"] as? String == "ios-http2")
        // An application without a credential does not prevent the change.
        try await run("app set bk --account own")
        try await run("app add bare --message-id-format uuid --account stand-in \(Self.add)")
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

    @Test func aHostIsAHostAndHasOneForm() async throws {
        try await run("migrate")
        let refused = [
            ("https://api.push.apple.com", "alone, api.push.apple.com"), ("api.push.apple.com:443", "has a port"),
            (" 127.0.0.1", "blanks"), ("[::1]:443", "alone, ::1"), ("", "empty"), ("a\u{1B}[31m", "control"),
            ("http://localhost:8080/nms/jsp/iosHTTP2.jsp", "--url"),
        ]
        for (host, words) in refused {
            let ending = try await run("account add x --connector ios-http2 --host", [host], expect: 64)
            #expect(ending.errors.contains(words), "\(ending.errors)")
        }
        let feedback = ["https://feedback.push.apple.com"]
        try await run("account add x --connector ios-binary --feedback-host", feedback, expect: 64)
        #expect(try await run("account list --json").rows().isEmpty)
        for host in ["API.PUSH.APPLE.COM", "api.push.apple.com."] {
            let google = try await run("account add x --connector android-v2 --host", [host], expect: 65)
            #expect(google.errors.contains("is a gateway of connector ios-http2"))
            let port = try await run("account add x --connector ios-http2 --port 8443 --host", [host], expect: 65)
            #expect(port.errors.contains("443 and 2197"))
        }
        for (number, url) in ["ios.jsp", "iosHTTP2.jsp", "androidPushConnector.js", "androidPushConnectorV2.js"]
            .enumerated()
        {
            try await run("account add own\(number) --url http://localhost:8080/nms/jsp/\(url)")
        }
        try await run("account add loop --connector ios-http2 --host [::1] --port 2197")
        try await run("account set loop --host Gateway.Example.")
        try await run("account set own1 --host api.SANDBOX.push.apple.com.")
        let rows = try await run("account list --json").rows()
        func host(_ name: String) -> String? { rows.first { $0["name"] as? String == name }?["host"] as? String }
        #expect(host("loop") == "gateway.example" && host("own1") == "api.sandbox.push.apple.com")
        try await run("service add shop")
        let wrong = try await run("app add shop --message-id-format uuid --account own1 \(Self.add)", expect: 65)
        #expect(wrong.errors.contains("which is for sandbox"))
    }

    @Test func aFileOfAuthoritiesHoldsCertificates() async throws {
        try await run("migrate")
        let files = [
            (try folder.write("#!/bin/sh\n", to: "env.sh"), "no certificate"), (folder.path, "cannot be read"),
            (folder.path + "/none.pem", "cannot be read"), (try folder.write("", to: "empty.pem"), "is empty"),
            (try folder.write(P256.Signing.PrivateKey().pemRepresentation, to: "key.pem"), "no certificate"),
        ]
        try await run("account add stand-in --connector ios-http2 --host localhost")
        for (file, words) in files {
            for command in ["account add x --connector ios-http2", "account set stand-in"] {
                let ending = try await run("\(command) --ca-file", [file], expect: 64)
                #expect(ending.errors.contains(file) && ending.errors.contains(words), "\(ending.errors)")
            }
        }
        let rows = try await run("account list --json").rows()
        #expect(rows.count == 1 && (rows.first?["options"] as? String)?.contains("ca_file") == false)
        try await run("account set stand-in --ca-file", ["/etc/ssl/certs/ca-certificates.crt"])
    }

    @Test func applesIDsAreCapitalsAndNoCredentialEndsInAThousandYears() async throws {
        let key = try await setUp()
        try await run("app add bk --message-id-format uuid --account stand-in \(Self.add)")
        let small = try await run("credential set bk --key-id r65px2act3", key, expect: 65)
        #expect(small.errors.contains("--key-id R65PX2ACT3"))
        let team = try await run("credential set bk", Array(key.prefix(2)) + ["--team-id", "def123ghij"], expect: 65)
        #expect(team.errors.contains("--team-id DEF123GHIJ"))
        for id in ["R65PX2ACT", "R65PX2ACT34", "R65PX2-CT3", "R65PX2ÄCT3"] {
            let wrong = try await run("credential set bk --key-id \(id)", key, expect: 65)
            #expect(wrong.errors.contains("ten letters and digits"))
        }
        for day in ["99999-01-01", "9999-12-31", "2055-01-01"] {
            let far = try await run("credential set bk --expires \(day)", key, expect: 65)
            #expect(far.errors.contains("more than ten years away") || far.errors.contains("not a valid day"))
        }
        let near = Date(timeIntervalSinceNow: 9 * 365 * 86_400).formatted(.iso8601.year().month().day())
        #expect(try await run("credential set bk --expires \(near)", key).output.contains("expires in"))
    }
}
