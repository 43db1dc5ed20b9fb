import ProcessProtocol
import Testing

@testable import Gateways
@testable import MTAChild

/// Which trace shows which messages, and how many.
@Suite("Samples of traces")
struct TraceSamplerTests {
    private let begin = ContinuousClock.now
    private let token = Array("token".utf8)[...]

    private func order(_ id: Int64, _ change: (inout TraceRequest) -> Void = { _ in }) -> TraceOrder {
        var request = TraceRequest(applicationID: 1, application: "shop", person: "ada")
        change(&request)
        return TraceOrder(id: id, request)
    }

    /// The traces that show one message.
    private func sees(
        _ sampler: inout TraceSampler,
        delivery: Int64,
        token: ArraySlice<UInt8>,
        at now: ContinuousClock.Instant
    ) -> [Int64] {
        sampler.choose(from: 1, ofDelivery: delivery, token: { _ in token }, at: now)[0] ?? []
    }

    @Test("Only messages of the requested delivery and token are counted")
    func filters() {
        var sampler = TraceSampler(at: begin)
        #expect(sampler.obey(order(1) { $0.deliveryID = 7 }, at: begin) == TraceCounts())
        let hash = PushTokenHash.text("token".utf8).uppercased()
        #expect(sampler.obey(order(2) { $0.tokenHash = hash }, at: begin) != nil)
        let other = Array("other".utf8)[...]
        #expect(sees(&sampler, delivery: 7, token: other, at: begin) == [1])
        #expect(sees(&sampler, delivery: 8, token: token, at: begin) == [2])
        #expect(sees(&sampler, delivery: 7, token: token, at: begin) == [1, 2])
        #expect(sees(&sampler, delivery: 8, token: other, at: begin).isEmpty)
        #expect(sampler.counts(1)?.matched == 2 && sampler.counts(2)?.matched == 2)
        // One of many messages that leave together.
        let chosen = sampler.choose(from: 1_000, ofDelivery: 8, token: { $0 == 777 ? token : other }, at: begin)
        #expect(chosen == [777: [2]] && sampler.counts(2)?.matched == 3)
    }

    @Test("Each trace shows the requested number a second, and all together at most the maximum")
    func allowance() {
        var sampler = TraceSampler(at: begin)
        var shown = 0
        for millisecond in 0..<10_000 {
            // It is renewed meanwhile, as a supervisor would do.
            if millisecond % 3_000 == 0 {
                _ = sampler.obey(order(1) { $0.perSecond = 10 }, at: begin + .milliseconds(millisecond))
            }
            shown += sees(&sampler, delivery: 7, token: token, at: begin + .milliseconds(millisecond)).count
        }
        #expect((100...110).contains(shown) && sampler.counts(1)?.matched == 10_000, "\(shown)")
        // Of a thousand at once, the same number, each a different one.
        let later = begin + .milliseconds(11_000)
        #expect(sampler.choose(from: 1_000, ofDelivery: 7, token: { _ in token }, at: later).count == 10)
        #expect(sampler.choose(from: 1_000, ofDelivery: 7, token: { _ in token }, at: later).isEmpty)
        var crowd = TraceSampler(at: begin)
        for id in 1...4 { _ = crowd.obey(order(Int64(id)) { $0.perSecond = 100 }, at: begin) }
        var all = 0
        for millisecond in 0..<1_000 {
            all += sees(&crowd, delivery: 7, token: token, at: begin + .milliseconds(millisecond)).count
        }
        #expect((190...201).contains(all), "\(all)")
        #expect(crowd.obey(order(5), at: begin) == nil)
    }

    @Test("If more messages come than tokens may be hashed, some are not checked, and are counted")
    func hashing() {
        var sampler = TraceSampler(at: begin)
        _ = sampler.obey(order(1) { $0.tokenHash = PushTokenHash.text("token".utf8) }, at: begin)
        let limit = TraceLimits.maxHashesPerSecond
        let other = Array("other".utf8)[...]
        #expect(sampler.choose(from: limit + 500, ofDelivery: 7, token: { _ in other }, at: begin).isEmpty)
        #expect(sampler.counts(1)?.unchecked == 500 && sampler.counts(1)?.matched == 0)
        #expect(sees(&sampler, delivery: 7, token: token, at: begin).isEmpty)
        #expect(sees(&sampler, delivery: 7, token: token, at: begin + .seconds(1)) == [1])
    }

    @Test("A trace ends when it is not renewed, or when it is ended")
    func ends() {
        var sampler = TraceSampler(at: begin)
        _ = sampler.obey(order(1), at: begin)
        _ = sampler.obey(order(2), at: begin)
        _ = sampler.obey(order(2).ending, at: begin)
        let last = begin + .seconds(TraceLimits.orderSeconds)
        #expect(sees(&sampler, delivery: 7, token: token, at: last - .milliseconds(1)) == [1])
        #expect(sees(&sampler, delivery: 7, token: token, at: last).isEmpty)
        sampler.expire(at: last)
        #expect(sampler.running.isEmpty && sampler.counts(1) == nil)
    }
}
