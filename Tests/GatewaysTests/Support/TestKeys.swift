import Crypto
import CryptoExtras

@testable import Gateways

/// Keys made for each test run.
enum TestKeys {
    /// A P-256 key in PKCS#8.
    static let p8 = P256.Signing.PrivateKey().pemRepresentation

    /// A 2,048-bit RSA key in PKCS#8; empty if it cannot be made.
    static let rsa = (try? _RSA.Signing.PrivateKey(keySize: .bits2048))?.pkcs8PEMRepresentation ?? ""

    static func apns(_ keyID: String) throws -> APNsTokenKey {
        try APNsTokenKey(keyID: keyID, teamID: "TEAM123456", pem: Array(p8.utf8))
    }
}
