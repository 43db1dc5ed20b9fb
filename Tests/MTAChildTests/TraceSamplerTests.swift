import ProcessProtocol
import Testing

@testable import Gateways
@testable import MTAChild

/// Who sees which message on the wire, and how many.
@Suite("Samples of traces")
struct TraceSamplerTests {
    private let begin = ContinuousClock.now
    private let token = Array("token".utf8)[...]

    private func order(_ id: Int64, _ change: (inout TraceRequest) -> Void = { _ in }) -> TraceOrder {
        var request = TraceRequest(applicationID: 1, application: "shop", person: "ada")
        change(&request)
        return TraceOrder(id: id, request)
    }

    @Test("Only messages of the delivery and token that were asked for are counted")
    func filters() {
        var sampler = TraceSampler(at: begin)
        #expect(sampler.obey(order(1) { $0.deliveryID = 7 }, at: begin) == TraceCounts())
        #expect(
            sampler.obey(order(2) { $0.tokenHash = PushTokenHash.text("token".utf8).uppercased() }, at: begin) != nil
        )
        #expect(sampler.sample(delivery: 7, token: Array("other".utf8)[...], at: begin) == [1])
        #expect(sampler.sample(delivery: 8, token: token, at: begin) == [2])
        #expect(sampler.sample(delivery: 7, token: token, at: begin) == [1, 2])
        #expect(sampler.sample(delivery: 8, token: Array("other".utf8)[...], at: begin).isEmpty)
        #expect(sampler.counts(1)?.matched == 2 && sampler.counts(2)?.matched == 2)
    }

    @Test("So many a second are shown as were asked for, and all together no more than the most")
    func allowance() {
        var sampler = TraceSampler(at: begin)
        _ = sampler.obey(order(1) { $0.perSecond = 10 }, at: begin)
        var shown = 0
        for millisecond in 0..<10_000 {
            // It is renewed meanwhile, as a supervisor does.
            if millisecond % 3_000 == 0 {
                _ = sampler.obey(order(1) { $0.perSecond = 10 }, at: begin + .milliseconds(millisecond))
            }
            shown += sampler.sample(delivery: 7, token: token, at: begin + .milliseconds(millisecond)).count
        }
        #expect((100...110).contains(shown) && sampler.counts(1)?.matched == 10_000, "\(shown)")
        var crowd = TraceSampler(at: begin)
        for id in 1...4 { _ = crowd.obey(order(Int64(id)) { $0.perSecond = 100 }, at: begin) }
        let all = (0..<1_000).map { crowd.sample(delivery: 7, token: token, at: begin + .milliseconds($0)).count }
            .reduce(0, +)
        #expect((190...201).contains(all), "\(all)")
        #expect(crowd.obey(order(5), at: begin) == nil)
    }

    @Test("Where more messages come than tokens may be hashed, some are not looked at and counted")
    func hashing() {
        var sampler = TraceSampler(at: begin)
        _ = sampler.obey(order(1) { $0.tokenHash = PushTokenHash.text("token".utf8) }, at: begin)
        let most = TraceLimits.mostHashesPerSecond
        for _ in 0..<most + 500 { _ = sampler.sample(delivery: 7, token: Array("other".utf8)[...], at: begin) }
        #expect(sampler.counts(1)?.unchecked == 500 && sampler.counts(1)?.matched == 0)
        #expect(sampler.sample(delivery: 7, token: token, at: begin).isEmpty)
        #expect(sampler.sample(delivery: 7, token: token, at: begin + .seconds(1)) == [1])
    }

    @Test("A trace that nobody renews ends, and so does one that is ended")
    func ends() {
        var sampler = TraceSampler(at: begin)
        _ = sampler.obey(order(1), at: begin)
        _ = sampler.obey(order(2), at: begin)
        _ = sampler.obey(order(2).ending, at: begin)
        let last = begin + .seconds(TraceLimits.orderSeconds)
        #expect(sampler.sample(delivery: 7, token: token, at: last - .milliseconds(1)) == [1])
        #expect(sampler.sample(delivery: 7, token: token, at: last).isEmpty)
        sampler.expire(at: last)
        #expect(sampler.running.isEmpty && sampler.counts(1) == nil)
    }
}
