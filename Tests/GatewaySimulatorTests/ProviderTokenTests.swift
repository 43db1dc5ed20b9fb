import Foundation
import JWTKit
import Testing

@testable import GatewaySimulator

/// What APNs does with provider tokens.
struct ProviderTokenTests {
    @Test func wrongTokensAreRefused() async throws {
        try await Fixture.run { (fixture) async throws in
            let credentials = fixture.simulator.credentials
            let otherKey = ES256PrivateKey().pemRepresentation
            let cases: [(String, String)] = [
                (try await Signer.providerToken(credentials, pem: otherKey), "InvalidProviderToken"),
                (try await Signer.providerToken(credentials, keyID: "ABCDEFGHIJ"), "InvalidProviderToken"),
                (try await Signer.providerToken(credentials, teamID: "ABCDEFGHIJ"), "InvalidProviderToken"),
                (try await Signer.providerToken(credentials, age: 3700), "ExpiredProviderToken"),
            ]
            for (token, reason) in cases {
                let answer = try fixture.push(["authorization": "bearer \(token)"])
                #expect(answer.status == 403)
                #expect(answer.body == "{\"reason\":\"\(reason)\"}")
            }
            let old = try await Signer.providerToken(credentials, age: 3500)
            #expect(try fixture.push(["authorization": "bearer \(old)"]).status == 200)
        }
    }

    @Test func aRevokedKeyIsInvalidUntilItIsRestored() async throws {
        try await Fixture.run { (fixture) async throws in
            fixture.simulator.revokeKey(true, for: .apns)
            #expect(try fixture.push().body == #"{"reason":"InvalidProviderToken"}"#)
            fixture.simulator.revokeKey(false, for: .apns)
            #expect(try fixture.push().status == 200)
        }
    }

    @Test func aTokenExpiresAfterItsVerification() async throws {
        try await withCheck { check, fixture in
            let bytes = Array("bearer \(fixture.jwt)".utf8)
            guard case .success(let token) = check.check(bytes, bytes.indices, now: Self.now) else {
                Issue.record("a fresh token was refused")
                return
            }
            #expect(throws: Never.self) { try check.check(bytes, bytes.indices, now: token.issuedAt + 3600).get() }
            #expect(throws: ProviderTokenFault.expired) {
                try check.check(bytes, bytes.indices, now: token.issuedAt + 3601).get()
            }
        }
    }

    @Test func oneConnectionMayChangeItsTokenOnceIn20Minutes() {
        var state = APNsConnectionState()
        let uses: [(number: Int, now: Int64, isAllowed: Bool)] = [
            (1, 1000, true), (1, 1001, true), (2, 1000 + 1199, false), (1, 1000 + 1199, true), (2, 1000 + 1200, true),
            (3, 1000 + 1201, false),
        ]
        for use in uses {
            let isAllowed = state.use(ProviderToken(number: use.number, keyID: "k", issuedAt: 0), now: use.now)
            #expect(isAllowed == use.isAllowed)
        }
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    private func withCheck(_ body: (inout ProviderTokenCheck, Fixture) throws -> Void) async throws {
        try await Fixture.run { (fixture) async throws in
            var check = try ProviderTokenCheck(credentials: fixture.simulator.credentials)
            try body(&check, fixture)
        }
    }
}
