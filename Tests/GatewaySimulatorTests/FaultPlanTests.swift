import Foundation
import Testing

@testable import GatewaySimulator

/// Fault plans as values.
struct FaultPlanTests {
    @Test func plansSurviveJSON() throws {
        var plan = FaultPlan()
        plan.seed = 3
        plan.latency = .quantiles(p50: 30, p99: 200)
        plan.errors = [
            ErrorRate(reason: "Unregistered", rate: 0.1), ErrorRate(reason: "Shutdown", rate: 0.2, retryAfter: "5"),
        ]
        plan.goAway = GoAwayFault(afterStreams: 500, unprocessed: 3, reason: "Shutdown", errorCode: 7, isGraceful: true)
        plan.refusedRate = 0.25
        plan.maxConcurrentStreams = 7
        plan.neverAnsweredRate = 0.5
        plan.stallSeconds = 4
        plan.stallsUntilCleared = true
        plan.freezes = true
        plan.resetAfterStreams = 9
        plan.unansweredAcceptedShare = 0.75
        plan.limitDropsAfterRejection = true
        #expect(try JSONDecoder().decode(FaultPlan.self, from: try JSONEncoder().encode(plan)) == plan)
        #expect(try JSONDecoder().decode(FaultPlan.self, from: Data("{}".utf8)) == FaultPlan())
        for latency in [LatencyDistribution.fixed(milliseconds: 5), .uniform(from: 1, to: 2), .exponential(mean: 3)] {
            #expect(
                try JSONDecoder().decode(LatencyDistribution.self, from: try JSONEncoder().encode(latency)) == latency
            )
        }
    }

    @Test func plansWithoutFaultsAreQuiet() {
        var plan = FaultPlan()
        #expect(plan.isQuiet)
        plan.maxConcurrentStreams = 5
        plan.limitDropsAfterRejection = true
        #expect(plan.isQuiet)
        plan.refusedRate = 0.1
        #expect(!plan.isQuiet)
    }

    @Test func senselessPlansAreNamed() {
        var plan = FaultPlan()
        plan.errors = [ErrorRate(reason: "Unregistered", rate: 0.6), ErrorRate(reason: "Shutdown", rate: 0.6)]
        #expect(plan.problem(for: .apns)?.contains("more than 1") == true)
        plan.errors = [ErrorRate(reason: "Unregistered", rate: .nan)]
        #expect(plan.problem(for: .apns) != nil)
        plan = FaultPlan()
        plan.latency = .uniform(from: 5, to: 1)
        #expect(plan.problem(for: .fcm)?.contains("uniform") == true)
        plan = FaultPlan()
        plan.resetAfterStreams = 0
        #expect(plan.problem(for: .fcm) != nil)
        #expect(FaultPlan().problem(for: .apns) == nil)
    }

    @Test func latenciesFollowTheirDistribution() {
        var dice = FaultDice(seed: 1)
        func samples(_ latency: LatencyDistribution) -> [Double] {
            (0..<20_000).map { _ in Double(latency.sample(&dice)) / 1e6 }.sorted()
        }
        #expect(samples(.fixed(milliseconds: 5)).allSatisfy { $0 == 5 })
        let uniform = samples(.uniform(from: 10, to: 20))
        #expect(uniform.allSatisfy { (10...20).contains($0) })
        #expect((14.5...15.5).contains(uniform[10_000]))
        let exponential = samples(.exponential(mean: 10))
        #expect((9.5...10.5).contains(exponential.reduce(0, +) / 20_000))
        let quantiles = samples(.quantiles(p50: 30, p99: 200))
        #expect((28...32).contains(quantiles[10_000]))
        #expect((170...230).contains(quantiles[19_800]))
    }

    @Test func everyReasonHasACode() async throws {
        let catalog = AnswerCatalog.of(.apns)
        #expect(catalog.name(0) == "Accepted")
        #expect(catalog.name(255) == "Unanswered")
        #expect(catalog.status(255) == 0)
        for reason in APNsReason.allCases {
            let code = try #require(catalog.code(ofReason: reason.rawValue))
            #expect(catalog.status(code) == reason.status)
            #expect(catalog.name(code) == reason.rawValue)
        }
    }
}
