import HTTP2
import PushCore
import Testing

@testable import GatewaySimulator

/// What APNs does with a connection, seen by our own client.
struct APNsConnectionTests {
    @Test func theLimitGoesFrom1To1000WithTheFirstAcceptedPush() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await Probe.open(fixture, port: fixture.simulator.apnsPort)
            let ids = Batches.ids(3000)
            probe.submit(Batches.apns(fixture, ids: ids))
            try await probe.resolved(ids.count)
            #expect(probe.statuses == [200: ids.count])
            #expect(probe.limits.last == 1000)
            #expect(probe.unprocessed == 0)
            let counters = fixture.simulator.counters().apns
            #expect(counters.accepted == ids.count)
            #expect(counters.uniqueAccepted == ids.count)
            #expect(counters.duplicates == 0)
            #expect(counters.connectionsOpened == 1)
            #expect(ids.allSatisfy { fixture.simulator.occurrences(of: $0) == 1 })
            await probe.close()
        }
    }

    @Test func aClientThatDoesNotWaitIsRefused() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await Probe.open(fixture, port: fixture.simulator.apnsPort, streams: 100)
            try await probe.limit(1)
            let ids = Batches.ids(10)
            probe.submit(Batches.apns(fixture, ids: ids))
            try await probe.resolved(ids.count)
            #expect(probe.statuses == [200: ids.count])
            await probe.close()
        }
    }

    @Test func rejectionsDropTheLimitWhenToldSo() async throws {
        try await Fixture.run { (fixture) async throws in
            var plan = FaultPlan()
            plan.limitDropsAfterRejection = true
            try fixture.simulator.setFaults(plan, for: .apns)
            let probe = try await Probe.open(fixture, port: fixture.simulator.apnsPort)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(5)))
            try await probe.resolved(5)
            fixture.simulator.setDevice(Fixture.token, to: .badDeviceToken)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(1)))
            try await probe.resolved(6)
            try await probe.limit(1)
            fixture.simulator.setDevice(Fixture.token, to: nil)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(5)))
            try await probe.resolved(11)
            try await probe.limit(1000)
            await probe.close()
        }
    }

    @Test func aSecondTokenTooSoonIsRefused() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await Probe.open(fixture, port: fixture.simulator.apnsPort)
            probe.submit(Batches.apns(fixture, ids: Batches.ids(2)))
            try await probe.resolved(2)
            let second = Fixture(
                simulator: fixture.simulator,
                folder: fixture.folder,
                jwt: try await Signer.providerToken(fixture.simulator.credentials, age: 10)
            )
            probe.submit(Batches.apns(second, ids: Batches.ids(1)))
            let otherKey = Fixture(
                simulator: fixture.simulator,
                folder: fixture.folder,
                jwt: try await Signer.providerToken(fixture.simulator.credentials, keyID: "ZZZZZZZZZZ")
            )
            probe.submit(Batches.apns(otherKey, ids: Batches.ids(1)))
            try await probe.resolved(4)
            #expect(
                fixture.simulator.counters().apns.rejected
                    == ["TooManyProviderTokenUpdates": 1, "UnrelatedKeyIdInToken": 1]
            )
            await probe.close()
        }
    }

    @Test func theFirstSettingsAreThoseOfAPNs() async throws {
        try await Fixture.run { (fixture) async throws in
            let raw = try await RawConnection.open(fixture, port: fixture.simulator.apnsPort)
            let settings = try await raw.frame(type: RawFrame.settings)
            #expect(settings.settings == [1: 4096, 3: 1, 4: 65_535, 6: 8000])
            await raw.close()
        }
    }

    @Test func severalEventLoopsShareTheRecords() async throws {
        try await Fixture.run(.with { $0.threads = 3 }) { (fixture) async throws in
            let ids = Batches.ids(200)
            var probes: [Probe] = []
            for _ in 0..<4 {
                let probe = try await Probe.open(fixture, port: fixture.simulator.apnsPort)
                probe.submit(Batches.apns(fixture, ids: ids))
                probes.append(probe)
            }
            for probe in probes { try await probe.resolved(200) }
            let counters = fixture.simulator.counters().apns
            #expect(counters.accepted == 800)
            #expect(counters.uniqueAccepted == 200)
            #expect(counters.duplicates == 200)
            #expect(counters.connectionsOpened == 4)
            for probe in probes { await probe.close() }
        }
    }

    @Test func duplicatesAreCounted() async throws {
        try await Fixture.run { (fixture) async throws in
            let probe = try await Probe.open(fixture, port: fixture.simulator.apnsPort)
            let ids = Batches.ids(100)
            probe.submit(Batches.apns(fixture, ids: ids + ids.prefix(7) + ids.prefix(3)))
            try await probe.resolved(110)
            let counters = fixture.simulator.counters().apns
            #expect(counters.accepted == 110)
            #expect(counters.uniqueAccepted == 100)
            #expect(counters.duplicates == 7)
            #expect(fixture.simulator.duplicates(.apns).map(\.id) == ids.prefix(7).map(\.description))
            #expect(fixture.simulator.occurrences(of: ids[0]) == 3)
            #expect(fixture.simulator.occurrences(ofID: ids[5].description.uppercased()) == 2)
            fixture.simulator.resetRecords()
            #expect(fixture.simulator.counters().apns.accepted == 0)
            #expect(fixture.simulator.counters().apns.connections == 1)
            await probe.close()
        }
    }
}
