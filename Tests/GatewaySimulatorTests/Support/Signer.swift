import Foundation
import JWTKit

@testable import GatewaySimulator

/// Signs tokens with jwt-kit, which the simulator does not use.
enum Signer {
    struct ProviderClaims: JWTPayload {
        var iss: String
        var iat: Int64

        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    struct GrantClaims: JWTPayload {
        var iss: String
        var scope: String?
        var aud: String
        var iat: Int64
        var exp: Int64

        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    /// A provider token for APNs; what is not given is right.
    static func providerToken(
        _ credentials: SimulatorCredentials,
        pem: String? = nil,
        keyID: String? = nil,
        teamID: String? = nil,
        age: Int64 = 0
    ) async throws -> String {
        let kid = JWKIdentifier(string: keyID ?? credentials.apnsKeyID)
        let keys = JWTKeyCollection()
        await keys.add(ecdsa: try ES256PrivateKey(pem: pem ?? credentials.apnsKeyPEM), kid: kid)
        let claims = ProviderClaims(
            iss: teamID ?? credentials.apnsTeamID,
            iat: Int64(Date().timeIntervalSince1970) - age
        )
        return try await keys.sign(claims, kid: kid)
    }

    /// A grant for the token endpoint; what is not given is right.
    static func grant(
        _ credentials: SimulatorCredentials,
        pem: String? = nil,
        issuer: String? = nil,
        audience: String? = nil,
        scope: String? = "https://www.googleapis.com/auth/firebase.messaging",
        age: Int64 = 0,
        lifetime: Int64 = 3600
    ) async throws -> String {
        let keys = JWTKeyCollection()
        await keys.add(
            rsa: try Insecure.RSA.PrivateKey(pem: pem ?? credentials.serviceAccountKeyPEM),
            digestAlgorithm: .sha256
        )
        let now = Int64(Date().timeIntervalSince1970) - age
        let claims = GrantClaims(
            iss: issuer ?? credentials.clientEmail,
            scope: scope,
            aud: audience ?? credentials.tokenURI,
            iat: now,
            exp: now + lifetime
        )
        return try await keys.sign(claims)
    }
}
