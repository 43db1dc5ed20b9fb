import Foundation
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
        arguments: ["project_id", "private_key_id", "private_key", "client_email", "token_uri"]
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
            (.malformed, Array("[]".utf8), "JSON"),
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
