import Foundation
import JWTKit
import Testing

@testable import GatewaySimulator

/// What other people's clients do that ours does not. `Deploy/test` drives some of these clients themselves: `Deploy/clients.py`.
@Suite(.timeLimit(.minutes(2))) struct OtherClientsTests {
    private static let message =
        #"{"message":{"token":"t","data":{"_mId":"a1b2c3d4-0000-4000-8000-0123456789ac","_dId":"1"}}}"#

    private struct TextClaims: JWTPayload {
        var iss: String
        var iat: String

        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    /// A request to FCM over HTTP/1.1, as firebase-admin's `send` makes it.
    private func send(_ fixture: Fixture, _ body: String, bearer: String, _ extra: [String] = []) throws -> Curl.Answer
    {
        let url =
            "https://localhost:\(fixture.simulator.fcmPort)/v1/projects/\(fixture.simulator.credentials.projectID)/messages:send"
        let headers = ["-H", "content-type: application/json", "-H", "Authorization: Bearer \(bearer)"]
        return try fixture.curl.run(["--http1.1", "-X", "POST", url] + headers + extra, body: Array(body.utf8))
    }

    @Test func fcmSpeaksHTTP1() async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            let accepted = try send(fixture, Self.message, bearer: bearer, ["-w", "\r\n\r\nversion %{http_version}"])
            #expect(accepted.status == 200)
            #expect(accepted.body.contains("\"name\":\"projects/pushmta-simulator/messages/0:"))
            #expect(accepted.body.hasSuffix("version 1.1"))
            #expect(try fixture.send(Self.message, bearer: bearer).status == 200)
            let counters = fixture.simulator.counters().fcm
            #expect(counters.accepted == 2)
            #expect(counters.duplicates == 1)
            #expect(counters.connectionsOpened == 2)
            let wrong = try send(fixture, Self.message, bearer: "x")
            #expect(wrong.status == 401)
            #expect(wrong.body.contains("\"status\":\"UNAUTHENTICATED\""))
            fixture.simulator.setDevice("t", to: .unregistered(sinceMilliseconds: 0))
            let gone = try send(fixture, Self.message, bearer: bearer)
            #expect(gone.status == 404)
            #expect(gone.body.contains("\"errorCode\":\"UNREGISTERED\""))
            // FCM looks at a payload of 4,096 bytes at most; the request may be larger.
            let text = String(repeating: "x", count: 20_000)
            let large = "{\"message\":{\"token\":\"u\",\"data\":{\"text\":\"\(text)\"}}}"
            #expect(try send(fixture, large, bearer: bearer).status == 400)
        }
    }

    @Test func faultsOfAnswersReachHTTP1() async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            var plan = FaultPlan()
            plan.errors = [ErrorRate(reason: "UNAVAILABLE", rate: 1, retryAfter: "7")]
            plan.latency = .fixed(milliseconds: 5)
            try fixture.simulator.setFaults(plan, for: .fcm)
            let unavailable = try send(fixture, Self.message, bearer: bearer)
            #expect(unavailable.status == 503)
            #expect(unavailable.headers["retry-after"] == "7")
            plan = FaultPlan()
            plan.outage = OutageFault(
                .init(.response(status: 502, headers: ["content-type": "text/html"], body: "<p>"))
            )
            try fixture.simulator.setFaults(plan, for: .fcm)
            let html = try send(fixture, Self.message, bearer: bearer)
            #expect(html.status == 502)
            #expect(html.headers["content-type"] == "text/html")
            #expect(html.body == "<p>")
            #expect(fixture.simulator.counters().fcm.outage?.requests.reduce(0, +) == 1)
            plan.outage = OutageFault(.init(.drop))
            try fixture.simulator.setFaults(plan, for: .fcm)
            #expect(throws: Curl.Failure.self) { try send(fixture, Self.message, bearer: bearer) }
            plan = FaultPlan()
            plan.neverAnsweredRate = 1
            try fixture.simulator.setFaults(plan, for: .fcm)
            // The second limit of time wins: curl 28, "Operation timed out".
            #expect(throws: Curl.Failure.self) { try send(fixture, Self.message, bearer: bearer, ["--max-time", "1"]) }
            try fixture.simulator.setFaults(FaultPlan(), for: .fcm)
            #expect(try send(fixture, Self.message, bearer: bearer).status == 200)
            // The simulator may hear of the end of the last connection after its client has ended.
            let deadline = ContinuousClock.now.advanced(by: .seconds(60))
            while fixture.simulator.counters().fcm.connections > 0, ContinuousClock.now < deadline {
                await Task.yield()
            }
            #expect(fixture.simulator.counters().fcm.connections == 0)
        }
    }

    @Test func aStallHoldsHTTP1Back() async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            var plan = FaultPlan()
            plan.stallSeconds = 0.3
            try fixture.simulator.setFaults(plan, for: .fcm)
            #expect(try send(fixture, Self.message, bearer: bearer).status == 200)
            #expect(fixture.simulator.counters().fcm.accepted == 1)
        }
    }

    @Test func apnsSpeaksHTTP2Only() async throws {
        try await Fixture.run { (fixture) async throws in
            #expect(throws: Curl.Failure.self) {
                try fixture.curl.run(["--http1.1", "https://localhost:\(fixture.simulator.apnsPort)/3/device/00"])
            }
        }
    }

    @Test func googlesOwnAudienceIsTaken() async throws {
        try await Fixture.run { (fixture) async throws in
            let credentials = fixture.simulator.credentials
            let grant = try await Signer.grant(credentials, audience: "https://oauth2.googleapis.com/token")
            let fields = ["grant_type=\(TokenEndpoint.grantType)", "assertion=\(grant)"]
            let answer = try fixture.curl.run(
                ["-X", "POST", credentials.tokenURI] + fields.flatMap { ["--data-urlencode", $0] }
            )
            #expect(answer.status == 200)
        }
    }

    @Test func aProviderTokenMayBeSignedInDER() async throws {
        try await Fixture.run { (fixture) async throws in
            let parts = fixture.jwt.split(separator: ".").map(String.init)
            let raw = try #require(Data(base64Encoded: Self.padded(parts[2])))
            try #require(raw.count == 64)
            func integer(_ bytes: Data) -> [UInt8] {
                var bytes = Array(bytes.drop { $0 == 0 })
                if bytes[0] & 0x80 != 0 { bytes.insert(0, at: 0) }
                return [2, UInt8(bytes.count)] + bytes
            }
            let numbers = integer(raw.prefix(32)) + integer(raw.suffix(32))
            let der = Data([0x30, UInt8(numbers.count)] + numbers).base64EncodedString()
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                .replacingOccurrences(of: "=", with: "")
            #expect(try fixture.push(["authorization": "bearer \(parts[0]).\(parts[1]).\(der)"]).status == 200)
            let broken = der.dropLast(4) + "AAAA"
            #expect(try fixture.push(["authorization": "bearer \(parts[0]).\(parts[1]).\(broken)"]).status == 403)
        }
    }

    @Test(arguments: [false, true]) func aTextForTheTimeIsTakenIfAskedFor(isTaken: Bool) async throws {
        try await Fixture.run(.with { $0.takesStringIssuedAt = isTaken }) { (fixture) async throws in
            let credentials = fixture.simulator.credentials
            let kid = JWKIdentifier(string: credentials.apnsKeyID)
            let keys = JWTKeyCollection()
            await keys.add(ecdsa: try ES256PrivateKey(pem: credentials.apnsKeyPEM), kid: kid)
            let now = String(Int64(Date().timeIntervalSince1970))
            let token = try await keys.sign(TextClaims(iss: credentials.apnsTeamID, iat: now), kid: kid)
            #expect(try fixture.push(["authorization": "bearer \(token)"]).status == (isTaken ? 200 : 403))
            #expect(try fixture.push().status == 200)
        }
    }

    @Test func aClientMayResetManyStreamsAtOnce() async throws {
        try await Fixture.run { (fixture) async throws in
            let raw = try await RawConnection.open(fixture, port: fixture.simulator.fcmPort)
            for number in 0..<5_000 as Range<UInt32> {
                raw.sendOpenRequest(streamID: number * 2 + 1)
                raw.sendReset(streamID: number * 2 + 1)
            }
            raw.sendPing(7)
            #expect(try await raw.frame(type: RawFrame.ping).payload.last == 7)
            #expect(raw.count(type: RawFrame.goAway) == 0)
            await raw.close()
        }
    }

    private static func padded(_ text: String) -> String {
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
    }
}
