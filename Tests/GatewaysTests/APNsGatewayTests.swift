import Foundation
import GatewaySimulator
import GatewayTestSupport
import PushCore
import Testing

@testable import Gateways

@Suite("APNs over HTTP/2", .timeLimit(.minutes(2)))
struct APNsGatewayTests {
    @Test("A thousand messages are accepted, each once, and outcomes come in few calls", arguments: [1, 4])
    func thousand(_ connections: Int) async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2, connections: connections)
            let batches = (1...4).map { fixture.batch(id: $0, .iosHTTP2, count: 250) }
            for batch in batches { gateway.submit(batch) }
            await fixture.collector.waitForOutcomes(1_000)
            for batch in batches {
                #expect(fixture.collector.classes(batch.id) == [.accepted: 250])
                #expect(batch.messageIDs.allSatisfy { fixture.simulator.occurrences(of: $0) == 1 })
            }
            #expect(fixture.collector.twice.isEmpty)
            #expect(fixture.collector.calls < 500)
            let counters = fixture.simulator.counters().apns
            #expect(counters.accepted == 1_000)
            // A gateway that answers at once needs one connection; a slow machine may need more.
            #expect((1...connections).contains(counters.connectionsOpened))
            try await fixture.collector.waitForEvent(.connected)
            let status = await gateway.status()
            #expect(status.streamsInFlight == 0)
            #expect(status.queued == 0)
            await gateway.shutdown()
        }
    }

    @Test("Every reason arrives verbatim and in its class")
    func everyReason() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            let rows = AnswerTable.rows.filter {
                $0.gateway == .apnsHTTP2 && $0.source == .response && !$0.reason.isEmpty && $0.status != 200
                    && $0.condition.isEmpty
            }
            #expect(rows.count == 32)
            for (position, row) in rows.enumerated() {
                var plan = FaultPlan()
                plan.errors = [ErrorRate(reason: row.reason, rate: 1)]
                try fixture.simulator.setFaults(plan, for: .apns)
                let id = Int64(position) + 1
                gateway.submit(fixture.batch(id: id, .iosHTTP2, count: 1))
                await fixture.collector.waitForOutcomes(position + 1)
                let outcome = try #require(fixture.collector.outcomes(id)[0])
                #expect(outcome.status == row.status)
                #expect(outcome.reason == row.reason)
                // A token made in this second cannot be too old: the clock is wrong.
                let isYoungToken = row.reason == "ExpiredProviderToken"
                #expect(outcome.outcomeClass == (isYoungToken ? .stopApplication : row.outcomeClass), "\(row.reason)")
                switch (row.token, outcome.tokenEffect) {
                case (.none, .none), (.invalid, .invalid(nil)), (.softError, .softError): break
                case (.invalidSinceTimestamp, .invalid(.some(let since))): #expect(since > 1_600_000_000_000)
                default: Issue.record("\(row.reason): \(outcome.tokenEffect)")
                }
            }
            await gateway.shutdown()
        }
    }

    @Test("An answer about a push type's own topic concerns the delivery, or the token for that topic")
    func ownTopics() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            let rows = AnswerTable.rows.filter { $0.condition == AnswerTable.suffixedTopicCondition }
            #expect(rows.count == 6)
            var expected = 0
            for type in PushType.allCases where type != .background {
                for (position, row) in rows.enumerated() {
                    var plan = FaultPlan()
                    plan.errors = [ErrorRate(reason: row.reason, rate: 1)]
                    try fixture.simulator.setFaults(plan, for: .apns)
                    let id = Int64(expected) + 1
                    gateway.submit(
                        fixture.batch(id: id, .iosHTTP2, count: 1, attributes: MessageAttributes(pushType: type))
                    )
                    expected += 1
                    await fixture.collector.waitForOutcomes(expected)
                    let outcome = try #require(fixture.collector.outcomes(id)[0])
                    #expect(outcome.status == row.status && outcome.reason == row.reason, "\(type) \(position)")
                    let plain = AnswerTable.apns(status: row.status, reason: row.reason)
                    let meaning = type == .alert ? plain : row
                    #expect(outcome.outcomeClass == meaning.outcomeClass, "\(type) \(row.reason)")
                    #expect(outcome.applicationWide == (meaning.application == .stop), "\(type) \(row.reason)")
                    #expect(outcome.isTokenDoubtful == meaning.isDoubtful, "\(type) \(row.reason)")
                    if type != .alert { #expect(outcome.tokenEffect == .none, "\(type) \(row.reason)") }
                }
            }
            // Of alerts only: BadTopic and TopicDisallowed.
            let stops = fixture.collector.events.filter { $0.kind == .applicationStopped }
            #expect(Set(stops.map(\.reason)) == ["BadTopic", "TopicDisallowed"] && stops.count == 2)
            await gateway.shutdown()
        }
    }

    @Test("A token of another kind is refused for the topic, and stays valid for its own")
    func tokensOfTheirOwn() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            let token = Fixture.token(1)
            fixture.simulator.setDevice(token, to: .pushType("alert"))
            for (id, type) in [(1, PushType.alert), (2, .voip), (3, .liveactivity), (4, .alert)] as [(Int64, PushType)]
            {
                gateway.submit(
                    fixture.batch(
                        id: id,
                        .iosHTTP2,
                        count: 1,
                        tokens: [token],
                        attributes: MessageAttributes(pushType: type)
                    )
                )
                await fixture.collector.waitForOutcomes(Int(id))
            }
            for id in [1, 4] as [Int64] { #expect(fixture.collector.classes(id) == [.accepted: 1]) }
            for id in [2, 3] as [Int64] {
                let outcome = try #require(fixture.collector.outcomes(id)[0])
                #expect(outcome.reason == "DeviceTokenNotForTopic" && outcome.outcomeClass == .permanent)
                #expect(outcome.tokenEffect == .none)
            }
            await gateway.shutdown()
        }
    }

    @Test("An answer about a device comes with its time")
    func devices() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            let tokens = (0..<5).map { Fixture.token($0) }
            fixture.simulator.setDevice(tokens[0], to: .unregistered(sinceMilliseconds: 1_700_000_000_123))
            fixture.simulator.setDevice(tokens[1], to: .expired(sinceMilliseconds: 1_700_000_000_456))
            fixture.simulator.setDevice(tokens[2], to: .badDeviceToken)
            fixture.simulator.setDevice(tokens[3], to: .deviceTokenNotForTopic)
            gateway.submit(fixture.batch(.iosHTTP2, count: 5, tokens: tokens))
            await fixture.collector.waitForOutcomes(5)
            let outcomes = fixture.collector.outcomes(1)
            #expect(outcomes[0]?.tokenEffect == .invalid(sinceMilliseconds: 1_700_000_000_123))
            #expect(outcomes[1]?.tokenEffect == .invalid(sinceMilliseconds: 1_700_000_000_456))
            #expect(outcomes[2]?.reason == "BadDeviceToken")
            #expect(outcomes[3]?.reason == "DeviceTokenNotForTopic")
            #expect(outcomes[4]?.outcomeClass == .accepted)
            await gateway.shutdown()
        }
    }

    @Test("Headers: push type with its topic, priority, expiration, shared and individual collapse ids")
    func headers() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            let voip = MessageAttributes(pushType: .voip, priority: 10, expirationSeconds: 0, collapseID: "all")
            gateway.submit(fixture.batch(id: 1, .iosHTTP2, count: 3, attributes: voip))
            let wrong = MessageAttributes(pushType: .background, priority: 10, expirationSeconds: 3_600)
            gateway.submit(fixture.batch(id: 2, .iosHTTP2, count: 1, attributes: wrong))
            let long = String(repeating: "x", count: 65)
            let ids = ByteColumn(["a", nil, long, String(repeating: "x", count: 64)])
            gateway.submit(
                fixture.batch(
                    id: 3,
                    .iosHTTP2,
                    count: 4,
                    attributes: MessageAttributes(collapseID: long),
                    collapseIDs: ByteColumn(["a", "b", long, "c"])
                )
            )
            gateway.submit(fixture.batch(id: 4, .iosHTTP2, count: 4, collapseIDs: ids))
            await fixture.collector.waitForOutcomes(12)
            #expect(fixture.collector.classes(1) == [.accepted: 3])
            #expect(fixture.collector.outcomes(2)[0]?.reason == "BadPriority")
            for batch in [3, 4] as [Int64] {
                #expect(fixture.collector.classes(batch) == [.accepted: 3, .permanent: 1])
                #expect(fixture.collector.outcomes(batch)[2]?.reason == "BadCollapseId")
            }
            await gateway.shutdown()
        }
    }

    @Test(
        "Edge spaces and control characters of an id or a topic never reach a header; an invalid topic makes no gateway"
    )
    func uncleanHeaders() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2, topic: " \(Fixture.topic)\n")
            for (id, collapseID) in [(1, "sale "), (2, " sale"), (3, "a\nb")] as [(Int64, String)] {
                gateway.submit(
                    fixture.batch(id: id, .iosHTTP2, count: 2, attributes: MessageAttributes(collapseID: collapseID))
                )
            }
            await fixture.collector.waitForOutcomes(6)
            for id in 1...3 as ClosedRange<Int64> { #expect(fixture.collector.classes(id) == [.accepted: 2]) }
            await gateway.shutdown()
            for topic in ["com example.app", "com.exämple", "com.example\r\nx"] {
                await #expect(throws: GatewayCredentialError.self) {
                    _ = try await fixture.gateway(.iosHTTP2, topic: topic)
                }
            }
        }
    }

    @Test("A token that is 50 minutes old by the clock is replaced, on new connections")
    func renewal() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            gateway.submit(fixture.batch(id: 1, .iosHTTP2, count: 100))
            await fixture.collector.waitForOutcomes(100)
            fixture.clock.set(offset: 49 * 60)
            gateway.submit(fixture.batch(id: 2, .iosHTTP2, count: 100))
            await fixture.collector.waitForOutcomes(200)
            #expect(fixture.simulator.counters().apns.connectionsOpened == 1)
            fixture.clock.set(offset: 51 * 60)
            gateway.submit(fixture.batch(id: 3, .iosHTTP2, count: 100))
            await fixture.collector.waitForOutcomes(300)
            for batch in [1, 2, 3] as [Int64] { #expect(fixture.collector.classes(batch) == [.accepted: 100]) }
            #expect(fixture.simulator.counters().apns.connectionsOpened == 2)
            #expect(fixture.simulator.counters().apns.rejectedTotal == 0)
            await gateway.shutdown()
        }
    }

    @Test("ExpiredProviderToken: a new token on a new connection, which carries the waiting messages")
    func expired() async throws {
        // The first token is dated an hour and a minute back, and then the clock is corrected.
        try await Fixture.run(clock: ManualClock(offsets: [-3_660, 0])) { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            gateway.submit(fixture.batch(.iosHTTP2, count: 1_000))
            await fixture.collector.waitForOutcomes(1_000)
            // The one on the wire, and perhaps one that left before the answer was processed.
            let classes = fixture.collector.classes(1)
            #expect((1...2).contains(classes[.unprocessed] ?? 0))
            #expect((classes[.accepted] ?? 0) == 1_000 - (classes[.unprocessed] ?? 0))
            let again = fixture.collector.outcomes(1).values.first { $0.outcomeClass == .unprocessed }
            #expect(again?.reason == "ExpiredProviderToken")
            #expect(fixture.simulator.counters().apns.connectionsOpened == 2)
            await gateway.shutdown()
        }
    }

    @Test("A clock that is an hour wrong stops the application instead of renewing in a loop")
    func wrongClock() async throws {
        try await Fixture.run(clock: ManualClock(offsets: [-3_660])) { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            gateway.submit(fixture.batch(.iosHTTP2, count: 10))
            await fixture.collector.waitForOutcomes(10)
            #expect(fixture.collector.classes(1) == [.stopApplication: 10])
            let event = try await fixture.collector.waitForEvent(.applicationStopped)
            #expect(event.reason == "ExpiredProviderToken")
            #expect(event.message.contains("clock"))
            await gateway.shutdown()
        }
    }

    @Test("A revoked key stops the application, once, and the first accepted message ends that")
    func revokedKey() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            fixture.simulator.revokeKey(true, for: .apns)
            gateway.submit(fixture.batch(id: 1, .iosHTTP2, count: 50))
            await fixture.collector.waitForOutcomes(50)
            #expect(fixture.collector.classes(1) == [.stopApplication: 50])
            #expect(fixture.collector.outcomes(1)[0]?.applicationWide == true)
            let event = try await fixture.collector.waitForEvent(.applicationStopped)
            #expect(event.reason == "InvalidProviderToken")
            #expect(event.message.contains("127.0.0.1:\(fixture.simulator.apnsPort)"))
            #expect(fixture.collector.events.filter { $0.kind == .applicationStopped }.count == 1)
            fixture.simulator.revokeKey(false, for: .apns)
            gateway.submit(fixture.batch(id: 2, .iosHTTP2, count: 50))
            await fixture.collector.waitForOutcomes(100)
            #expect(fixture.collector.classes(2) == [.accepted: 50])
            try await fixture.collector.waitForEvent(.recovered)
            await gateway.shutdown()
        }
    }
}
