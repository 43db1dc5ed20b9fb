import GatewaySimulator
import GatewayTestSupport
import PushCore
import Testing

@testable import Gateways

/// A 200 that the gateway did not give: a page of a proxy, or of another server at its address.
@Suite(.timeLimit(.minutes(2))) struct MalformedAnswerTests {
    /// Bodies of a 200 that no gateway gives.
    private static let bodies = ["<html>It works!</html>", "", "{}", #"{"name":"somebody"}"#]

    @Test(arguments: [Connector.iosHTTP2, .androidV1], bodies)
    func isNoSuccess(_ connector: Connector, _ body: String) async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(connector)
            let tokens = (0..<3).map { Fixture.token($0) }
            fixture.simulator.setDevice(tokens[1], to: .scripted(ScriptedAnswer(.response(status: 200, body: body))))
            gateway.submit(fixture.batch(connector, count: 3, tokens: tokens))
            await fixture.collector.waitForOutcomes(3)
            #expect(fixture.collector.classes(1) == [.accepted: 2, .ambiguous: 1])
            let outcome = try #require(fixture.collector.outcomes(1)[1])
            #expect(outcome.outcomeClass == .ambiguous && outcome.status == 200)
            #expect(outcome.reason == "MalformedAnswer" && outcome.gatewayMessageID == nil)
            let row = (connector == .iosHTTP2 ? GatewayAnswers.apnsHTTP2 : .fcmV1).malformed
            #expect(outcome.failure == row.failure && row.failure != nil && row.outcomeClass == .ambiguous)
            #expect(row.explanation.contains("proxy"))
            await gateway.shutdown()
        }
    }

    @Test func thatIsNoSignOfRecovery() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            fixture.simulator.revokeKey(true, for: .apns)
            gateway.submit(fixture.batch(id: 1, .iosHTTP2, count: 1))
            try await fixture.collector.waitForEvent(.applicationStopped)
            fixture.simulator.revokeKey(false, for: .apns)
            fixture.simulator.setDevice(
                Fixture.token(7),
                to: .scripted(ScriptedAnswer(.response(status: 200, body: "")))
            )
            gateway.submit(fixture.batch(id: 2, .iosHTTP2, count: 1, tokens: [Fixture.token(7)]))
            await fixture.collector.waitForOutcomes(2)
            #expect(!fixture.collector.events.contains { $0.kind == .recovered })
            gateway.submit(fixture.batch(id: 3, .iosHTTP2, count: 1))
            try await fixture.collector.waitForEvent(.recovered)
            await gateway.shutdown()
        }
    }
}
