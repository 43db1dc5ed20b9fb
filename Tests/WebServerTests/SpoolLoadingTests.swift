import Foundation
import Logging
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing
import TrackingSpools

@testable import WebServer

/// Spools and a database, in a web process.
@Suite struct SpoolLoadingTests {
    /// A file of a dead process, with records of these hits.
    private func leave(_ records: [[TrackingHit]], in folder: String) throws {
        let gone = try TrackingSpool(
            folder: folder,
            maxMegabytes: 100,
            source: UUID(),
            created: 1,
            logger: Logger(label: "spool") { _ in SwiftLogNoOpLogHandler() }
        )
        for (index, hits) in records.enumerated() {
            try gone.append(TrackingSpoolRecord(position: Int64(index) + 1, hits: hits))
        }
        gone.close()
    }

    private func hit(_ id: MessageUUID, delivery: Int64, days: Int64 = 0) -> TrackingHit {
        TrackingHit(
            id: TrackingID(message: .uuid(id), deliveries: [delivery], kind: .received),
            microseconds: WallClock.microseconds + days * 86_400_000_000,
            address: IPAddress("192.0.2.1"),
            userAgent: ""
        )
    }

    private func random() -> MessageUUID {
        MessageUUID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }

    private func filled(_ cluster: TestCluster) async throws -> TestDatabase {
        let database = try await TestDatabase.create(.migrated, in: cluster)
        let store = Store(configuration: database.configuration())
        try await WebSite.fill(store)
        await store.close()
        return database
    }

    /// Thousands of ids that match no key, of today and of a day without a key, do not hold up the load.
    @Test func unknownIDsAreLoadedAtFullSpeed() async throws {
        let site = try await WebSite.start()
        let sent = try await site.send(messages: 30)
        let forged = (0..<20_000).map { hit(random(), delivery: sent.delivery, days: $0 % 2 == 0 ? 0 : 5) }
        var records = stride(from: 0, to: forged.count, by: 100).map { Array(forged[$0..<$0 + 100]) }
        records.append((Int32(1)...20).map { hit(sent.codec.uuid(sequence: $0), delivery: sent.delivery) })
        try leave(records, in: site.folder)
        let next = try await WebSite.start(database: site.database, folder: site.folder)
        // A hit that arrives meanwhile.
        #expect(try await next.get("/r/?id=h\(sent.uuid(21)),\(sent.hexDelivery),1").status == 200)
        try await eventually("everything is loaded") {
            try await site.value("SELECT count(*) FROM pushmta_engine.tracking_log") == "21"
        }
        #expect(try await site.value("SELECT sum(forged) FROM pushmta_engine.tracking_source") == "20000")
        try await next.drain()
        try await site.drain()
        #expect(try FileManager.default.contentsOfDirectory(atPath: site.folder).isEmpty)
    }

    /// While the database is unreachable, ids of today's deliveries are still recognised: a forged one is refused and
    /// takes no space.
    @Test func forgedIDsAreRefusedWithoutTheDatabase() async throws {
        let cluster = try await TestCluster.start()
        let site = try await WebSite.start(database: try await filled(cluster)) { $0.tracking.maxSpoolMb = 1 }
        let sent = try await site.send(messages: 10)
        // The keys may not have been read yet: a request for an unknown delivery makes the process read them.
        #expect(try await site.get("/r/?id=h\(random()),1000,1").status == 404)
        try await cluster.stop(immediately: true)
        for _ in 0..<300 {
            #expect(try await site.get("/r/?id=h\(random()),\(sent.hexDelivery),1").status == 404)
        }
        #expect(try await site.get("/health/ready?for=tracking").body.contains(#""spoolBytes":0"#))
        // This delivery was never requested before; its key was already known.
        #expect(try await site.get("/r/?id=h\(sent.uuid(1)),\(sent.hexDelivery),1").status == 200)
        try await cluster.launch()
        try await eventually("the hit is loaded") {
            (try? await site.value("SELECT count(*) FROM pushmta_engine.tracking_log")) == "1"
        }
        try await eventually("the forged ones are counted") {
            try await site.value("SELECT sum(forged) FROM pushmta_engine.tracking_source") == "301"
        }
        try await site.drain()
    }

    /// A drain ends in time, whatever is left in the spool; the next process loads the rest.
    @Test func aDrainDoesNotWaitForALongSpool() async throws {
        let site = try await WebSite.start()
        // Another folder than the site's, which loads its own.
        let folder = NSTemporaryDirectory() + "spool-\(UUID().uuidString)"
        let sent = try await site.send(messages: 1_000)
        // A disk that takes 50 ms for each transaction.
        try await site.run(
            """
            CREATE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM pg_sleep(0.05); RETURN NULL; END $$;
            CREATE TRIGGER slow AFTER INSERT OR UPDATE ON pushmta_engine.tracking_source FOR EACH STATEMENT
                EXECUTE FUNCTION public.slow();
            """
        )
        try leave(
            (Int32(1)...1_000).map { [hit(sent.codec.uuid(sequence: $0), delivery: sent.delivery)] },
            in: folder
        )
        let next = try await WebSite.start(database: site.database, folder: folder) { $0.drainTimeoutSec = 1 }
        try await eventually("loading has begun") {
            try await site.value("SELECT count(*) > 3 FROM pushmta_engine.tracking_log") == "true"
        }
        try await next.drain()
        // At most one second's records were loaded after that: all 1,000 take 50 s or more.
        let left = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(left.count == 1)
        #expect(try await site.value("SELECT count(*) < 1000 FROM pushmta_engine.tracking_log") == "true")
        try await site.run("DROP TRIGGER slow ON pushmta_engine.tracking_source")
        let last = try await WebSite.start(database: site.database, folder: folder)
        try await eventually("the rest is loaded, once") {
            try await site.value("SELECT count(*) FROM pushmta_engine.tracking_log") == "1000"
        }
        try await last.drain()
        try await site.drain()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }
}
