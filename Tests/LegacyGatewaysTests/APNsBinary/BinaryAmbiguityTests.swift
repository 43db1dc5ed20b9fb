import Foundation
import GatewayTestSupport
import Gateways
import PushCore
import Testing

@testable import GatewaySimulator
@testable import LegacyGateways

/// What is certain and what is not when the binary gateway answers little, late, or never.
@Suite("Certainty and ambiguity in the binary protocol", .serialized, .timeLimit(.minutes(3)))
struct BinaryAmbiguityTests {
    @Test("A gateway that shuts down before it accepted anything leaves nothing ambiguous: all is sent again")
    func tookNothing() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.errorPackets = ErrorPacketFault(every: 1, status: 10)
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            let gateway = try await fixture.binaryGateway()
            let batch = fixture.binaryBatch(count: 300)
            gateway.submit(batch)
            await fixture.collector.waitForOutcomes(300)
            let outcomes = fixture.collector.outcomes(1).values
            #expect(outcomes.allSatisfy { $0.outcomeClass == .unprocessed && $0.reason == "Discarded" })
            // It resolves no message: sending them again counts, so that this ends eventually.
            #expect(outcomes.allSatisfy { !$0.isCollateral && !$0.neverLeft })
            #expect(fixture.simulator.counters().apnsBinary.accepted == 0)
            try fixture.simulator.setFaults(FaultPlan(), for: .apnsBinary)
            let (final, doubts) = await fixture.collector.deliver(
                fixture.binaryBatch(id: 2, count: 300),
                through: gateway,
                ambiguousAreSentAgain: false
            )
            #expect(final.count == 300 && final.allSatisfy { $0.outcomeClass == .accepted } && doubts == 0)
            await gateway.shutdown()
        }
    }

    @Test("A gateway that hangs and dies: the operator learns how many messages were only presumed accepted")
    func diesSilently() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.freezes = true
            let gateway = try await fixture.binaryGateway(presumedAcceptedMilliseconds: 300)
            try await fixture.collector.waitForEvent(.connected)
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            await fixture.simulator.conditionsTaken()
            gateway.submit(fixture.binaryBatch(count: 120))
            await fixture.collector.waitForOutcomes(120)
            #expect(fixture.collector.outcomes(1).values.allSatisfy { $0.reason == "Silence" })
            #expect(fixture.collector.classes(1) == [.accepted: 120])
            #expect(!fixture.collector.events.contains { $0.kind == .unproved })
            fixture.simulator.dropConnections(.apnsBinary)
            let event = try await fixture.collector.waitForEvent(.unproved)
            #expect(event.reason == "Silence")
            #expect(event.message.contains("120 messages") && event.message.contains("presumedAcceptedMs"))
            #expect(event.remedy?.contains("nmac.binary.presumedAcceptedMs") == true)
            #expect(fixture.simulator.counters().apnsBinary.accepted == 0)
            await gateway.shutdown()
        }
    }

    @Test("An end that this side requested is not an event")
    func shutdownIsSilent() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.binaryGateway(presumedAcceptedMilliseconds: 300)
            gateway.submit(fixture.binaryBatch(count: 50))
            await fixture.collector.waitForOutcomes(50)
            await gateway.shutdown()
            #expect(!fixture.collector.events.contains { $0.kind == .unproved || $0.kind == .connectionLost })
        }
    }

    @Test("Through a proxy, whose acknowledgement proves less, silence has to last twice as long")
    func proxy() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.errorPackets = ErrorPacketFault(every: 10, status: 8)
            plan.latency = .fixed(milliseconds: 2_200)
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            let proxy = try await TestProxy()
            let gateway = try await fixture.binaryGateway(
                presumedAcceptedMilliseconds: 2_000,
                proxy: GatewayProxy(host: "127.0.0.1", port: proxy.port)
            )
            gateway.submit(fixture.binaryBatch(count: 15))
            await fixture.collector.waitForOutcomes(15)
            // The packet comes after the time that is set and before twice that time.
            #expect(fixture.collector.classes(1) == [.accepted: 9, .permanent: 1, .unprocessed: 5])
            await gateway.shutdown()
            try await proxy.stop()
            var options = try fixture.options(.iosBinary, port: 1)
            #expect(options.silenceMilliseconds == 5_000)
            options.proxy = GatewayProxy(host: "p", port: 2)
            #expect(options.silenceMilliseconds == 10_000)
            options.proxy?.direct = ["127.*"]
            #expect(options.silenceMilliseconds == 5_000)
            options.proxy?.direct = []
            options.binary.presumedAcceptedMs = .max
            #expect(options.silenceMilliseconds == .max)
        }
    }
}
