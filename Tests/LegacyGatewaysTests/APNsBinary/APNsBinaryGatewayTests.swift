import Foundation
import GatewaySimulator
import GatewayTestSupport
import Gateways
import NIOPosix
import PushCore
import TestSupport
import Testing

@testable import LegacyGateways

@Suite("APNs over the binary protocol", .serialized, .timeLimit(.minutes(3)))
struct APNsBinaryGatewayTests {
    @Test("Messages are accepted in silence, each once", arguments: [1, 3])
    func accepted(_ connections: Int) async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.binaryGateway(connections: connections)
            for _ in 0..<connections { try await fixture.collector.waitForEvent(.connected) }
            let batches = (1...4).map { fixture.binaryBatch(id: $0, count: 250) }
            for batch in batches { gateway.submit(batch) }
            await fixture.collector.waitForOutcomes(1_000)
            for batch in batches {
                #expect(fixture.collector.classes(batch.id) == [.accepted: 250])
                #expect(fixture.acceptances(batch).allSatisfy { $0 == 1 })
                #expect(
                    fixture.collector.outcomes(batch.id).values.allSatisfy {
                        $0.reason == "Silence" && $0.failure == nil && $0.status == 0
                    }
                )
                #expect(fixture.collector.announced(batch.id, 250).allSatisfy { $0 == 1 })
            }
            #expect(fixture.collector.twice.isEmpty)
            let status = await gateway.status()
            #expect(status.streamsInFlight == 0 && status.queued == 0 && status.connections == connections)
            #expect(fixture.simulator.counters().apnsBinary.accepted == 1_000)
            await gateway.shutdown()
        }
    }

    @Test(
        "Every status arrives in its class",
        arguments: AnswerTable.rows.filter { $0.gateway == .apnsBinary && $0.source == .response }
    )
    func everyStatus(_ row: AnswerRow) async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.errors = [ErrorRate(reason: row.reason.isEmpty ? "Undocumented" : row.reason, rate: 1)]
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            let gateway = try await fixture.binaryGateway()
            gateway.submit(fixture.binaryBatch(count: 1))
            await fixture.collector.waitForOutcomes(1)
            let outcome = try #require(fixture.collector.outcomes(1)[0])
            switch row.reason {
            case "Shutdown":
                // Nothing was accepted, so the packet names no message: this one is certainly sent again.
                #expect(outcome.outcomeClass == .unprocessed && outcome.reason == "Discarded")
                #expect(outcome.outcomeClass == row.outcomeClass && !outcome.isCollateral)
            case "NoErrors":
                #expect(outcome.outcomeClass == .accepted)
            default:
                #expect(outcome.outcomeClass == row.outcomeClass)
                #expect(outcome.status == (row.reason.isEmpty ? 77 : row.status))
                #expect(outcome.reason == (row.reason.isEmpty ? "Status 77" : row.reason))
                #expect(outcome.failure == row.failure)
                #expect(outcome.isTokenDoubtful == row.isDoubtful)
                #expect(outcome.applicationWide == (row.application == .stop))
            }
            if row.application == .stop {
                let event = try await fixture.collector.waitForEvent(.applicationStopped)
                #expect(event.status == row.status && event.message.contains(row.explanation))
            }
            try fixture.simulator.setFaults(FaultPlan(), for: .apnsBinary)
            await gateway.shutdown()
        }
    }

    @Test("An error packet resolves all earlier messages and discards later ones; the next connection gets those")
    func errorPacket() async throws {
        try await Fixture.run { fixture in
            fixture.simulator.setDevice(Fixture.token(1 << 32 | 100), to: .badDeviceToken)
            let gateway = try await fixture.binaryGateway()
            let batch = fixture.binaryBatch(count: 300)
            gateway.submit(batch)
            await fixture.collector.waitForOutcomes(300)
            let outcomes = fixture.collector.outcomes(1)
            #expect((0..<100).allSatisfy { outcomes[$0]?.outcomeClass == .accepted })
            #expect((0..<100).allSatisfy { outcomes[$0]?.reason == "" }, "the packet says it, and not silence")
            #expect(outcomes[100]?.reason == "InvalidToken")
            #expect(outcomes[100]?.tokenEffect == .invalid(sinceMilliseconds: nil))
            #expect(outcomes[100]?.isTokenDoubtful == true)
            #expect(outcomes[100]?.failure == .hardUserUnknown)
            for row in Int32(101)..<300 {
                #expect(outcomes[row]?.outcomeClass == .unprocessed && outcomes[row]?.isCollateral == true)
                #expect(outcomes[row]?.neverLeft == false)
            }
            #expect(fixture.acceptances(batch).reduce(0, +) == 100)
            gateway.submit(fixture.binaryBatch(id: 2, count: 50))
            await fixture.collector.waitForOutcomes(350)
            #expect(fixture.collector.classes(2) == [.accepted: 50])
            #expect(fixture.simulator.counters().apnsBinary.connectionsOpened == 2)
            await gateway.shutdown()
        }
    }

    @Test("Shutdown names the last good one: nothing is lost and nothing comes twice")
    func shutdownPacket() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.goAway = GoAwayFault(afterStreams: 40, unprocessed: 15)
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            let gateway = try await fixture.binaryGateway()
            let batch = fixture.binaryBatch(count: 500)
            let (outcomes, doubts) = await fixture.collector.deliver(batch, through: gateway)
            #expect(outcomes.count == 500 && outcomes.allSatisfy { $0.outcomeClass == .accepted } && doubts == 0)
            #expect(fixture.acceptances(batch).allSatisfy { $0 == 1 })
            let event = try await fixture.collector.waitForEvent(.goAway)
            #expect(event.reason == "Shutdown" && event.status == 10)
            #expect(fixture.simulator.counters().apnsBinary.goAways >= 500 / 40)
            await gateway.shutdown()
        }
    }

    @Test("A connection that breaks without an error packet leaves only its own messages ambiguous")
    func silentEnd() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.resetAfterStreams = 150
            plan.unansweredAcceptedShare = 0
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            let gateway = try await fixture.binaryGateway()
            let batch = fixture.binaryBatch(count: 200)
            gateway.submit(batch)
            await fixture.collector.waitForOutcomes(200)
            let outcomes = fixture.collector.outcomes(1).values
            #expect(outcomes.allSatisfy { $0.outcomeClass == .ambiguous && $0.reason == "ConnectionLost" })
            #expect(outcomes.allSatisfy { $0.failure == .softUnreachable })
            #expect(fixture.simulator.counters().apnsBinary.accepted == 149)
            try await fixture.collector.waitForEvent(.connectionLost)
            try fixture.simulator.setFaults(FaultPlan(), for: .apnsBinary)
            gateway.submit(fixture.binaryBatch(id: 2, count: 10))
            await fixture.collector.waitForOutcomes(210)
            #expect(fixture.collector.classes(2) == [.accepted: 10])
            await gateway.shutdown()
        }
    }

    @Test(
        "An error packet after the window of silence: the operator learns how many messages were presumed accepted"
    )
    func lateErrorPacket() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.errorPackets = ErrorPacketFault(every: 10, status: 8)
            plan.latency = .fixed(milliseconds: 1_500)
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            let gateway = try await fixture.binaryGateway(presumedAcceptedMilliseconds: 100)
            gateway.submit(fixture.binaryBatch(count: 15))
            await fixture.collector.waitForOutcomes(15)
            #expect(fixture.collector.classes(1) == [.accepted: 15])
            let event = try await fixture.collector.waitForEvent(.unproved)
            #expect(event.message.contains("6 messages") && event.message.contains("presumedAcceptedMs"))
            #expect(event.status == 8)
            await gateway.shutdown()
        }
    }

    @Test("A gateway that does not read stops the sender, and unacknowledged messages are never presumed accepted")
    func backPressure() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.freezes = true
            try fixture.simulator.setFaults(plan, for: .apnsBinary)
            let gateway = try await fixture.binaryGateway(presumedAcceptedMilliseconds: 200, sendAhead: 100_000)
            // 2 KB each: far more than sockets hold.
            var bodies = ByteColumn()
            var tokens = ByteColumn()
            var ids: [MessageUUID] = []
            let filler = String(repeating: "x", count: 1_900)
            for row in 0..<20_000 {
                let id = MessageUUID(high: 77, low: UInt64(row) + 1)
                ids.append(id)
                tokens.append(Fixture.token(UInt64(row)).utf8)
                bodies.append(#"{"aps":{"alert":"\#(filler)"},"_mId":"\#(id)"}"#.utf8)
            }
            let batch = GatewayRequestBatch(
                id: 1,
                tokens: tokens,
                messageIDs: ids,
                bodies: bodies,
                attributes: MessageAttributes()
            )
            gateway.submit(batch)
            // Bytes in sockets beyond the gateway's host are unknown; everything else waits. A sender that is not
            // stopped would have passed on everything by the time the first message is presumed accepted.
            await fixture.collector.waitForOutcomes(1)
            try await eventually("everything is queued, open or taken for accepted, and looks agree") {
                let status = await gateway.status()
                let presumed = fixture.collector.classes(1)[.accepted] ?? 0
                return status.queued > 5_000 && status.streamsInFlight > 0
                    && presumed + status.streamsInFlight + status.queued == 20_000
            }
            try fixture.simulator.setFaults(FaultPlan(), for: .apnsBinary)
            await fixture.collector.waitForOutcomes(20_000)
            #expect(fixture.collector.classes(1) == [.accepted: 20_000])
            // The acknowledged position is read a little later.
            try await eventually("the gateway has read all of it") {
                fixture.simulator.counters().apnsBinary.uniqueAccepted == 20_000
            }
            #expect(fixture.simulator.counters().apnsBinary.duplicates == 0)
            await gateway.shutdown()
        }
    }

    @Test("Messages that must not leave return as never left")
    func refusedDeparture() async throws {
        try await Fixture.run { fixture in
            fixture.collector.decide { $0 <= 2 }
            let gateway = try await fixture.binaryGateway()
            gateway.submit(fixture.binaryBatch(id: 1, count: 3_000))
            gateway.submit(fixture.binaryBatch(id: 2, count: 1_000))
            await fixture.collector.waitForOutcomes(4_000)
            let left = fixture.collector.announcements.prefix(2).reduce(0, +)
            let outcomes = [1, 2].flatMap { fixture.collector.outcomes($0).values }
            #expect(outcomes.count { $0.outcomeClass == .accepted } == left)
            #expect(outcomes.count { $0.neverLeft && $0.reason == "NotSent" } == 4_000 - left)
            #expect(fixture.simulator.counters().apnsBinary.accepted == left)
            #expect(fixture.collector.twice.isEmpty)
            fixture.collector.decide { _ in true }
            gateway.submit(fixture.binaryBatch(id: 3, count: 50))
            await fixture.collector.waitForOutcomes(4_050)
            #expect(fixture.collector.classes(3) == [.accepted: 50])
            await gateway.shutdown()
        }
    }

    @Test("Nothing exceeds the window, and shutdown waits for the silence of messages on the wire")
    func windowAndShutdown() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.binaryGateway(sendAhead: 100)
            gateway.submit(fixture.binaryBatch(id: 1, count: 1_000))
            await fixture.collector.waitForOutcomes(100)
            #expect(await gateway.status().streamsInFlight <= 100)
            await gateway.shutdown()
            let classes = fixture.collector.classes(1)
            #expect((classes[.accepted] ?? 0) + (classes[.unprocessed] ?? 0) == 1_000)
            #expect(classes[.accepted] == fixture.simulator.counters().apnsBinary.accepted)
            #expect(
                fixture.collector.outcomes(1).values.allSatisfy { ($0.outcomeClass == .unprocessed) == $0.neverLeft }
            )
            gateway.submit(fixture.binaryBatch(id: 2, count: 5))
            #expect(fixture.collector.twice.isEmpty)
        }
    }

    @Test("A message that the protocol cannot carry is refused here and does not affect others")
    func localRefusals() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.binaryGateway()
            let tokens = [Fixture.token(1), "no-hex", Fixture.token(2), "", Fixture.token(3)]
            gateway.submit(fixture.binaryBatch(id: 1, count: 5, tokens: tokens))
            gateway.submit(fixture.binaryBatch(id: 2, count: 2, attributes: MessageAttributes(pushType: .liveactivity)))
            await fixture.collector.waitForOutcomes(7)
            #expect(fixture.collector.classes(1) == [.accepted: 3, .permanent: 2])
            #expect(fixture.collector.announced(1, 5) == [1, 0, 1, 0, 1])
            #expect(fixture.collector.outcomes(2)[0]?.reason.contains("liveactivity") == true)
            #expect(fixture.simulator.counters().apnsBinary.rejectedTotal == 0)
            #expect(fixture.simulator.counters().apnsBinary.connectionsOpened == 1)
            await gateway.shutdown()
        }
    }

    @Test("Queued messages can be withdrawn; an unreachable gateway is an event")
    func unreachable() async throws {
        try await Fixture.run { fixture in
            let port = try await ClosedPort.find()
            let gateway = try await fixture.binaryGateway(port: port)
            gateway.submit(fixture.binaryBatch(count: 10))
            let event = try await fixture.collector.waitForEvent(.unreachable)
            #expect(event.message.contains("127.0.0.1:\(port)") && event.message.contains("connection refused"))
            #expect(event.retryInMilliseconds != nil)
            gateway.cancelQueued()
            await fixture.collector.waitForOutcomes(10)
            #expect(fixture.collector.classes(1) == [.unprocessed: 10])
            await gateway.shutdown()
        }
    }

    @Test("A certificate that the gateway refuses stops the application, and no message has left")
    func certificateRefused() async throws {
        try await Fixture.run { fixture in
            fixture.simulator.revokeKey(true, for: .apnsBinary)
            let gateway = try await fixture.binaryGateway()
            gateway.submit(fixture.binaryBatch(count: 5))
            let event = try await fixture.collector.waitForEvent(.applicationStopped)
            #expect(event.reason == "CertificateRefused" && event.message.contains("certificate"))
            #expect(fixture.collector.announcements.isEmpty)
            fixture.simulator.revokeKey(false, for: .apnsBinary)
            await fixture.collector.waitForOutcomes(5)
            #expect(fixture.collector.classes(1) == [.accepted: 5])
            try await fixture.collector.waitForEvent(.recovered)
            await gateway.shutdown()
        }
    }

    @Test("A certificate of the other environment, of an unknown issuer or without topics is refused in the handshake")
    func wrongCertificates() async throws {
        try await Fixture.run { fixture in
            let other = fixture.certificate(fixture.simulator.credentials.apnsOtherCertificateFile)
            let gateway = try await fixture.binaryGateway(credential: other)
            try await fixture.collector.waitForEvent(.applicationStopped)
            await gateway.shutdown()
            try await Fixture.run { stranger in
                let collector = Collector()
                let gateway = try await fixture.binaryGateway(
                    credential: stranger.apnsCertificate,
                    collector: collector
                )
                try await collector.waitForEvent(.applicationStopped)
                await gateway.shutdown()
            }
            let expired = fixture.certificate(fixture.simulator.credentials.apnsExpiredCertificateFile)
            await #expect(throws: GatewayCredentialError.self) {
                _ = try await fixture.binaryGateway(credential: expired)
            }
            await #expect(throws: GatewayCredentialError.self) {
                _ = try await fixture.binaryGateway(credential: fixture.apnsCredential)
            }
        }
    }

    @Test("An untrusted server, and one that requests no certificate")
    func untrusted() async throws {
        try await Fixture.run { fixture in
            // The port for OAuth speaks TLS and requests no certificate: it answers frames with nonsense.
            let gateway = try await fixture.binaryGateway(port: fixture.simulator.oauthPort)
            gateway.submit(fixture.binaryBatch(count: 3))
            await fixture.collector.waitForOutcomes(3)
            #expect(fixture.collector.outcomes(1).values.allSatisfy { $0.outcomeClass == .ambiguous })
            await gateway.shutdown()
        }
    }
}
