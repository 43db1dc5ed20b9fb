import Foundation
import GatewaySimulator
import GatewayTestSupport
import NIOPosix
import PushCore
import Testing

@testable import Gateways

@Suite("Gateways in trouble", .timeLimit(.minutes(2)))
struct GatewayTroubleTests {
    @Test("An unreachable gateway is an event; messages wait and can be withdrawn")
    func unreachable() async throws {
        try await Fixture.run { fixture in
            let port = try await ClosedPort.find()
            let gateway = try fixture.factory.make(
                connector: .iosHTTP2,
                credential: fixture.apnsCredential,
                topic: Fixture.topic,
                options: try fixture.options(.iosHTTP2, port: port),
                eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                delegate: fixture.collector
            )
            try await gateway.start()
            gateway.submit(fixture.batch(.iosHTTP2, count: 10))
            let event = try await fixture.collector.waitForEvent(.unreachable)
            #expect(event.message.contains("127.0.0.1:\(port)"))
            #expect(event.message.contains("connection refused"))
            #expect(event.message.contains("firewall"))
            #expect(event.retryInMilliseconds != nil)
            #expect(await gateway.status().queued == 10)
            gateway.cancelQueued()
            await fixture.collector.waitForOutcomes(10)
            #expect(fixture.collector.classes(1) == [.unprocessed: 10])
            await gateway.shutdown()
        }
    }

    @Test("An untrusted certificate has its own event")
    func untrusted() async throws {
        try await Fixture.run { fixture in
            // Another simulator's authority.
            try await Fixture.run { other in
                let gateway = try await fixture.gateway(.iosHTTP2, caFile: other.simulator.caFile)
                gateway.submit(fixture.batch(.iosHTTP2, count: 1))
                let event = try await fixture.collector.waitForEvent(.untrusted)
                #expect(event.message.contains("CA file"))
                #expect(fixture.simulator.counters().apns.accepted == 0)
                let fcm = try await fixture.gateway(.androidV1, caFile: other.simulator.caFile)
                let token = try await fixture.collector.waitForEvent(.tokenUnavailable)
                #expect(token.message.contains("certificate"))
                await fcm.shutdown()
                await gateway.shutdown()
            }
        }
    }

    @Test("An unreadable CA file makes the start fail")
    func noAuthorities() async throws {
        try await Fixture.run { fixture in
            await #expect(throws: (any Error).self) {
                _ = try await fixture.gateway(.iosHTTP2, caFile: "/nonexistent/authorities.pem")
            }
        }
    }

    @Test("GOAWAY with a reason about the application is reported at once, and messages wait")
    func fatalGoAway() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.goAway = GoAwayFault(afterStreams: 1, reason: "BadCertificateEnvironment")
            try fixture.simulator.setFaults(plan, for: .apns)
            let gateway = try await fixture.gateway(.iosHTTP2)
            gateway.submit(fixture.batch(id: 1, .iosHTTP2, count: 1))
            let event = try await fixture.collector.waitForEvent(.applicationStopped)
            #expect(event.reason == "BadCertificateEnvironment")
            #expect(event.message.contains("other environment"))
            try fixture.simulator.setFaults(FaultPlan(), for: .apns)
            gateway.submit(fixture.batch(id: 2, .iosHTTP2, count: 10))
            await fixture.collector.waitForOutcomes(11)
            // A GOAWAY of the old plan may still meet some of them.
            let classes = fixture.collector.classes(2)
            #expect((classes[.accepted] ?? 0) + (classes[.unprocessed] ?? 0) == 10)
            await gateway.shutdown()
        }
    }

    @Test("GOAWAY in the middle: every message is accepted or certainly unprocessed")
    func goAway() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.goAway = GoAwayFault(afterStreams: 100, unprocessed: 10, reason: "Shutdown")
            try fixture.simulator.setFaults(plan, for: .apns)
            let gateway = try await fixture.gateway(.iosHTTP2)
            gateway.submit(fixture.batch(.iosHTTP2, count: 500))
            await fixture.collector.waitForOutcomes(500)
            let classes = fixture.collector.classes(1)
            #expect((classes[.accepted] ?? 0) + (classes[.unprocessed] ?? 0) == 500)
            #expect((classes[.unprocessed] ?? 0) > 0)
            let reasons = Set(fixture.collector.outcomes(1).values.map(\.reason))
            #expect(reasons == ["", "GOAWAY"])
            #expect(fixture.simulator.counters().apns.accepted == classes[.accepted])
            #expect(try await fixture.collector.waitForEvent(.goAway).reason == "Shutdown")
            await gateway.shutdown()
        }
    }

    @Test("A broken connection leaves ambiguous messages, and reports it")
    func reset() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.resetAfterStreams = 200
            try fixture.simulator.setFaults(plan, for: .apns)
            let gateway = try await fixture.gateway(.iosHTTP2)
            gateway.submit(fixture.batch(.iosHTTP2, count: 400))
            await fixture.collector.waitForOutcomes(400)
            let outcomes = fixture.collector.outcomes(1).values
            #expect(outcomes.contains { $0.outcomeClass == .ambiguous && $0.reason == "ConnectionLost" })
            #expect(Set(outcomes.map(\.outcomeClass)).isSubset(of: [.accepted, .ambiguous, .unprocessed]))
            try await fixture.collector.waitForEvent(.connectionLost)
            await gateway.shutdown()
        }
    }

    @Test("Shutdown resolves every message, and later ones return at once")
    func shutdown() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            gateway.submit(fixture.batch(id: 1, .iosHTTP2, count: 5_000))
            await fixture.collector.waitForOutcomes(10)
            await gateway.shutdown()
            let classes = fixture.collector.classes(1)
            #expect((classes[.accepted] ?? 0) + (classes[.unprocessed] ?? 0) == 5_000)
            #expect(fixture.collector.twice.isEmpty)
        }
    }

    @Test("Messages submitted before the start wait for it")
    func beforeStart() async throws {
        try await Fixture.run { fixture in
            let gateway = try fixture.factory.make(
                connector: .iosHTTP2,
                credential: fixture.apnsCredential,
                topic: Fixture.topic,
                options: try fixture.options(.iosHTTP2, port: fixture.simulator.apnsPort),
                eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                delegate: fixture.collector
            )
            gateway.submit(fixture.batch(id: 1, .iosHTTP2, count: 10))
            #expect(await gateway.status().queued == 10)
            try await gateway.start()
            await fixture.collector.waitForOutcomes(10)
            #expect(fixture.collector.classes(1) == [.accepted: 10])
            await gateway.shutdown()
        }
    }

    @Test("A connector takes only its own kind of credential")
    func credentialKinds() async throws {
        try await Fixture.run { fixture in
            for connector in Connector.allCases {
                for credential in [fixture.apnsCredential, fixture.serviceAccount] {
                    let fits =
                        switch (connector, credential) {
                        case (.iosHTTP2, .apnsTokenKey), (.androidV1, .serviceAccount), (.androidV2, .serviceAccount):
                            true
                        default: false
                        }
                    if fits { continue }
                    let error = #expect(throws: GatewayCredentialError.self) {
                        _ = try fixture.factory.make(
                            connector: connector,
                            credential: credential,
                            topic: Fixture.topic,
                            options: try fixture.options(connector, port: 1),
                            eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                            delegate: fixture.collector
                        )
                    }
                    #expect(error?.code == .wrongKind)
                }
            }
        }
    }
}
