import Foundation
import Testing

@testable import GatewaySimulator

/// What concerns every connection or every device at once: resets on demand, a mix-up of environments, a revoked key.
struct OutageTests {
    private static let message =
        #"{"message":{"token":"t","data":{"_mId":"a1b2c3d4-0000-4000-8000-0123456789ac","_dId":"1"}}}"#

    /// Opens a connection whose limit is already 1000.
    private func warm(_ fixture: Fixture) async throws -> Probe {
        let probe = try await Probe.open(fixture, port: fixture.simulator.apnsPort)
        probe.submit(Batches.apns(fixture, ids: Batches.ids(1)))
        try await probe.resolved(1)
        try await probe.limit(1000)
        return probe
    }

    private func stall() -> FaultPlan {
        var plan = FaultPlan()
        plan.stallsUntilCleared = true
        return plan
    }

    private func counters(_ fixture: Fixture, until isReached: (GatewayCounters) -> Bool) async -> GatewayCounters {
        while true {
            let counters = fixture.simulator.counters().apns
            if isReached(counters) { return counters }
            await Task.yield()
        }
    }

    @Test(.timeLimit(.minutes(1))) func requestsThatWaitAreCounted() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            #expect(fixture.simulator.counters().apns.waiting == 0)
            try fixture.simulator.setFaults(stall(), for: .apns)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(70)))
            _ = await counters(fixture) { $0.waiting == 70 }
            #expect(try fixture.control("GET", "/counters").body.contains("\"waiting\":70"))
            try fixture.simulator.setFaults(FaultPlan(), for: .apns)
            try await probe.resolved(71)
            _ = await counters(fixture) { $0.waiting == 0 }
            await probe.close()
        }
    }

    @Test(.timeLimit(.minutes(1))) func connectionsAreDroppedOnDemand() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            try fixture.simulator.setFaults(stall(), for: .apns)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(40)))
            _ = await counters(fixture) { $0.waiting == 40 }
            #expect(try fixture.control("POST", "/disconnect", #"{"gateway":"apns"}"#).status == 200)
            try await probe.resolved(41)
            #expect(probe.ambiguous == 40)
            let after = await counters(fixture) { $0.resets == 1 && $0.waiting == 0 }
            #expect(after.cutOff == 40)
            #expect(after.faultsUnderLoad == 0)
            #expect(after.leastWaitingAtFault == nil)
            #expect(after.accepted == 41)
            #expect(after.goAways == 0)
            await probe.close()
        }
    }

    @Test(.timeLimit(.minutes(1))) func aSenderThatBreaksOffIsNoted() async throws {
        try await Fixture.run { (fixture) async throws in
            let steady = try await warm(fixture)
            // A connection that ends with nothing on it breaks nothing.
            let idle = try await warm(fixture)
            await idle.close()
            let raw = try await RawConnection.open(fixture, port: fixture.simulator.apnsPort)
            try fixture.simulator.setFaults(stall(), for: .apns)
            steady.submit(Batches.apns(fixture, ids: Batches.ids(20)))
            _ = await counters(fixture) { $0.waiting == 20 }
            raw.sendOpenRequest(streamID: 1)
            raw.sendPing(1)
            _ = try await raw.frame(type: RawFrame.ping)
            await raw.close()
            let after = await counters(fixture) { $0.connections == 1 }
            #expect(after.breaks == [21])
            #expect(after.waiting == 20)
            try fixture.simulator.setFaults(FaultPlan(), for: .apns)
            try await steady.resolved(21)
            await steady.close()
        }
    }

    @Test(.timeLimit(.minutes(1))) func aShareIsTakenOnlyWhenItsAnswerIsDue() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            var plan = stall()
            plan.seed = 3
            plan.unansweredAcceptedShare = 0.5
            try fixture.simulator.setFaults(plan, for: .apns)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(200)))
            let before = await counters(fixture) { $0.waiting == 200 }
            #expect((60...140).contains(before.accepted - 1))
            fixture.simulator.dropConnections(.apns)
            try await probe.resolved(201)
            #expect(fixture.simulator.counters().apns.faultsUnderLoad == 1)
            #expect(fixture.simulator.counters().apns.leastWaitingAtFault == 200)
            try fixture.simulator.setFaults(FaultPlan(), for: .apns)
            // What was not taken before the end of its connection is not taken afterwards.
            let after = await counters(fixture) { $0.unanswered > 0 }
            #expect(after.accepted == before.accepted)
            #expect(after.unanswered == 201 - before.accepted)
            await probe.close()
        }
    }

    @Test(.timeLimit(.minutes(1))) func whatIsTakenLateIsAnsweredAllTheSame() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            var plan = FaultPlan()
            plan.latency = .fixed(milliseconds: 2)
            plan.unansweredAcceptedShare = 0.3
            try fixture.simulator.setFaults(plan, for: .apns)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(200)))
            try await probe.resolved(201)
            #expect(probe.statuses == [200: 201])
            #expect(fixture.simulator.counters().apns.accepted == 201)
            #expect(fixture.simulator.counters().apns.duplicates == 0)
            await probe.close()
        }
    }

    @Test(.timeLimit(.minutes(1))) func changesOfTheLimitAreCounted() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await warm(fixture)
            let first = fixture.simulator.counters().apns.limitChanges
            var plan = FaultPlan()
            for limit in [1, 1000, 1] {
                plan.maxConcurrentStreams = limit
                try fixture.simulator.setFaults(plan, for: .apns)
                if limit == 1 || first > 0 { try await probe.limit(limit) }
            }
            #expect(first == 1)
            #expect(fixture.simulator.counters().apns.limitChanges == 4)
            await probe.close()
        }
    }

    @Test(.timeLimit(.minutes(1))) func aLimitThatChangesDuringTheHandshakeIsAnnounced() async throws {
        try await Fixture.run { (fixture) async throws in
            let port = fixture.simulator.fcmPort
            let witness = try await RawConnection.open(fixture, port: port)
            #expect(try await witness.limit() == 100)
            let late = try await RawConnection.open(fixture, port: port) {
                // Connections are accepted one after the other: the silent one was before this one.
                let further = try await RawConnection.open(fixture, port: port)
                _ = try await further.limit()
                await further.close()
                var plan = FaultPlan()
                plan.maxConcurrentStreams = 1
                try fixture.simulator.setFaults(plan, for: .fcm)
                // What was open heard of the plan, so whoever is to be told was told.
                #expect(try await witness.limit() == 1)
            }
            late.sendPing(1)
            _ = try await late.frame(type: RawFrame.ping)
            #expect(late.lastLimit == 1)
            await late.close()
            await witness.close()
        }
    }

    @Test func devicesOfTheOtherEnvironmentAreUnknownHere() async throws {
        try await Fixture.run(.with { $0.devicesAreOfOtherEnvironment = true }) { (fixture) async throws in
            #expect(try fixture.push().body == #"{"reason":"BadDeviceToken"}"#)
            // What is said of a device by name comes first.
            fixture.simulator.setDevice(Fixture.token, to: .unregistered(sinceMilliseconds: 5))
            #expect(try fixture.push().status == 410)
            fixture.simulator.setDevice(Fixture.token, to: nil)
            #expect(try fixture.control("POST", "/environment", #"{"devices":"own"}"#).status == 200)
            #expect(try fixture.push().status == 200)
            #expect(try fixture.control("POST", "/environment", #"{"devices":"other"}"#).status == 200)
            #expect(try fixture.push().status == 400)
            #expect(try fixture.control("POST", "/environment", #"{"devices":"mars"}"#).status == 400)
            #expect(try fixture.control("POST", "/environment", "{}").status == 400)
        }
    }

    @Test func aRevokedKeyCanBePutRight() async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            for gateway in SimulatedGateway.allCases { fixture.simulator.revokeKey(true, for: gateway) }
            #expect(try fixture.push().body == #"{"reason":"InvalidProviderToken"}"#)
            #expect(try fixture.send(Self.message, bearer: bearer).status == 401)
            for gateway in SimulatedGateway.allCases { fixture.simulator.revokeKey(false, for: gateway) }
            #expect(try fixture.push().status == 200)
            #expect(try fixture.send(Self.message, bearer: try await fixture.accessToken()).status == 200)
        }
    }

    @Test func aProjectWideLimitNamesTheTimeToWait() async throws {
        try await Fixture.run { (fixture) async throws in
            let bearer = try await fixture.accessToken()
            let plan = #"{"gateway":"fcm","errors":[{"reason":"RATE_LIMIT_EXCEEDED","rate":1,"retry_after":"3"}]}"#
            #expect(try fixture.control("POST", "/faults", plan).status == 200)
            let answer = try fixture.send(Self.message, bearer: bearer)
            #expect(answer.status == 429)
            #expect(answer.headers["retry-after"] == "3")
            #expect(answer.body.contains("SendsPerMinutePerProject"))
        }
    }
}
