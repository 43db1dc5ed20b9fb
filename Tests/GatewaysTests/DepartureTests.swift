import Foundation
import GatewaySimulator
import GatewayTestSupport
import Gateways
import PushCore
import Synchronization
import Testing

@Suite("Messages about to be sent", .timeLimit(.minutes(2)))
struct DepartureTests {
    @Test(
        "Each message is announced once, and never more messages than there are streams",
        arguments: [Connector.iosHTTP2, .androidV1]
    )
    func announced(_ connector: Connector) async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(connector)
            for id in 1...3 as ClosedRange<Int64> { gateway.submit(fixture.batch(id: id, connector, count: 700)) }
            await fixture.collector.waitForOutcomes(2_100)
            for id in 1...3 as ClosedRange<Int64> {
                #expect(fixture.collector.announced(id, 700).allSatisfy { $0 == 1 })
                #expect(fixture.collector.classes(id) == [.accepted: 700])
            }
            #expect(fixture.collector.announcements.allSatisfy { (1...1_000).contains($0) })
            await gateway.shutdown()
        }
    }

    @Test("Rows are announced as the batch's rows, whichever requests were made from them")
    func rows() async throws {
        try await Fixture.run { fixture in
            var collapseIDs = ByteColumn()
            for row in 0..<100 {
                if row % 3 == 0 { collapseIDs.appendNull() } else { collapseIDs.append("id-\(row)".utf8) }
            }
            let gateway = try await fixture.gateway(.iosHTTP2)
            gateway.submit(fixture.batch(.iosHTTP2, count: 100, collapseIDs: collapseIDs))
            await fixture.collector.waitForOutcomes(100)
            #expect(fixture.collector.announced(1, 100).allSatisfy { $0 == 1 })
            #expect(fixture.collector.classes(1) == [.accepted: 100])
            await gateway.shutdown()
        }
    }

    @Test("Messages that must not leave return as never left, and the gateway has seen none of them")
    func refused() async throws {
        try await Fixture.run { fixture in
            fixture.collector.decide { $0 <= 3 }
            let gateway = try await fixture.gateway(.iosHTTP2)
            gateway.submit(fixture.batch(id: 1, .iosHTTP2, count: 5_000))
            gateway.submit(fixture.batch(id: 2, .iosHTTP2, count: 1_000))
            await fixture.collector.waitForOutcomes(6_000)
            let left = fixture.collector.announcements.prefix(3).reduce(0, +)
            let outcomes = [1, 2].flatMap { fixture.collector.outcomes($0).values }
            #expect(outcomes.count { $0.outcomeClass == .accepted } == left)
            #expect(outcomes.allSatisfy { ($0.outcomeClass == .unprocessed) == $0.neverLeft })
            #expect(outcomes.allSatisfy { !$0.neverLeft || $0.reason == "NotSent" })
            #expect(fixture.collector.twice.isEmpty)
            #expect(fixture.simulator.counters().apns.accepted == left)
            // Later messages leave, if they may.
            fixture.collector.decide { _ in true }
            gateway.submit(fixture.batch(id: 3, .iosHTTP2, count: 50))
            await fixture.collector.waitForOutcomes(6_050)
            #expect(fixture.collector.classes(3) == [.accepted: 50])
            await gateway.shutdown()
        }
    }

    @Test("A message withdrawn before it left is never left; one refused by the gateway is not")
    func neverLeft() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.goAway = GoAwayFault(afterStreams: 20, reason: "Shutdown")
            try fixture.simulator.setFaults(plan, for: .apns)
            let gateway = try await fixture.gateway(.iosHTTP2)
            gateway.submit(fixture.batch(id: 1, .iosHTTP2, count: 200))
            await fixture.collector.waitForOutcomes(200)
            for outcome in fixture.collector.outcomes(1).values where outcome.outcomeClass == .unprocessed {
                #expect(!outcome.neverLeft, "\(outcome)")
            }
            await gateway.shutdown()
        }
    }

    @Test("Doubtful answers are marked")
    func doubtful() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            let tokens = [Fixture.token(1), "zz-no-token"]
            gateway.submit(fixture.batch(.iosHTTP2, count: 2, tokens: tokens))
            await fixture.collector.waitForOutcomes(2)
            let outcomes = fixture.collector.outcomes(1)
            #expect(outcomes[0]?.isTokenDoubtful == false)
            #expect(outcomes[1]?.reason == "BadDeviceToken")
            #expect(outcomes[1]?.isTokenDoubtful == true)
            await gateway.shutdown()
        }
    }
}
