import Foundation
import Testing

@testable import GatewaySimulator

/// The OAuth 2.0 token endpoint, over TLS with curl.
struct TokenEndpointTests {
    @Test func aGrantIsExchangedForABearer() async throws {
        try await Fixture.run(.with { $0.accessTokenLifetimeSeconds = 1234 }) { (fixture) async throws in
            let answer = try ask(fixture, try await Signer.grant(fixture.simulator.credentials))
            #expect(answer.status == 200)
            #expect(answer.body.contains("\"expires_in\":1234,\"token_type\":\"Bearer\""))
            #expect(answer.body.hasPrefix("{\"access_token\":\"ya29."))
        }
    }

    @Test func wrongGrantsAreRefused() async throws {
        try await Fixture.run { (fixture) async throws in
            let credentials = fixture.simulator.credentials
            let other = try await GatewaySimulator.start(
                GatewaySimulatorOptions(stateFolder: fixture.folder + "/other")
            )
            let otherKey = other.credentials.serviceAccountKeyPEM
            await other.stop()
            let cases: [(String, String, String)] = [
                (try await Signer.grant(credentials, pem: otherKey), "invalid_grant", "Invalid JWT Signature."),
                (
                    try await Signer.grant(credentials, issuer: "x@y"), "invalid_grant",
                    "Invalid grant: account not found"
                ),
                (
                    try await Signer.grant(credentials, audience: "https://x/token"), "invalid_grant",
                    "Invalid JWT: Failed audience check."
                ),
                (
                    try await Signer.grant(credentials, age: 8000), "invalid_grant",
                    "Invalid JWT: Token must be a short-lived token"
                ),
                (
                    try await Signer.grant(credentials, lifetime: 7200), "invalid_grant",
                    "Invalid JWT: Token must be a short-lived token"
                ),
                (try await Signer.grant(credentials, scope: nil), "invalid_scope", "Invalid OAuth scope"),
                ("x.y.z", "invalid_grant", "Invalid JWT"),
                ("", "invalid_grant", "Invalid JWT"),
            ]
            for (grant, error, description) in cases {
                let answer = try ask(fixture, grant)
                #expect(answer.status == 400)
                #expect(answer.body.hasPrefix("{\"error\":\"\(error)\",\"error_description\":\"\(description)"))
            }
            let wrongType = try ask(fixture, "x", grantType: "password")
            #expect(wrongType.body.contains("unsupported_grant_type"))
        }
    }

    @Test func aRevokedAccountGetsNothing() async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            fixture.simulator.revokeKey(true, for: .fcm)
            #expect(try ask(fixture, try await Signer.grant(fixture.simulator.credentials)).status == 400)
            #expect(try fixture.send(#"{"message":{"token":"t"}}"#, bearer: bearer).status == 401)
            fixture.simulator.revokeKey(false, for: .fcm)
            #expect(try fixture.send(#"{"message":{"token":"t"}}"#, bearer: bearer).status == 200)
        }
    }

    private func ask(_ fixture: Fixture, _ grant: String, grantType: String = TokenEndpoint.grantType) throws
        -> Curl.Answer
    {
        try fixture.curl.run(
            [
                "-X", "POST", fixture.simulator.credentials.tokenURI, "--data-urlencode", "grant_type=\(grantType)",
                "--data-urlencode", "assertion=\(grant)",
            ]
        )
    }
}
