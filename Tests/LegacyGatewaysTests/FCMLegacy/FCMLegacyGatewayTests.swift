import GatewaySimulator
import GatewayTestSupport
import Gateways
import PushCore
import Testing

@Suite("Legacy FCM", .timeLimit(.minutes(2)))
struct FCMLegacyGatewayTests {
    @Test(
        "A thousand messages are accepted, each once, on as many connections as the connector has",
        arguments: [Connector.androidV1, .androidV2]
    )
    func thousand(_ connector: Connector) async throws {
        try await Fixture.run { fixture in
            let gateway = try fixture.legacyGateway(connector, connections: 4)
            #expect(gateway.limits.maxMessagesPerRequest == 1_000)
            try await gateway.start()
            let batch = fixture.legacyBatch(count: 1_000)
            gateway.submit(batch)
            await fixture.collector.waitForOutcomes(1_000)
            #expect(fixture.collector.classes(1) == [.accepted: 1_000])
            #expect(fixture.collector.twice.isEmpty)
            #expect(fixture.collector.announced(1, 1_000).allSatisfy { $0 == 1 })
            #expect(batch.messageIDs.allSatisfy { fixture.simulator.occurrences(of: $0) == 1 })
            let names = Set(fixture.collector.outcomes(1).values.compactMap(\.gatewayMessageID))
            #expect(names.count == 1_000)
            let opened = fixture.simulator.counters().fcmLegacy.connectionsOpened
            #expect(connector == .androidV1 ? opened == 1 : (2...4).contains(opened), "\(opened)")
            try await fixture.collector.waitForEvent(.connected)
            await gateway.shutdown()
        }
    }

    @Test("Messages with equal bodies share requests of up to a thousand, and each has its own result")
    func shared() async throws {
        try await Fixture.run { fixture in
            let gateway = try fixture.legacyGateway(.androidV1)
            try await gateway.start()
            let dead = Fixture.token(1 << 32 | 7)
            fixture.simulator.setDevice(dead, to: .unregistered(sinceMilliseconds: 0))
            let moved = Fixture.token(1 << 32 | 11)
            fixture.simulator.setDevice(moved, to: .replaced(by: "new:token_1"))
            gateway.submit(fixture.legacyBatch(count: 2_500, isShared: true))
            await fixture.collector.waitForOutcomes(2_500)
            #expect(fixture.collector.classes(1) == [.accepted: 2_499, .permanent: 1])
            #expect(fixture.collector.announcements == [1_000, 1_000, 500])
            #expect(fixture.collector.calls == 3)
            let outcomes = fixture.collector.outcomes(1)
            #expect(outcomes[7]?.reason == "NotRegistered")
            #expect(outcomes[7]?.tokenEffect == .invalid(sinceMilliseconds: nil))
            #expect(outcomes[7]?.failure == MessageFailure(.hard, .userUnknown))
            #expect(outcomes[11]?.tokenEffect == .replaced(by: "new:token_1"))
            #expect(outcomes.values.count { $0.tokenEffect != .none } == 2)
            let counters = fixture.simulator.counters().fcmLegacy
            #expect(counters.uniqueAccepted == 2_499)
            #expect(counters.duplicates == 0)
            await gateway.shutdown()
        }
    }

    @Test("A token that could be something other than a device is never put where FCM would read it as such")
    func topics() async throws {
        try await Fixture.run { fixture in
            let gateway = try fixture.legacyGateway()
            try await gateway.start()
            gateway.submit(fixture.legacyBatch(count: 3, tokens: ["/topics/news", "a\"b\\\u{1}ü", ""]))
            await fixture.collector.waitForOutcomes(3)
            #expect(
                fixture.collector.outcomes(1).values.allSatisfy { $0.status == 200 && $0.outcomeClass == .permanent }
            )
            #expect(fixture.collector.outcomes(1)[0]?.reason == "InvalidRegistration")
            #expect(fixture.collector.outcomes(1)[1]?.reason == "InvalidRegistration")
            #expect(fixture.simulator.counters().fcmLegacy.accepted == 0)
            await gateway.shutdown()
        }
    }

    @Test("A wrong key stops the application and says what to do", arguments: ["AAAA:wrong"])
    func wrongKey(_ key: String) async throws {
        try await Fixture.run { fixture in
            let gateway = try fixture.legacyGateway(key: key)
            try await gateway.start()
            gateway.submit(fixture.legacyBatch(count: 30))
            await fixture.collector.waitForOutcomes(30)
            #expect(fixture.collector.classes(1) == [.stopApplication: 30])
            #expect(fixture.collector.outcomes(1)[0]?.reason == "INVALID_KEY")
            #expect(fixture.collector.outcomes(1)[0]?.status == 401)
            let event = try await fixture.collector.waitForEvent(.applicationStopped)
            #expect(event.message.contains("project key"))
            #expect(!event.message.contains(key))
            #expect(fixture.collector.events.count { $0.kind == .applicationStopped } == 1)
            await gateway.shutdown()
        }
    }

    @Test("Google's current answer stops the application and names the remedy; afterwards sending resumes")
    func deprecated() async throws {
        try await Fixture.run { fixture in
            try fixture.setLegacyFaults { $0.errors = [ErrorRate(reason: "DeprecatedApi", rate: 1)] }
            let gateway = try fixture.legacyGateway()
            try await gateway.start()
            gateway.submit(fixture.legacyBatch(id: 1, count: 5, isShared: true))
            await fixture.collector.waitForOutcomes(5)
            #expect(fixture.collector.classes(1) == [.stopApplication: 5])
            let event = try await fixture.collector.waitForEvent(.applicationStopped)
            #expect(event.reason == "DeprecatedApi")
            #expect(event.message.contains("service account"))
            try fixture.setLegacyFaults { _ in }
            gateway.submit(fixture.legacyBatch(id: 2, count: 5))
            await fixture.collector.waitForOutcomes(10)
            #expect(fixture.collector.classes(2) == [.accepted: 5])
            try await fixture.collector.waitForEvent(.recovered)
            await gateway.shutdown()
        }
    }

    @Test("An invalid project key is refused", arguments: ["", " \n", "two words", "schlüssel"])
    func malformedKey(_ key: String) {
        let error = #expect(throws: GatewayCredentialError.self) { _ = try FCMProjectKey(key) }
        #expect(error?.message.contains("Firebase console") == true)
    }
}
