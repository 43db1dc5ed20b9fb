import Foundation
import PushCore
import Testing

@testable import Gateways

@Suite("Opening credentials")
struct CredentialOpenerTests {
    private let keyFile = NSTemporaryDirectory() + "opener-" + UUID().uuidString
    private let cipher: CredentialCipher

    init() throws {
        let key = CredentialCipher.newKeyText()
        cipher = try CredentialCipher(keyText: key)
        try Data(key.utf8).write(to: URL(fileURLWithPath: keyFile))
    }

    private func opener(_ keyFile: String?) -> CredentialOpener {
        var settings = Settings()
        settings.credentialKeyFile = keyFile ?? ""
        return CredentialOpener(settings, environment: [:])
    }

    private func sealed(
        _ kind: CredentialKind,
        _ material: [UInt8],
        attributes: String = "{}",
        sealedFor id: Int64 = 7
    ) throws -> SealedCredential {
        SealedCredential(
            id: 7,
            kind: kind,
            name: "shop-key",
            sealKeyID: cipher.keyID,
            sealed: try cipher.seal(material, credentialID: id),
            attributes: attributes
        )
    }

    private func open(_ credential: SealedCredential) throws -> GatewayCredential {
        defer { try? FileManager.default.removeItem(atPath: keyFile) }
        return try opener(keyFile).open(credential, of: "shop")
    }

    @Test("An APNs key comes with the ids among its attributes")
    func apnsKey() throws {
        let attributes = #"{"key_id": "ABCDE12345", "team_id": "TEAM123456", "other": true}"#
        guard
            case .apnsTokenKey("ABCDE12345", "TEAM123456", [1, 2]) =
                try open(sealed(.apnsKey, [1, 2], attributes: attributes))
        else {
            Issue.record("it is another credential")
            return
        }
    }

    @Test("A missing id is empty, for the key's own check")
    func missingAttribute() throws {
        guard
            case .apnsTokenKey("", "TEAM123456", _) =
                try open(sealed(.apnsKey, [1], attributes: #"{"key_id": null, "team_id": "TEAM123456"}"#))
        else {
            Issue.record("it is another credential")
            return
        }
    }

    @Test("A certificate comes with its passphrase")
    func certificate() throws {
        let material = SealedCertificate(pkcs12: [3, 4], passphrase: "secret phrase").material
        guard case .apnsCertificate([3, 4], "secret phrase") = try open(sealed(.apnsCertificate, material)) else {
            Issue.record("it is another credential")
            return
        }
    }

    @Test("FCM's two kinds are their material")
    func fcm() throws {
        defer { try? FileManager.default.removeItem(atPath: keyFile) }
        let opener = opener(keyFile)
        guard case .serviceAccount([5]) = try opener.open(try sealed(.fcmServiceAccount, [5]), of: "shop"),
            case .projectKey("AAAA") = try opener.open(try sealed(.fcmProjectKey, Array("AAAA".utf8)), of: "shop")
        else {
            Issue.record("they are other credentials")
            return
        }
    }

    @Test(
        "A host without the key is at fault, and the message names credential and application",
        arguments: [true, false]
    )
    func missingKey(_ isNamed: Bool) throws {
        try FileManager.default.removeItem(atPath: keyFile)
        let credential = try sealed(.fcmProjectKey, [1])
        let failure = try #require(throws: GatewaySetupFailure.self) {
            try opener(isNamed ? keyFile : nil).open(credential, of: "shop")
        }
        #expect(failure.isHostsFault)
        #expect(failure.description.hasPrefix("credential shop-key of application shop cannot be opened: "))
        #expect(failure.description.contains(isNamed ? keyFile : "credentialKeyFile"))
    }

    @Test("A seal for another credential does not open")
    func foreignSeal() throws {
        let error = try #require(throws: CredentialError.self) {
            try open(sealed(.fcmProjectKey, [1], sealedFor: 8))
        }
        #expect(error.code == .notAuthentic)
    }

    @Test("Attributes that are not an object are the credential's fault", arguments: ["[]", "", "{", "7"])
    func badAttributes(_ attributes: String) throws {
        let failure = try #require(throws: GatewaySetupFailure.self) {
            try open(sealed(.apnsKey, [1], attributes: attributes))
        }
        #expect(!failure.isHostsFault)
        #expect(failure.description.contains("shop-key"))
    }
}
