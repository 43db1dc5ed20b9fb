import Foundation
import GatewayTestSupport
import Testing

@testable import Gateways

/// Damaged credentials are refused; none crashes the process, and no error shows their contents.
@Suite("Damaged credentials")
struct CredentialFuzzTests {
    private static let marks = Array("{}[]\",:\\-=\n\0 ".utf8) + [0x80, 0xFF, 0xC3]

    private func damaged(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0..<3, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(Self.marks.randomElement(using: &random) ?? 0, at: index)
            default: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1..<200, using: &random)))
            }
        }
        return bytes
    }

    @Test("Keys, service accounts and sealed certificates")
    func files() throws {
        let account = try JSONEncoder().encode([
            "type": "service_account", "project_id": "example-project", "private_key_id": "abc123",
            "private_key": TestKeys.rsa, "client_email": "sender@example-project.iam.gserviceaccount.com",
            "token_uri": "https://oauth2.googleapis.com/token",
        ])
        let sealed = SealedCertificate(pkcs12: Array(0...255), passphrase: "secret").material
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(state: seed)
        let cases = ProcessInfo.processInfo.environment["PUSHMTA_FUZZ_CASES"].flatMap(Int.init) ?? 2_000
        for _ in 0..<cases {
            let pem = damaged(Array(TestKeys.p8.utf8), &random)
            let json = damaged(Array(account), &random)
            let material = damaged(sealed, &random)
            let errors: [GatewayCredentialError?] = [
                error { () throws(GatewayCredentialError) in
                    _ = try APNsTokenKey(keyID: "KEY1234567", teamID: "TEAM123456", pem: pem)
                },
                error { () throws(GatewayCredentialError) in _ = try ServiceAccount(json: json) },
                error { () throws(GatewayCredentialError) in _ = try SealedCertificate(material: material) },
                error { () throws(GatewayCredentialError) in
                    _ = try FCMProjectKey(String(decoding: json, as: UTF8.self))
                },
            ]
            for error in errors.compactMap({ $0 }) {
                let text = error.message
                #expect(!text.contains("secret") && !text.contains("MII"), "seed \(seed): \(text)")
            }
        }
    }

    private func error(_ body: () throws(GatewayCredentialError) -> Void) -> GatewayCredentialError? {
        do throws(GatewayCredentialError) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}
