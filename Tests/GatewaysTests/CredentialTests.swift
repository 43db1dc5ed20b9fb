import Foundation
import GatewayTestSupport
import Testing

@testable import Gateways

@Suite("Credentials")
struct CredentialTests {
    private func error<T>(_ body: () throws(GatewayCredentialError) -> T) -> GatewayCredentialError? {
        do throws(GatewayCredentialError) {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }

    private func account(_ change: (inout [String: String]) -> Void = { _ in }) throws -> [UInt8] {
        var fields = [
            "type": "service_account", "project_id": "example-project", "private_key_id": "abc123",
            "private_key": TestKeys.rsa, "client_email": "sender@example-project.iam.gserviceaccount.com",
            "token_uri": "https://oauth2.googleapis.com/token",
        ]
        change(&fields)
        return Array(try JSONEncoder().encode(fields))
    }

    @Test("A service account")
    func serviceAccount() throws {
        let account = try ServiceAccount(json: account())
        #expect(account.projectID == "example-project")
        #expect(account.tokenURI == "https://oauth2.googleapis.com/token")
        let grant = try account.grant(issuedAt: 1_700_000_000).split(separator: ".")
        try #require(grant.count == 3)
        #expect(grant[2].count == 342)
        var dumped = ""
        dump(account, to: &dumped)
        #expect(!dumped.contains("abc123"))
        #expect(!"\(account)\(String(reflecting: account))".contains("abc123"))
    }

    @Test(
        "A missing field is named",
        arguments: ["project_id", "private_key", "client_email"]
    )
    func missing(_ field: String) throws {
        for value in [nil, ""] {
            let json = try account { $0[field] = value }
            let error = try #require(error { () throws(GatewayCredentialError) in try ServiceAccount(json: json) })
            #expect(error.code == .missing)
            #expect(error.description.contains("field \(field) "))
        }
    }

    @Test("Other files are refused with their reason and without their contents")
    func refused() throws {
        let cases: [(GatewayCredentialError.Code, [UInt8], String)] = [
            (.malformed, Array("secret".utf8), "JSON"), (.malformed, [], "JSON"),
            (.wrongKind, Array("[]".utf8), "a list"),
            (.missing, Array("{}".utf8), "type"), (.wrongKind, try account { $0["type"] = "authorized_user" }, "type"),
            (.malformed, try account { $0["private_key"] = "secret" }, "private_key"),
            (.malformed, try account { $0["private_key"] = TestKeys.p8 }, "private_key"),
            (.malformed, try account { $0["token_uri"] = "http://oauth2.googleapis.com/token" }, "token_uri"),
            (.malformed, try account { $0["client_email"] = "a\",\"sub\":\"secret" }, "client_email"),
            (.malformed, try account { $0["project_id"] = "../secret" }, "project_id"),
        ]
        for (code, json, mention) in cases {
            let error = try #require(error { () throws(GatewayCredentialError) in try ServiceAccount(json: json) })
            #expect(error.code == code)
            #expect(error.description.contains(mention))
            #expect(!error.description.contains("secret"))
        }
    }

    @Test("The key's id and the token endpoint are optional")
    func fieldsThatNeedNotBe() throws {
        let account = try ServiceAccount(
            json: account { fields in
                fields["private_key_id"] = nil
                fields["token_uri"] = nil
            }
        )
        #expect(account.tokenURI == "https://oauth2.googleapis.com/token")
        let header = try account.grant(issuedAt: 1).prefix { $0 != "." }
        #expect(header == #"{"alg":"RS256","typ":"JWT"}"#.base64URL)
    }

    @Test("A service account's file as users save it")
    func savedByEditors() throws {
        _ = try ServiceAccount(json: [0xEF, 0xBB, 0xBF] + account())
        _ = try ServiceAccount(json: account { $0["universe_domain"] = "googleapis.com" })
    }

    @Test("Each kind of wrong file has its own message")
    func wrongFiles() throws {
        let good = try account()
        let text = String(decoding: good, as: UTF8.self)
        let quoted = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        let cases: [(String, String)] = [
            ("[\(text)]", "it is a list"), (quoted, "JSON inside a string"),
            (Data(good).base64EncodedString(), "in base64 again"),
            (#"{"project_info":{},"client":[]}"#, "google-services.json"),
            (#"{"apiKey":"x","messagingSenderId":"1"}"#, "web app"),
            (#"{"installed":{"client_secret":"secret"}}"#, "OAuth client"), ("<?xml version=\"1.0\"?>", "XML"),
            (
                String(decoding: try account { $0["universe_domain"] = "secret.example" }, as: UTF8.self),
                "universe_domain"
            ),
            (String(decoding: try account { $0["private_key"] = TestKeys.p8 }, as: UTF8.self), "elliptic curve"),
            (
                String(
                    decoding: try account { $0["private_key"] = TestKeys.rsa.replacing("\n", with: "\\n") },
                    as: UTF8.self
                ),
                "written as \\n"
            ),
        ]
        for (json, words) in cases {
            let error = try #require(
                error { () throws(GatewayCredentialError) in try GoogleAccount(json: Array(json.utf8)) }
            )
            #expect(error.message.contains(words), "\(error.message)")
            #expect(!error.message.contains("secret") && !error.message.contains("MII"))
        }
    }

    @Test("APNs keys as OpenSSL writes and reads them")
    func pemForms() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let path = { (name: String) in files.folder.appendingPathComponent(name).path }
        func made(_ name: String, _ arguments: [String]) throws -> String {
            try OpenSSL.run(arguments + ["-out", path(name)])
            return try String(contentsOfFile: path(name), encoding: .utf8)
        }
        let sec1 = try made("a", ["ecparam", "-genkey", "-name", "prime256v1"])
        let explicit = try made("b", ["ecparam", "-genkey", "-name", "prime256v1", "-param_enc", "explicit"])
        let pkcs8 = try made("c", ["pkcs8", "-topk8", "-nocrypt", "-in", path("b")])
        #expect(
            sec1.contains("EC PARAMETERS") && explicit.contains("EC PARAMETERS") && pkcs8.contains("BEGIN PRIVATE KEY")
        )
        let attributes = "Bag Attributes\n    localKeyID: 01 02\nKey Attributes: <No Attributes>\n"
        let blank = TestKeys.p8.split(separator: "\n").map { "  \($0) \t" }.joined(separator: "\n\n")
        for text in [
            sec1, explicit, pkcs8, "\u{FEFF}" + TestKeys.p8, attributes + TestKeys.p8 + "\nthe end\n", blank,
            TestKeys.p8.replacing("\n", with: "\r\n"),
        ] {
            let key = try APNsTokenKey(keyID: "KEY1234567", teamID: "TEAM123456", pem: Array(text.utf8))
            #expect(try key.providerToken(issuedAt: 1).split(separator: ".").count == 3)
        }
        let der = try made("d", ["pkcs8", "-topk8", "-nocrypt", "-in", path("a"), "-outform", "PEM"])
        let bytes = Array(try #require(Data(base64Encoded: der.split(separator: "\n").dropFirst().dropLast().joined())))
        let cases: [([UInt8], String)] = [
            (bytes, "in DER"), (Array(TestKeys.rsa.utf8), "RSA key"),
            (Array(try made("e", ["ecparam", "-genkey", "-name", "secp384r1"]).utf8), "curve P-384"),
            (Array(try made("f", ["ecparam", "-genkey", "-name", "brainpoolP256r1"]).utf8), "on the curve 1.3.36"),
            (
                Array(
                    try made("g", ["ecparam", "-genkey", "-name", "brainpoolP256r1", "-param_enc", "explicit"]).utf8
                ),
                "its own parameters"
            ),
            (Array(try made("h", ["genpkey", "-algorithm", "ed25519"]).utf8), "another kind"),
            (Array(try made("i", ["ec", "-in", path("a"), "-pubout"]).utf8), "a public key"),
            (
                Array(try made("j", ["pkcs8", "-topk8", "-in", path("a"), "-passout", "pass:secret"]).utf8),
                "protected by a passphrase"
            ),
            (
                Array(try made("k", ["ec", "-aes128", "-in", path("a"), "-passout", "pass:secret"]).utf8),
                "protected by a passphrase"
            ),
            (Array(TestKeys.p8.replacing("\n", with: "\\n").utf8), "written as \\n"),
            (Array(TestKeys.p8.replacing("\n", with: " ").utf8), "line breaks are lost"),
            (Array(Data(TestKeys.p8.utf8).base64EncodedString().utf8), "in base64 again"),
            (Array(bytes.withUnsafeBytes { Data($0) }.base64EncodedString().utf8), "BEGIN and END are missing"),
            (Array(TestKeys.p8.prefix(60).utf8), "cut off"),
        ]
        for (bytes, words) in cases {
            let error = try #require(
                error { () throws(GatewayCredentialError) in
                    try APNsTokenKey(keyID: "KEY1234567", teamID: "TEAM123456", pem: bytes)
                }
            )
            #expect(error.message.contains(words), "\(error.message)")
            #expect(!error.message.contains("secret") && !error.message.contains("MII"))
        }
    }

    @Test("APNs keys are refused with their reason")
    func apnsKeys() throws {
        let pem = Array(TestKeys.p8.utf8)
        let cases: [(String, String, [UInt8], String)] = [
            ("SHORT", "TEAM123456", pem, "key id"), ("KEY1234567", "TEAM-12345", pem, "team id"),
            ("KEY1234567", "TEAM123456", Array("secret".utf8), ".p8"), ("KEY1234567", "TEAM123456", [], ".p8"),
            ("KEY1234567", "TEAM123456", Array(TestKeys.rsa.utf8), ".p8"), ("KEY\"234567", "TEAM123456", pem, "key id"),
        ]
        for (keyID, teamID, pem, mention) in cases {
            let error = try #require(
                error { () throws(GatewayCredentialError) in try APNsTokenKey(keyID: keyID, teamID: teamID, pem: pem) }
            )
            #expect(error.code == .malformed)
            #expect(error.description.contains(mention))
            #expect(!error.description.contains("secret"))
        }
        var dumped = ""
        dump(
            GatewayCredential.apnsTokenKey(keyID: "KEY1234567", teamID: "TEAM123456", pem: Array("secret".utf8)),
            to: &dumped
        )
        #expect(!dumped.contains("115"))
    }
}

extension String {
    /// The text's bytes as a part of a JSON Web Token.
    fileprivate var base64URL: String { JSONWebToken.base64URL(Array(utf8)) }
}
