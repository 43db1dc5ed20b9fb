import Foundation
import GatewayTestSupport
import Testing

@testable import Gateways

@Suite("Provider tokens")
struct ProviderTokenTests {
    @Test("Signed initially, renewed at 50 minutes")
    func renewal() {
        var state = ProviderTokenState()
        #expect(state.handle(.needed(now: 1_000)) == [.sign(issuedAt: 1_000)])
        #expect(state.handle(.signed(issuedAt: 1_000)).isEmpty)
        #expect(state.generation == 1)
        #expect(state.handle(.needed(now: 1_000 + 2_999)).isEmpty)
        #expect(state.handle(.needed(now: 1_000 + 3_000)) == [.sign(issuedAt: 4_000)])
    }

    @Test("Never replaced within 20 minutes, whatever APNs answers")
    func minimumAge() {
        var state = ProviderTokenState()
        _ = state.handle(.signed(issuedAt: 0))
        #expect(state.handle(.rejected(generation: 1, now: 1_199)) == [.keep(seconds: 1)])
        #expect(state.handle(.rejected(generation: 1, now: 1_200)) == [.sign(issuedAt: 1_200)])
        _ = state.handle(.signed(issuedAt: 1_200))
        // Late answers for the old token change nothing.
        #expect(state.handle(.rejected(generation: 1, now: 9_999)).isEmpty)
    }

    @Test("A small step back of the clock is tolerated, a large one makes a new token")
    func clockStepsBack() {
        var state = ProviderTokenState()
        _ = state.handle(.signed(issuedAt: 10_000))
        #expect(state.handle(.needed(now: 9_000)).isEmpty)
        #expect(state.handle(.needed(now: 8_800)) == [.sign(issuedAt: 8_800)])
    }

    @Test("Property: successive tokens are 20 minutes apart or more, and none is used beyond 50")
    func property() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(state: seed)
        var state = ProviderTokenState()
        var now: Int64 = 1_000_000
        var issued: [Int64] = []
        for _ in 0..<100_000 {
            now += Int64.random(in: 0...300, using: &generator)
            let event: ProviderTokenState.Event =
                Bool.random(using: &generator)
                ? .needed(now: now) : .rejected(generation: state.generation, now: now)
            for case .sign(let issuedAt) in state.handle(event) {
                if let last = issued.last { #expect(issuedAt - last >= 1_200, "seed \(seed)") }
                issued.append(issuedAt)
                _ = state.handle(.signed(issuedAt: issuedAt))
            }
            if case .needed = event, let last = issued.last { #expect(now - last < 3_000, "seed \(seed)") }
        }
    }

    @Test("Connections of a key share one token; another key has its own")
    func shared() throws {
        let clock = ManualClock()
        let sources = ProviderTokenSources(now: clock.now)
        let first = sources.source(of: try TestKeys.apns("KEY1234567"))
        let same = sources.source(of: try TestKeys.apns("KEY1234567"))
        let other = sources.source(of: try TestKeys.apns("KEY7654321"))
        #expect(first === same)
        #expect(first !== other)
        let token = try first.current()
        #expect(try same.current() == token)
        clock.set(offset: 49 * 60)
        #expect(try first.current() == token)
        clock.set(offset: 51 * 60)
        let renewed = try same.current()
        #expect(renewed.generation == 2)
        #expect(renewed.authorization != token.authorization)
        #expect(try first.current() == renewed)
    }

    @Test("The token's form")
    func form() throws {
        let text = try TestKeys.apns("KEY1234567").providerToken(issuedAt: 1_700_000_000)
        let parts = text.split(separator: ".")
        try #require(parts.count == 3)
        #expect(decoded(parts[0]) == #"{"alg":"ES256","kid":"KEY1234567"}"#)
        #expect(decoded(parts[1]) == #"{"iss":"TEAM123456","iat":1700000000}"#)
        // 64 bytes of signature.
        #expect(parts[2].count == 86)
        #expect(!text.contains("="))
    }

    private func decoded(_ text: Substring) -> String? {
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        while base64.count % 4 != 0 { base64 += "=" }
        return Data(base64Encoded: String(base64)).map { String(decoding: $0, as: UTF8.self) }
    }
}
