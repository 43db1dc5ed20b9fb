import Foundation
import GatewaySimulator
import GatewayTestSupport
import PushCore
import Testing

@testable import Gateways

@Suite("FCM HTTP v1", .timeLimit(.minutes(2)))
struct FCMv1GatewayTests {
    @Test(
        "A thousand messages are accepted, each once, with their names",
        arguments: [Connector.androidV1, .androidV2]
    )
    func thousand(_ connector: Connector) async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(connector, connections: 4)
            let batch = fixture.batch(connector, count: 1_000)
            gateway.submit(batch)
            await fixture.collector.waitForOutcomes(1_000)
            #expect(fixture.collector.classes(1) == [.accepted: 1_000])
            #expect(fixture.collector.twice.isEmpty)
            #expect(batch.messageIDs.allSatisfy { fixture.simulator.occurrences(of: $0) == 1 })
            let names = Set(fixture.collector.outcomes(1).values.compactMap(\.gatewayMessageID))
            #expect(names.count == 1_000)
            #expect(names.allSatisfy { $0.hasPrefix("0:") }, "the project's part of a name is the same for all")
            let counters = fixture.simulator.counters().fcm
            // A slow machine may need more connections, if the connector has several.
            #expect((1...(connector == .androidV1 ? 1 : 4)).contains(counters.connectionsOpened))
            #expect(counters.highestConcurrentStreams <= 100)
            await gateway.shutdown()
        }
    }

    @Test(
        "Every error arrives in its class",
        arguments: [
            ("INVALID_ARGUMENT", "INVALID_ARGUMENT", 400, OutcomeClass.permanent, TokenEffect.none, nil),
            ("UNREGISTERED", "UNREGISTERED", 404, .permanent, .invalid(sinceMilliseconds: nil), nil),
            ("SENDER_ID_MISMATCH", "SENDER_ID_MISMATCH", 403, .permanent, .softError, nil),
            ("QUOTA_EXCEEDED", "QUOTA_EXCEEDED", 429, .retry, .none, 60_000),
            ("UNAVAILABLE", "UNAVAILABLE", 503, .retry, .none, 10_000),
            ("INTERNAL", "INTERNAL", 500, .retry, .none, 10_000),
            ("THIRD_PARTY_AUTH_ERROR", "THIRD_PARTY_AUTH_ERROR", 401, .retry, .none, 300_000),
            ("UNAUTHENTICATED", "UNAUTHENTICATED", 401, .unprocessed, .none, nil),
            ("PERMISSION_DENIED", "PERMISSION_DENIED", 403, .stopApplication, .none, nil),
            ("RATE_LIMIT_EXCEEDED", "RATE_LIMIT_EXCEEDED", 429, .retry, .none, 60_000),
            ("BAD_GATEWAY", "", 502, .retry, .none, 10_000),
            ("NOT_FOUND", "", 404, .retry, .none, nil),
        ] as [(String, String, Int16, OutcomeClass, TokenEffect, Int32?)]
    )
    func everyError(
        _ fault: String,
        _ reason: String,
        _ status: Int16,
        _ outcomeClass: OutcomeClass,
        _ token: TokenEffect,
        _ delay: Int32?
    ) async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.errors = [ErrorRate(reason: fault, rate: 1)]
            try fixture.simulator.setFaults(plan, for: .fcm)
            let gateway = try await fixture.gateway(.androidV1)
            gateway.submit(fixture.batch(.androidV1, count: 1))
            await fixture.collector.waitForOutcomes(1)
            let outcome = try #require(fixture.collector.outcomes(1)[0])
            #expect(outcome.status == status)
            #expect(outcome.reason == reason)
            #expect(outcome.outcomeClass == outcomeClass)
            #expect(outcome.tokenEffect == token)
            #expect(outcome.retryAfterMilliseconds == delay)
            #expect(outcome.applicationWide == ["PERMISSION_DENIED", "RATE_LIMIT_EXCEEDED"].contains(fault))
            if fault == "RATE_LIMIT_EXCEEDED" { try await fixture.collector.waitForEvent(.applicationThrottled) }
            if fault == "PERMISSION_DENIED" { try await fixture.collector.waitForEvent(.applicationStopped) }
            await gateway.shutdown()
        }
    }

    @Test("The gateway's Retry-After takes precedence")
    func retryAfter() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.errors = [ErrorRate(reason: "UNAVAILABLE", rate: 1, retryAfter: "7")]
            try fixture.simulator.setFaults(plan, for: .fcm)
            let gateway = try await fixture.gateway(.androidV1)
            gateway.submit(fixture.batch(.androidV1, count: 1))
            await fixture.collector.waitForOutcomes(1)
            #expect(fixture.collector.outcomes(1)[0]?.retryAfterMilliseconds == 7_000)
            await gateway.shutdown()
        }
    }

    @Test("A malformed token costs the token, a mismatched sender does not")
    func devices() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.androidV2, connections: 2)
            let tokens = ["good", "gone", "bad", "other"]
            fixture.simulator.setDevice("gone", to: .unregistered(sinceMilliseconds: 0))
            fixture.simulator.setDevice("bad", to: .badDeviceToken)
            fixture.simulator.setDevice("other", to: .deviceTokenNotForTopic)
            gateway.submit(fixture.batch(.androidV2, count: 4, tokens: tokens))
            await fixture.collector.waitForOutcomes(4)
            let outcomes = fixture.collector.outcomes(1)
            #expect(outcomes[0]?.outcomeClass == .accepted)
            #expect(outcomes[1]?.tokenEffect == .invalid(sinceMilliseconds: nil))
            #expect(outcomes[2]?.reason == "INVALID_ARGUMENT")
            #expect(outcomes[2]?.tokenEffect == .invalid(sinceMilliseconds: nil))
            #expect(outcomes[3]?.outcomeClass == .permanent)
            // Five of these, days apart, would: the device may belong to another project permanently.
            #expect(outcomes[3]?.tokenEffect == .softError)
            await gateway.shutdown()
        }
    }

    @Test("401: a new access token is fetched, once")
    func unauthenticated() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.errors = [ErrorRate(reason: "UNAUTHENTICATED", rate: 1)]
            try fixture.simulator.setFaults(plan, for: .fcm)
            let gateway = try await fixture.gateway(.androidV1)
            gateway.submit(fixture.batch(id: 1, .androidV1, count: 1))
            await fixture.collector.waitForOutcomes(1)
            try fixture.simulator.setFaults(FaultPlan(), for: .fcm)
            gateway.submit(fixture.batch(id: 2, .androidV1, count: 100))
            await fixture.collector.waitForOutcomes(101)
            #expect(fixture.collector.classes(2) == [.accepted: 100])
            #expect(fixture.collector.events.filter { $0.kind == .tokenRenewed }.count == 2)
            await gateway.shutdown()
        }
    }

    @Test("401 despite a fresh access token stops the application")
    func unauthenticatedAgain() async throws {
        try await Fixture.run { fixture in
            var plan = FaultPlan()
            plan.errors = [ErrorRate(reason: "UNAUTHENTICATED", rate: 1)]
            try fixture.simulator.setFaults(plan, for: .fcm)
            let gateway = try await fixture.gateway(.androidV1)
            gateway.submit(fixture.batch(id: 1, .androidV1, count: 1))
            gateway.submit(fixture.batch(id: 2, .androidV1, count: 500))
            await fixture.collector.waitForOutcomes(501)
            let classes = fixture.collector.classes(2)
            // One window of streams was on the wire, and one may have followed before the answer was processed.
            #expect((classes[.unprocessed] ?? 0) <= 200)
            #expect((classes[.unprocessed] ?? 0) + (classes[.stopApplication] ?? 0) == 500)
            let event = try await fixture.collector.waitForEvent(.applicationStopped)
            #expect(event.status == 401)
            await gateway.shutdown()
        }
    }

    @Test("A deleted service account stops the application with the endpoint's text")
    func accountRefused() async throws {
        try await Fixture.run { fixture in
            fixture.simulator.revokeKey(true, for: .fcm)
            let gateway = try await fixture.gateway(.androidV1)
            gateway.submit(fixture.batch(.androidV1, count: 20))
            await fixture.collector.waitForOutcomes(20)
            #expect(fixture.collector.classes(1) == [.stopApplication: 20])
            #expect(fixture.collector.outcomes(1)[0]?.reason == "invalid_grant")
            let event = try await fixture.collector.waitForEvent(.applicationStopped)
            #expect(event.reason == "invalid_grant")
            #expect(event.message.contains("Invalid JWT Signature"))
            #expect(event.message.contains("project \(fixture.simulator.credentials.projectID)"))
            await gateway.shutdown()
        }
    }

    @Test("An unreachable token endpoint is an event; messages wait and can be withdrawn")
    func endpointUnreachable() async throws {
        try await Fixture.run { fixture in
            // A port of the simulator that nothing listens on any more.
            let closed = try await ClosedPort.find()
            let json = fixture.simulator.credentials.serviceAccountJSON.replacing(
                ":\(fixture.simulator.oauthPort)",
                with: ":\(closed)"
            )
            let gateway = try await fixture.gateway(.androidV1, credential: .serviceAccount(json: Array(json.utf8)))
            gateway.submit(fixture.batch(.androidV1, count: 30))
            let event = try await fixture.collector.waitForEvent(.tokenUnavailable)
            #expect(event.message.contains("127.0.0.1:\(closed)"))
            #expect(event.retryInMilliseconds != nil)
            #expect(await gateway.status().queued == 30)
            #expect(fixture.collector.outcomes(1).isEmpty)
            gateway.cancelQueued()
            await fixture.collector.waitForOutcomes(30)
            #expect(fixture.collector.classes(1) == [.unprocessed: 30])
            await gateway.shutdown()
        }
    }
}
