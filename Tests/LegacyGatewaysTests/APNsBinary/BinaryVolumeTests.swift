import Foundation
import GatewaySimulator
import GatewayTestSupport
import Gateways
import PushCore
import Testing

@testable import LegacyGateways

@Suite("The binary protocol in volume", .serialized, .timeLimit(.minutes(10)))
struct BinaryVolumeTests {
    /// Error packets drive these tests, so only their end waits for silence, which is longer than any machine delays a
    /// packet.
    private static let silence = 4_000

    @Test(
        "20,000 messages through an error packet every 1,000: none lost, none twice",
        arguments: [7, 8, 128] as [UInt8]
    )
    func errorPackets(_ status: UInt8) async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.errorPackets = ErrorPacketFault(every: 1_000, status: status)
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            let gateway = try await fixture.binaryGateway(presumedAcceptedMilliseconds: Self.silence)
            let batch = fixture.binaryBatch(count: 20_000)
            let (outcomes, doubts) = await fixture.collector.deliver(batch, through: gateway)
            #expect(outcomes.count == 20_000 && doubts == 0)
            let refused = outcomes.filter { $0.outcomeClass == .permanent }
            #expect(refused.count == 20 && refused.allSatisfy { $0.status == Int16(status) })
            #expect(outcomes.count { $0.outcomeClass == .accepted } == 19_980)
            #expect(fixture.collector.twice.isEmpty)
            for (row, outcome) in outcomes.enumerated() {
                let times = fixture.simulator.occurrences(of: batch.messageIDs[row])
                #expect(times == (outcome.outcomeClass == .accepted ? 1 : 0))
            }
            #expect(fixture.simulator.counters().apnsBinary.duplicates == 0)
            await gateway.shutdown()
        }
    }

    @Test(
        "A gateway that closes right after its packet, so that a reset follows at once: none lost, none twice"
    )
    func resets() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.errorPackets = ErrorPacketFault(every: 500, status: 8)
            plan.closesAtOnce = true
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            let gateway = try await fixture.binaryGateway(connections: 2, presumedAcceptedMilliseconds: Self.silence)
            let batch = fixture.binaryBatch(count: 10_000)
            let (outcomes, doubts) = await fixture.collector.deliver(batch, through: gateway)
            #expect(outcomes.count == 10_000)
            #expect(outcomes.count { $0.reason == "InvalidToken" } == 20)
            #expect(outcomes.count { $0.outcomeClass == .accepted } == 9_980)
            #expect(doubts == 0, "each packet was heard before the reset")
            // The simulator counts a reset after its packet has left.
            let deadline = ContinuousClock.now.advanced(by: .seconds(60))
            while fixture.simulator.counters().apnsBinary.resets < 20, ContinuousClock.now < deadline {
                await Task.yield()
            }
            let counters = fixture.simulator.counters().apnsBinary
            #expect(counters.resets == 20 && counters.duplicates == 0)
            await gateway.shutdown()
        }
    }

    @Test("A message on which the gateway fails is tried again; over several connections at once")
    func processingErrors() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.errorPackets = ErrorPacketFault(every: 500, status: 1)
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            let gateway = try await fixture.binaryGateway(connections: 3, presumedAcceptedMilliseconds: Self.silence)
            let batch = fixture.binaryBatch(count: 10_000)
            let (outcomes, doubts) = await fixture.collector.deliver(batch, through: gateway)
            #expect(outcomes.count == 10_000 && doubts == 0)
            #expect(outcomes.count { $0.outcomeClass == .retry && $0.reason == "ProcessingError" } == 20)
            #expect(outcomes.count { $0.outcomeClass == .accepted } == 9_980)
            #expect(fixture.simulator.counters().apnsBinary.duplicates == 0)
            await gateway.shutdown()
        }
    }

    @Test("Broken connections, error packets and shutdowns together: only ambiguous messages can arrive twice")
    func chaos() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.errors = [ErrorRate(reason: "InvalidToken", rate: 0.002), ErrorRate(reason: "Shutdown", rate: 0.001)]
            plan.resetAfterStreams = 700
            plan.unansweredAcceptedShare = 0.5
            plan.latency = .uniform(from: 0, to: 20)
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            let gateway = try await fixture.binaryGateway(connections: 2, presumedAcceptedMilliseconds: Self.silence)
            let batch = fixture.binaryBatch(count: 4_000)
            let (outcomes, doubts) = await fixture.collector.deliver(batch, through: gateway)
            #expect(outcomes.count == 4_000)
            #expect(fixture.collector.twice.isEmpty)
            var twice = 0
            for (row, outcome) in outcomes.enumerated() {
                let times = fixture.simulator.occurrences(of: batch.messageIDs[row])
                if outcome.outcomeClass == .accepted { #expect(times >= 1, "lost") }
                if times > 1 { twice += times - 1 }
            }
            #expect(twice <= doubts, "\(twice) duplicates, \(doubts) doubts")
            await gateway.shutdown()
        }
    }

    @Test("A list with many bad tokens does not send each message over and over")
    func manyBadTokens() async throws {
        try await Fixture.run { fixture in
            let bad = stride(from: 0, to: 2_000, by: 20).map { Fixture.token(1 << 32 | UInt64($0)) }
            fixture.simulator.setDevices(bad, to: .badDeviceToken)
            // The window is short after a bad token and doubles with each silence.
            let gateway = try await fixture.binaryGateway()
            let batch = fixture.binaryBatch(count: 2_000)
            let (outcomes, _) = await fixture.collector.deliver(batch, through: gateway)
            #expect(outcomes.count { $0.outcomeClass == .accepted } == 1_900)
            #expect(outcomes.count { $0.reason == "InvalidToken" } == 100)
            let sent = fixture.collector.announcements.reduce(0, +)
            #expect(sent < 8 * 2_000, "\(sent) sends for 2,000 messages")
            await gateway.shutdown()
        }
    }
}
