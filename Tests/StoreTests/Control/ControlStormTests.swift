import LaboratoryStore
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// Children that send, die and return, operators that pause, resume and finally stop, and the duties of two hosts, all
/// at once on one delivery. The counts add up in every snapshot.
@Suite("All operations at once", .timeLimit(.minutes(4)))
struct ControlStormTests {
    @Test("The counts add up in every snapshot, and every message ends once", arguments: [true, false])
    func storm(stops: Bool) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed), stops \(stops)")
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1200)
        let id = try await fixture.startedDelivery()
        let storm = Storm(seed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await storm.last { try await Self.prepare(fixture, id, storm) } }
            for child in 1...3 {
                group.addTask {
                    try await storm.last { try await Self.child(fixture, Storm(seed &+ UInt64(child)), storm) }
                }
            }
            for _ in 0..<2 { group.addTask { try await storm.last { try await Self.duties(fixture, storm) } } }
            group.addTask { try await storm.last { try await Self.watch(fixture, id, storm) } }
            group.addTask { try await storm.last { try await Self.operate(fixture, id, storm, stops) } }
            try await group.waitForAll()
        }
        let end = try await fixture.store.snapshot(delivery: id)
        #expect(end.faults == [] && end.progress.pending == 0 && end.progress.finishedAt != nil)
        #expect(end.progress.state == (stops ? .stopped : .finished))
        #expect(end.progress.target == 1200 || stops)
    }

    private static func open(_ fixture: StoreFixture) -> Store {
        Store(configuration: fixture.database.configuration())
    }

    /// Prepares until the delivery is prepared or has ended, through every pause.
    private static func prepare(_ fixture: StoreFixture, _ id: Int64, _ storm: Storm) async throws {
        let store = open(fixture)
        while !storm.isOver {
            let progress = try await store.deliveryProgress(id)
            if progress.prepared || progress.state.isFinal { break }
            guard let job = try await store.claimDeliveriesToPrepare(host: fixture.host).first else { continue }
            while try await !store.prepareChunk(job, partSize: 20, partsPerChunk: 3).done {}
        }
        await store.close()
    }

    private static func operate(_ fixture: StoreFixture, _ id: Int64, _ random: Storm, _ stops: Bool) async throws {
        let store = open(fixture)
        for _ in 0..<40 {
            do {
                try await store.pauseDelivery(id)
                for _ in 0..<random.number(3) { _ = try await store.deliveryProgress(id) }
                try await store.resumeDelivery(id)
                for _ in 0..<random.number(8) { _ = try await store.deliveryProgress(id) }
            } catch let error as StoreError where error.code == .conflict {
                break  // It is finished.
            }
        }
        if stops {
            do { try await store.stopDelivery(id) } catch let error as StoreError where error.code == .conflict {}
        }
        await store.close()
    }

    private static func watch(_ fixture: StoreFixture, _ id: Int64, _ storm: Storm) async throws {
        let store = open(fixture)
        while !storm.isOver {
            let snapshot = try await store.snapshot(delivery: id)
            #expect(snapshot.faults == [])
            if snapshot.progress.finishedAt != nil || !snapshot.faults.isEmpty { break }
        }
        storm.end()
        await store.close()
    }

    private static func duties(_ fixture: StoreFixture, _ storm: Storm) async throws {
        let store = open(fixture)
        while !storm.isOver {
            _ = try await store.finishRest(limit: 5)
            _ = try await store.finishDeliveries()
        }
        await store.close()
    }

    /// Claims, sends a little, and then ends the part, releases it, or dies so that the sweep recovers it.
    private static func child(_ fixture: StoreFixture, _ random: Storm, _ storm: Storm) async throws {
        let store = open(fixture)
        let child = try await fixture.child()
        while !storm.isOver {
            for part in try await store.claimParts(application: 1, account: 1, child: child, limit: 2) {
                try await StormPart(store: store, part: part, random: random).send()
            }
        }
        await store.close()
    }
}
