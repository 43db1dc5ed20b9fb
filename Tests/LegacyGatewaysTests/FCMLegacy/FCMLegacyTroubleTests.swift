import GatewaySimulator
import GatewayTestSupport
import Gateways
import HTTP2
import PushCore
import Testing

@Suite("Legacy FCM in trouble", .timeLimit(.minutes(2)))
struct FCMLegacyTroubleTests {
    @Test("An unreachable gateway is an event; nothing is announced, messages wait and can be withdrawn")
    func unreachable() async throws {
        try await Fixture.run { fixture in
            let port = try await ClosedPort.find()
            let gateway = try fixture.legacyGateway(port: port)
            try await gateway.start()
            gateway.submit(fixture.legacyBatch(count: 10))
            let event = try await fixture.collector.waitForEvent(.unreachable)
            #expect(event.message.contains("127.0.0.1:\(port)"))
            #expect(event.message.contains("connection refused"))
            #expect(event.message.contains("firewall"))
            #expect(event.retryInMilliseconds != nil)
            #expect(await gateway.status().queued == 10)
            #expect(fixture.collector.announcements.isEmpty)
            gateway.cancelQueued()
            await fixture.collector.waitForOutcomes(10)
            #expect(fixture.collector.classes(1) == [.unprocessed: 10])
            #expect(fixture.collector.outcomes(1).values.allSatisfy { $0.neverLeft && $0.reason == "NotSent" })
            await gateway.shutdown()
        }
    }

    @Test("An untrusted certificate has its own event, and nothing is sent")
    func untrusted() async throws {
        try await Fixture.run { fixture in
            // Another simulator's authority.
            try await Fixture.run { other in
                let gateway = try fixture.legacyGateway(caFile: other.simulator.caFile)
                try await gateway.start()
                gateway.submit(fixture.legacyBatch(count: 1))
                let event = try await fixture.collector.waitForEvent(.untrusted)
                #expect(event.message.contains("CA file"))
                #expect(fixture.collector.announcements.isEmpty)
                #expect(fixture.simulator.counters().fcmLegacy.connectionsOpened == 0)
                await gateway.shutdown()
                #expect(fixture.collector.classes(1) == [.unprocessed: 1])
            }
        }
    }

    @Test("An unreadable CA file makes the start fail")
    func noAuthorities() async throws {
        try await Fixture.run { fixture in
            let gateway = try fixture.legacyGateway(caFile: "/nonexistent/authorities.pem")
            await #expect(throws: (any Error).self) { try await gateway.start() }
            await gateway.shutdown()
        }
    }

    @Test(
        "A connection that breaks after a request arrived leaves it ambiguous, and it arrives once",
        arguments: [true, false]
    )
    func reset(_ isTaken: Bool) async throws {
        try await Fixture.run { fixture in
            // The third request of a connection, which was used twice, is read and never answered.
            try fixture.setLegacyFaults { plan in
                plan.resetAfterStreams = 3
                plan.unansweredAcceptedShare = isTaken ? 1 : 0
            }
            let gateway = try fixture.legacyGateway(.androidV1)
            try await gateway.start()
            let batch = fixture.legacyBatch(count: 30)
            gateway.submit(batch)
            await fixture.collector.waitForOutcomes(30)
            #expect(fixture.collector.classes(1) == [.accepted: 20, .ambiguous: 10])
            for outcome in fixture.collector.outcomes(1).values {
                let record = fixture.simulator.record(ofID: batch.messageIDs[Int(outcome.index)].description)
                #expect(record?.seen == 1)
                #expect(record?.accepted == (outcome.outcomeClass == .accepted || isTaken ? 1 : 0))
                if outcome.outcomeClass == .ambiguous { #expect(outcome.reason == "ConnectionLost") }
            }
            #expect(fixture.simulator.counters().fcmLegacy.connectionsOpened == 10)
            try await fixture.collector.waitForEvent(.connectionLost)
            await gateway.shutdown()
        }
    }

    @Test("No answer in time is ambiguous, and the next message has its own connection")
    func stall() async throws {
        try await Fixture.run { fixture in
            try fixture.setLegacyFaults { $0.stallsUntilCleared = true }
            let gateway = try fixture.legacyGateway(.androidV1) { $0.connections.requestTimeoutMilliseconds = 300 }
            try await gateway.start()
            gateway.submit(fixture.legacyBatch(id: 1, count: 1))
            await fixture.collector.waitForOutcomes(1)
            #expect(fixture.collector.outcomes(1)[0]?.outcomeClass == .ambiguous)
            #expect(fixture.collector.outcomes(1)[0]?.reason == "Timeout")
            #expect(fixture.collector.outcomes(1)[0]?.failure == MessageFailure(.soft, .unreachable))
            try fixture.setLegacyFaults { _ in }
            gateway.submit(fixture.legacyBatch(id: 2, count: 1))
            await fixture.collector.waitForOutcomes(2)
            #expect(fixture.collector.classes(2) == [.accepted: 1])
            await gateway.shutdown()
        }
    }

    @Test("Messages that must not leave return as never left, and the gateway has seen none of them")
    func refused() async throws {
        try await Fixture.run { fixture in
            fixture.collector.decide { $0 <= 3 }
            let gateway = try fixture.legacyGateway()
            try await gateway.start()
            gateway.submit(fixture.legacyBatch(id: 1, count: 500))
            gateway.submit(fixture.legacyBatch(id: 2, count: 2_000, isShared: true))
            await fixture.collector.waitForOutcomes(2_500)
            let left = fixture.collector.announcements.prefix(3).reduce(0, +)
            let outcomes = [1, 2].flatMap { fixture.collector.outcomes($0).values }
            #expect(outcomes.count { $0.outcomeClass == .accepted } == left)
            #expect(outcomes.allSatisfy { ($0.outcomeClass == .unprocessed) == $0.neverLeft })
            #expect(fixture.collector.twice.isEmpty)
            #expect(fixture.simulator.counters().fcmLegacy.accepted == left)
            // Later messages leave, if they may.
            fixture.collector.decide { _ in true }
            gateway.submit(fixture.legacyBatch(id: 3, count: 50))
            await fixture.collector.waitForOutcomes(2_550)
            #expect(fixture.collector.classes(3) == [.accepted: 50])
            await gateway.shutdown()
        }
    }

    @Test("Shutdown resolves every message, those on the wire by their answers")
    func shutdown() async throws {
        try await Fixture.run { fixture in
            try fixture.setLegacyFaults { $0.latency = .fixed(milliseconds: 30) }
            let gateway = try fixture.legacyGateway()
            try await gateway.start()
            let batch = fixture.legacyBatch(count: 3_000)
            gateway.submit(batch)
            await fixture.collector.waitForOutcomes(10)
            await gateway.shutdown()
            let classes = fixture.collector.classes(1)
            #expect((classes[.accepted] ?? 0) + (classes[.unprocessed] ?? 0) == 3_000)
            #expect(fixture.collector.twice.isEmpty)
            #expect(fixture.simulator.counters().fcmLegacy.accepted == classes[.accepted])
            #expect(await gateway.status() == GatewayStatus())
        }
    }

    @Test("Messages submitted before the start wait for it")
    func beforeStart() async throws {
        try await Fixture.run { fixture in
            let gateway = try fixture.legacyGateway()
            gateway.submit(fixture.legacyBatch(count: 10))
            #expect(await gateway.status().queued == 10)
            try await gateway.start()
            await fixture.collector.waitForOutcomes(10)
            #expect(fixture.collector.classes(1) == [.accepted: 10])
            await gateway.shutdown()
        }
    }

    @Test("A gateway that comes up late gets the waiting messages, and this is reported")
    func late() async throws {
        try await Fixture.run { fixture in
            let port = try await ClosedPort.find()
            let gateway = try fixture.legacyGateway(port: port)
            try await gateway.start()
            gateway.submit(fixture.legacyBatch(count: 100))
            try await fixture.collector.waitForEvent(.unreachable)
            var options = GatewaySimulatorOptions(stateFolder: fixture.folder)
            options.fcmLegacyPort = port
            let second = try await GatewaySimulator.start(options)
            await fixture.collector.waitForOutcomes(100)
            #expect(fixture.collector.classes(1) == [.accepted: 100])
            try await fixture.collector.waitForEvent(.recovered)
            #expect(second.counters().fcmLegacy.duplicates == 0)
            await gateway.shutdown()
            await second.stop()
        }
    }
}
