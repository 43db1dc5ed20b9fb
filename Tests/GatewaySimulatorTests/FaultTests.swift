import HTTP2
import Testing

@testable import GatewaySimulator

/// The faults, one by one, as a client meets them.
struct FaultTests {
    /// Opens a connection whose limit is already 1000.
    private func warm(_ fixture: Fixture, timeoutMilliseconds: Int64 = 60_000) async throws -> Probe {
        let probe = try await Probe.open(
            fixture,
            port: fixture.simulator.apnsPort,
            timeoutMilliseconds: timeoutMilliseconds
        )
        probe.submit(Batches.apns(fixture, ids: Batches.ids(1)))
        try await probe.resolved(1)
        try await probe.limit(1000)
        return probe
    }

    @Test func goAwayDisownsTheStreamsAboveItsLast() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            var plan = FaultPlan()
            plan.goAway = GoAwayFault(afterStreams: 501, unprocessed: 10, reason: "Shutdown")
            try fixture.simulator.setFaults(plan, for: .apns)
            let ids = Batches.ids(700)
            probe.submit(Batches.apns(fixture, ids: ids))
            try await probe.event("a GOAWAY") { if case .goAway = $0 { true } else { false } }
            try fixture.simulator.setFaults(FaultPlan(), for: .apns)
            try await probe.resolved(701)
            let goAway = probe.events.compactMap { event -> (HTTP2ErrorCode, Int32, String)? in
                guard case .goAway(let code, let last, let data, _) = event else { return nil }
                return (code, last, String(decoding: data, as: UTF8.self))
            }
            #expect(goAway.first?.0 == .noError)
            let lastStreamID: Int32 = 501 * 2 - 1
            #expect(goAway.first?.1 == lastStreamID)
            #expect(goAway.first?.2 == #"{"reason":"Shutdown"}"#)
            // What was not answered was not processed, and is not recorded.
            #expect(probe.ambiguous == 0)
            #expect(probe.unprocessed > 0)
            let accepted = probe.statuses[200] ?? 0
            #expect(accepted + probe.unprocessed == 701)
            #expect(fixture.simulator.counters().apns.accepted == accepted)
            #expect(fixture.simulator.counters().apns.duplicates == 0)
            await probe.close()
        }
    }

    @Test func goAwayAtOnceNamesTheReasonBeforeAnyRequest() async throws {
        try await Fixture.run { (fixture) async throws in
            var plan = FaultPlan()
            plan.goAway = GoAwayFault(afterStreams: 0, reason: "BadCertificateEnvironment")
            try fixture.simulator.setFaults(plan, for: .apns)
            let probe = try await Probe.open(fixture, port: fixture.simulator.apnsPort)
            try await probe.event("a GOAWAY with last-stream-id 0") { event in
                guard case .goAway(let code, let last, let data, _) = event else { return false }
                return code == .noError && last == 0
                    && String(decoding: data, as: UTF8.self) == #"{"reason":"BadCertificateEnvironment"}"#
            }
            await probe.close()
        }
    }

    @Test func refusedStreamsAreNotRecorded() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            var plan = FaultPlan()
            plan.seed = 7
            plan.refusedRate = 0.3
            try fixture.simulator.setFaults(plan, for: .apns)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(500)))
            try await probe.resolved(501)
            let counters = fixture.simulator.counters().apns
            #expect(counters.refused == probe.unprocessed)
            #expect((100...200).contains(probe.unprocessed))
            #expect(counters.accepted == probe.statuses[200])
            #expect(counters.accepted + counters.refused == 501)
            await probe.close()
        }
    }

    @Test func theLimitCanBeLoweredAndRaisedInFlight() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            var plan = FaultPlan()
            plan.maxConcurrentStreams = 1
            plan.latency = .fixed(milliseconds: 1)
            try fixture.simulator.setFaults(plan, for: .apns)
            try await probe.limit(1)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(20)))
            try await probe.resolved(21)
            try fixture.simulator.setFaults(FaultPlan(), for: .apns)
            try await probe.limit(1000)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(100)))
            try await probe.resolved(121)
            #expect(probe.statuses == [200: 121])
            await probe.close()
        }
    }

    @Test func aStallHoldsAnswersBackUntilItIsCleared() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            var plan = FaultPlan()
            plan.stallsUntilCleared = true
            try fixture.simulator.setFaults(plan, for: .apns)
            let ids = Batches.ids(50)
            probe.submit(Batches.apns(fixture, ids: ids))
            // They are taken, though none is answered.
            while fixture.simulator.counters().apns.accepted < 51 { await Task.yield() }
            #expect(probe.completions.count == 1)
            try fixture.simulator.setFaults(FaultPlan(), for: .apns)
            try await probe.resolved(51)
            #expect(probe.statuses == [200: 51])
            await probe.close()
        }
    }

    @Test func aFrozenConnectionDoesNotAnswerPings() async throws {
        try await Fixture.run { (fixture) async throws in
            let raw = try await RawConnection.open(fixture, port: fixture.simulator.apnsPort)
            raw.sendPing(1)
            _ = try await raw.frame(type: RawFrame.ping)
            var plan = FaultPlan()
            plan.freezes = true
            try fixture.simulator.setFaults(plan, for: .apns)
            // Connections to the other gateway show that the only event loop has gone through what came before.
            try await visit(fixture)
            raw.sendPing(2)
            raw.sendPing(3)
            try await visit(fixture)
            #expect(raw.count(type: RawFrame.ping) == 1)
            #expect(fixture.simulator.counters().apns.connections == 1)
            try fixture.simulator.setFaults(FaultPlan(), for: .apns)
            let thawed = try await raw.frame(type: RawFrame.ping)
            #expect(thawed.payload.last == 2)
            await raw.close()
        }
    }

    private func visit(_ fixture: Fixture) async throws {
        let probe = try await Probe.open(fixture, port: fixture.simulator.fcmPort, streams: 100)
        try await probe.event("a connection to FCM") { if case .opened = $0 { true } else { false } }
        await probe.close()
    }

    @Test func aStallOfSecondsEndsByItself() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            var plan = FaultPlan()
            plan.stallSeconds = 0.2
            for latency in [nil, LatencyDistribution.uniform(from: 0, to: 30)] {
                plan.latency = latency
                try await send(50, plan, fixture, probe)
            }
            #expect(probe.statuses == [200: 101])
            #expect(echoes(probe) == 101)
            await probe.close()
        }
    }

    @Test func pushesThatAreNeverAnsweredAreAcceptedAllTheSame() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture, timeoutMilliseconds: 300)
            var plan = FaultPlan()
            plan.neverAnsweredRate = 1
            try fixture.simulator.setFaults(plan, for: .apns)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(10)))
            try await probe.resolved(11)
            #expect(probe.ambiguous == 10)
            #expect(fixture.simulator.counters().apns.accepted == 11)
            #expect(fixture.simulator.counters().apns.unanswered == 10)
            plan.unansweredAcceptedShare = 0
            try fixture.simulator.setFaults(plan, for: .apns)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(5)))
            try await probe.resolved(16)
            #expect(fixture.simulator.counters().apns.accepted == 11)
            #expect(fixture.simulator.counters().apns.unanswered == 15)
            await probe.close()
        }
    }

    @Test func aResetEndsTheConnectionWithoutAWord() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            var plan = FaultPlan()
            plan.resetAfterStreams = 101
            try fixture.simulator.setFaults(plan, for: .apns)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(100)))
            try await probe.event("an end of the connection") { if case .closed = $0 { true } else { false } }
            try await probe.resolved(101)
            #expect(fixture.simulator.counters().apns.resets == 1)
            #expect(probe.ambiguous > 0)
            #expect(fixture.simulator.counters().apns.goAways == 0)
            await probe.close()
        }
    }

    /// Sends messages to a gateway with faults, and waits for their answers.
    private func send(_ number: Int, _ plan: FaultPlan, _ fixture: Fixture, _ probe: Probe) async throws {
        try fixture.simulator.setFaults(plan, for: .apns)
        let before = probe.completions.count
        probe.submit(Batches.apns(fixture, ids: Batches.ids(number)))
        try await probe.resolved(before + number)
    }

    /// How many answers have the id of their own request.
    private func echoes(_ probe: Probe) -> Int {
        probe.completions.count { completion in
            if case .response(let response) = completion.result { response.echoesRequest } else { false }
        }
    }

    @Test func latencyKeepsEveryAnswer() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            for latency in [
                LatencyDistribution.fixed(milliseconds: 20), .uniform(from: 0, to: 30), .exponential(mean: 5),
                .quantiles(p50: 5, p99: 30),
            ] {
                var plan = FaultPlan()
                plan.latency = latency
                try await send(500, plan, fixture, probe)
            }
            #expect(probe.statuses == [200: 2001])
            #expect(echoes(probe) == 2001, "each has the id of its own request")
            #expect(fixture.simulator.counters().apns.highestConcurrentStreams > 1)
            await probe.close()
        }
    }

    @Test func errorsComeAtTheirRate() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            var plan = FaultPlan()
            plan.seed = 11
            plan.errors = [
                ErrorRate(reason: "ServiceUnavailable", rate: 0.1, retryAfter: "3"),
                ErrorRate(reason: "Unregistered", rate: 0.2),
            ]
            try fixture.simulator.setFaults(plan, for: .apns)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(2000)))
            try await probe.resolved(2001)
            let rejected = fixture.simulator.counters().apns.rejected
            #expect((140...260).contains(rejected["ServiceUnavailable"] ?? 0))
            #expect((300...500).contains(rejected["Unregistered"] ?? 0))
            #expect(probe.statuses[503] == rejected["ServiceUnavailable"])
            #expect(probe.statuses[410] == rejected["Unregistered"])
            let waits = Set(
                probe.completions.compactMap { completion in
                    if case .response(let response) = completion.result, response.status == 503 {
                        response.retryAfter
                    } else {
                        nil
                    }
                }
            )
            #expect(waits == ["3"])
            await probe.close()
        }
    }
}
