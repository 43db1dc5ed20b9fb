import GatewaySimulator
import GatewayTestSupport
import PushCore
import Testing

@testable import Gateways

/// A GOAWAY that reports the provider token as expired.
@Suite(.timeLimit(.minutes(2))) struct GoAwayTokenTests {
    /// A minute more than the age below which Apple does not want a renewal.
    private static let age: Double = 21 * 60

    private func plan(_ fixture: Fixture, afterStreams: Int) throws {
        var plan = FaultPlan()
        plan.goAway = GoAwayFault(afterStreams: afterStreams, reason: "ExpiredProviderToken")
        try fixture.simulator.setFaults(plan, for: .apns)
    }

    @Test func aTokenThatMayBeRenewedIs() async throws {
        try await Fixture.run { fixture in
            fixture.clock.set(offset: -Self.age)
            let gateway = try await fixture.gateway(.iosHTTP2)
            gateway.submit(fixture.batch(id: 1, .iosHTTP2, count: 1))
            await fixture.collector.waitForOutcomes(1)
            fixture.clock.set(offset: 0)
            try plan(fixture, afterStreams: 2)
            gateway.submit(fixture.batch(id: 2, .iosHTTP2, count: 1))
            let told = try await fixture.collector.waitForEvent(.goAway)
            #expect(told.reason == "ExpiredProviderToken" && told.message.contains("renewed"))
            #expect(!fixture.collector.events.contains { $0.kind == .applicationStopped })
            // The next token is seconds old. If APNs reports it as expired too, a clock is wrong.
            try plan(fixture, afterStreams: 1)
            gateway.submit(fixture.batch(id: 3, .iosHTTP2, count: 1))
            let stopped = try await fixture.collector.waitForEvent(.applicationStopped)
            #expect(stopped.reason == "ExpiredProviderToken" && stopped.message.contains("clock"))
            await gateway.shutdown()
            #expect(fixture.collector.events.filter { $0.kind == .applicationStopped }.count == 1)
        }
    }

    @Test func aYoungTokenStopsTheApplicationInsteadOfDiallingForEver() async throws {
        try await Fixture.run { fixture in
            try plan(fixture, afterStreams: 1)
            let gateway = try await fixture.gateway(.iosHTTP2)
            gateway.submit(fixture.batch(.iosHTTP2, count: 1))
            let stopped = try await fixture.collector.waitForEvent(.applicationStopped)
            #expect(stopped.reason == "ExpiredProviderToken" && stopped.message.contains("clock"))
            #expect(!fixture.collector.events.contains { $0.kind == .goAway })
            await gateway.shutdown()
        }
    }
}
