import Testing

@testable import Gateways

@Suite("Access tokens")
struct AccessTokenStateTests {
    private let unreachable = TokenFailure(kind: .unavailable, reason: "connect", message: "m")
    private let refused = TokenFailure(kind: .refused, reason: "invalid_grant", status: 400, message: "m")

    private func token(_ generation: Int, _ text: String) -> AuthorizationToken {
        AuthorizationToken(generation: generation, authorization: "Bearer \(text)")
    }

    @Test("One fetch at a time, then the token is used until 80 % of its life")
    func renewal() {
        var state = AccessTokenState()
        #expect(state.handle(.needed, at: 0) == [.fetch])
        #expect(state.handle(.needed, at: 1).isEmpty)
        #expect(state.handle(.wakeUp, at: 2).isEmpty)
        let renewal: Int64 = 100 + 2_880_000
        #expect(
            state.handle(.fetched(text: "a", expiresInSeconds: 3_600), at: 100)
                == [.use(token(1, "a")), .wakeUp(at: renewal)]
        )
        #expect(state.handle(.needed, at: renewal - 1) == [.use(token(1, "a"))])
        #expect(state.handle(.wakeUp, at: renewal) == [.fetch])
        #expect(state.handle(.needed, at: renewal + 1) == [.use(token(1, "a"))])
        _ = state.handle(.fetched(text: "b", expiresInSeconds: 3_600), at: renewal + 2)
        #expect(state.usable(at: renewal + 3) == token(2, "b"))
    }

    @Test(
        "Tokens of any life are no longer used before their end, and are renewed before that",
        arguments: [nil, -1, 0, 1, 59, 60, 300, 301, 3_599, 86_400, .max] as [Int64?]
    )
    func lives(_ seconds: Int64?) throws {
        var state = AccessTokenState()
        _ = state.handle(.needed, at: 0)
        let actions = state.handle(.fetched(text: "a", expiresInSeconds: seconds), at: 0)
        let wakeUps = actions.compactMap { if case .wakeUp(let moment) = $0 { moment } else { nil } }
        let renewal = try #require(wakeUps.first)
        #expect(renewal > 0)
        #expect(state.usable(at: 0) != nil)
        #expect(state.usable(at: renewal - 1) != nil)
        let life = (seconds ?? 0) > 0 ? min(seconds ?? 0, 86_400) * 1_000 : 60_000
        #expect(state.usable(at: life) == nil)
    }

    @Test("A failing endpoint is asked again with growing pauses, and messages wait")
    func unavailable() {
        var state = AccessTokenState()
        _ = state.handle(.needed, at: 0)
        var now: Int64 = 0
        for pause in [500, 1_000, 2_000, 2_500, 2_500, 2_500] as [Int64] {
            #expect(
                state.handle(.failed(unreachable, jitter: 0), at: now)
                    == [.report(unreachable, retryAt: now + pause), .wakeUp(at: now + pause)]
            )
            #expect(state.refusal(at: now) == nil)
            #expect(state.handle(.needed, at: now + pause - 1).isEmpty)
            now += pause
            #expect(state.handle(.wakeUp, at: now) == [.fetch])
        }
        #expect(state.handle(.fetched(text: "a", expiresInSeconds: 3_600), at: now).first == .use(token(1, "a")))
    }

    @Test("Retry-After of the endpoint is obeyed")
    func retryAfter() {
        var state = AccessTokenState()
        _ = state.handle(.needed, at: 0)
        var failure = unreachable
        failure.retryAfterMilliseconds = 120_000
        #expect(state.handle(.failed(failure, jitter: 0.5), at: 0).last == .wakeUp(at: 120_000))
    }

    @Test("A refused account stops at once; a later batch asks again")
    func accountRefused() {
        var state = AccessTokenState()
        _ = state.handle(.needed, at: 0)
        #expect(state.handle(.failed(refused, jitter: 0), at: 0) == [.stop(refused)])
        #expect(state.handle(.needed, at: 1) == [.stop(refused)])
        #expect(state.handle(.needed, at: AccessTokenState.stopPause) == [.fetch])
        #expect(state.handle(.fetched(text: "a", expiresInSeconds: 60), at: 6_000).first == .use(token(1, "a")))
        #expect(state.refusal(at: 6_000) == nil)
    }

    @Test("After a refused renewal, the valid token is used to its end")
    func renewalRefused() {
        var state = AccessTokenState()
        _ = state.handle(.needed, at: 0)
        _ = state.handle(.fetched(text: "a", expiresInSeconds: 3_600), at: 0)
        #expect(state.handle(.wakeUp, at: 2_880_000) == [.fetch])
        let actions = state.handle(.failed(refused, jitter: 0), at: 2_880_000)
        #expect(actions.first == .report(refused, retryAt: 2_880_500))
        #expect(state.handle(.needed, at: 2_880_001) == [.use(token(1, "a"))])
        #expect(state.handle(.wakeUp, at: 3_595_000) == [.fetch])
        #expect(state.handle(.failed(refused, jitter: 0), at: 3_595_000) == [.stop(refused)])
    }

    @Test("401: one new token; 401 again: stop")
    func rejected() {
        var state = AccessTokenState()
        _ = state.handle(.needed, at: 0)
        _ = state.handle(.fetched(text: "a", expiresInSeconds: 3_600), at: 0)
        #expect(state.handle(.rejected(generation: 1), at: 10) == [.fetch])
        #expect(state.usable(at: 10) == nil)
        // Late answers for the old token, and other batches, change nothing.
        #expect(state.handle(.rejected(generation: 1), at: 11).isEmpty)
        #expect(state.handle(.needed, at: 12).isEmpty)
        #expect(state.handle(.fetched(text: "b", expiresInSeconds: 3_600), at: 20).first == .use(token(2, "b")))
        #expect(state.isUnproven)
        #expect(state.handle(.rejected(generation: 1), at: 21).isEmpty)
        let actions = state.handle(.rejected(generation: 2), at: 22)
        guard case .stop(let failure)? = actions.first else {
            Issue.record("not stopped")
            return
        }
        #expect(failure.status == 401)
        #expect(state.refusal(at: 23) == failure)
    }

    @Test("401 again after a message was accepted is a first 401")
    func rejectedAfterAccepted() {
        var state = AccessTokenState()
        _ = state.handle(.needed, at: 0)
        _ = state.handle(.fetched(text: "a", expiresInSeconds: 3_600), at: 0)
        _ = state.handle(.rejected(generation: 1), at: 10)
        _ = state.handle(.fetched(text: "b", expiresInSeconds: 3_600), at: 20)
        _ = state.handle(.accepted(generation: 1), at: 21)
        #expect(state.isUnproven)
        _ = state.handle(.accepted(generation: 2), at: 22)
        #expect(!state.isUnproven)
        #expect(state.handle(.rejected(generation: 2), at: 30) == [.fetch])
    }
}
