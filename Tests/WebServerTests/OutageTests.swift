import Foundation
import Logging
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// A database outage: no hit is lost or stored twice, and registrations are refused, never partly stored.
@Suite struct OutageTests {
    @Test func hitsOfAnOutageAreLoadedOnceAndInOrder() async throws {
        let cluster = try await TestCluster.start()
        let site = try await WebSite.start(database: try await filled(cluster))
        let sent = try await site.send(messages: 200)
        #expect(try await site.get("/r/?id=h\(sent.uuid(1)),\(sent.hexDelivery),1").status == 200)
        try await cluster.stop(immediately: true)
        for sequence in Int32(2)...60 {
            let answer = try await site.get("/r/?id=h\(sent.uuid(sequence)),\(sent.hexDelivery),1")
            #expect(answer.status == 200, "\(answer)")
        }
        // A repeated hit, one of another delivery, and one that matches no key.
        #expect(try await site.get("/r/?id=h\(sent.uuid(2)),\(sent.hexDelivery),1").status == 200)
        #expect(try await site.get("/r/?id=h\(sent.uuid(2)),20,1").status == 404)
        let forged = try await site.get("/r/?id=h6b6499a8-9d43-4bc5-acf0-b6aeb96846f6,\(sent.hexDelivery),1")
        #expect(forged.status == 404)
        let registration = try await site.registerIOS(
            "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey"
        )
        #expect(registration.status == 503)
        #expect(registration.headers["retry-after"] != nil)
        try await cluster.launch()
        try await eventually("the spool is loaded") {
            let isEmpty = try await site.get("/health/ready").body.contains(#""spoolBytes":0"#)
            let count = try? await site.value("SELECT count(*) FROM pushmta_engine.tracking_log")
            return isEmpty && count == "61"
        }
        #expect(try await site.get("/r/?id=h\(sent.uuid(100)),\(sent.hexDelivery),1").status == 200)
        let expected =
            (Int32(1)...60).map { "\($0) 1 true" } + ["2 1 false", "100 1 true"]
        #expect(try await site.hits(sent.delivery) == expected)
        try await eventually("the forged one is counted") {
            try await site.value("SELECT forged || ' ' || foreign_ids FROM pushmta_engine.tracking_source") == "1 1"
        }
        try await site.drain()
        #expect(try FileManager.default.contentsOfDirectory(atPath: site.folder).isEmpty)
    }

    /// A process that has ended, however, leaves its spool to the next process with the same folder.
    @Test func theNextProcessLoadsWhatIsLeft() async throws {
        let cluster = try await TestCluster.start()
        let first = try await WebSite.start(database: try await filled(cluster))
        let sent = try await first.send(messages: 50)
        #expect(try await first.get("/r/?id=h\(sent.uuid(1)),\(sent.hexDelivery),2").status == 200)
        try await cluster.stop(immediately: true)
        for sequence in Int32(2)...20 {
            #expect(try await first.get("/r/?id=h\(sent.uuid(sequence)),\(sent.hexDelivery),2").status == 200)
        }
        try await first.drain()
        #expect(try FileManager.default.contentsOfDirectory(atPath: first.folder).count == 1)
        // The next process starts during the outage, and accepts hits too.
        let second = try await WebSite.start(database: first.database, folder: first.folder, waits: false)
        #expect(try await second.get("/r/?id=h\(sent.uuid(21)),\(sent.hexDelivery),2").status == 200)
        try await cluster.launch()
        try await eventually("everything is loaded") {
            (try? await second.value("SELECT count(*) FROM pushmta_engine.tracking_log")) == "21"
        }
        #expect(try await second.hits(sent.delivery) == (Int32(1)...21).map { "\($0) 2 true" })
        try await second.drain()
        #expect(try FileManager.default.contentsOfDirectory(atPath: first.folder).isEmpty)
    }

    /// Whatever is killed during a load, every answered hit is stored exactly once.
    @Test func aCrashOfTheDatabaseUnderLoadLosesNothing() async throws {
        let cluster = try await TestCluster.start()
        let site = try await WebSite.start(database: try await filled(cluster))
        let sent = try await site.send(messages: 1_500)
        let answered = try await withThrowingTaskGroup(of: [Int32].self) { group in
            for lane in 0..<10 {
                group.addTask {
                    var answered: [Int32] = []
                    for sequence in Int32(1)...1_500 where Int(sequence) % 10 == lane {
                        let answer = try await site.get("/r/?id=h\(sent.uuid(sequence)),\(sent.hexDelivery),1")
                        if answer.status == 200 { answered.append(sequence) }
                    }
                    return answered
                }
            }
            group.addTask {
                for stored in [100, 500] {
                    try await self.wait(for: stored, in: "tracking_log", site)
                    try await cluster.stop(immediately: true)
                    try await cluster.launch()
                }
                return []
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(answered.count == 1_500)
        try await eventually("everything is loaded") {
            (try? await site.value("SELECT count(*) FROM pushmta_engine.tracking_log")) == "1500"
        }
        #expect(
            try await site.value("SELECT count(DISTINCT sequence) FROM pushmta_engine.tracking_log WHERE first")
                == "1500"
        )
        try await site.drain()
    }

    /// Waits until the load has begun.
    private func wait(for rows: Int, in table: String, _ site: WebSite) async throws {
        try await eventually("\(rows) rows are in \(table)") {
            let count = try? await site.value("SELECT count(*) FROM pushmta_engine.\(table)")
            return count.flatMap { Int($0) } ?? 0 >= rows
        }
    }

    @Test func registrationsUnderACrashAreStoredIfTheyWereAnswered() async throws {
        let cluster = try await TestCluster.start()
        let site = try await WebSite.start(database: try await filled(cluster))
        let answered = try await withThrowingTaskGroup(of: [String].self) { group in
            for lane in 0..<8 {
                group.addTask {
                    var answered: [String] = []
                    for number in 0..<100 {
                        let token = "device-token-\(lane)-\(number)"
                        let answer = try await site.registerAndroid(
                            "registrationToken=\(token)&mobileAppUuid=testIntegrationKey&userKey=u"
                        )
                        #expect([200, 503].contains(answer.status), "\(answer)")
                        if answer.status == 200 { answered.append(token) }
                    }
                    return answered
                }
            }
            group.addTask {
                try await self.wait(for: 100, in: "subscription", site)
                try await cluster.stop(immediately: true)
                try await cluster.launch()
                return []
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(answered.count > 100)
        try await site.waitUntilReady()
        let stored = try await site.value(
            "SELECT string_agg(push_token, ' ') FROM pushmta_engine.subscription WHERE enabled"
        )
        let tokens = Set((stored ?? "").split(separator: " ").map(String.init))
        #expect(Set(answered).subtracting(tokens).isEmpty)
        try await site.drain()
    }

    /// Rows that an open transaction locks hold up no other device, and are stored if it ends within 2 s.
    @Test func heldDevicesDelayThemselvesOnly() async throws {
        let cluster = try await TestCluster.start()
        let site = try await WebSite.start(database: try await filled(cluster))
        @Sendable func register(_ name: String) async throws -> Int {
            try await site.registerAndroid(
                "registrationToken=device-token-\(name)&mobileAppUuid=testIntegrationKey&userKey=u"
            ).status
        }
        for number in 0..<20 { #expect(try await register("held-\(number)") == 200) }
        let holder = try await site.database.connect()
        let hold =
            "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SELECT FROM pushmta_engine.subscription FOR UPDATE"
        try await holder.run(script: hold)
        let (others, held) = try await withThrowingTaskGroup(of: [Int].self) { group in
            for number in 0..<20 {
                group.addTask { try await [register("held-\(number)"), register("held-\(number)")] }
            }
            var others: [Int] = []
            for number in 0..<40 { others.append(try await register("other-\(number)")) }
            return (others, try await group.reduce(into: []) { $0 += $1 })
        }
        #expect(others == Array(repeating: 200, count: 40))
        #expect(held == Array(repeating: 503, count: 40), "\(held)")
        let late = Task { try await register("held-7") }
        // By then it has been found locked.
        try await eventually("the device is tried") {
            try await site.value("SELECT count(*) FROM pushmta_engine.subscription") == "60"
        }
        try await holder.run(script: "COMMIT")
        #expect(try await late.value == 200)
        await holder.close()
        try await site.drain()
    }

    /// The process does not wait for a statement that hangs on another session's lock. The statement may still commit,
    /// and its hits count once.
    @Test func aDatabaseThatDoesNotAnswerIsNotWaitedFor() async throws {
        let site = try await WebSite.start { $0.tracking.databaseTimeoutMs = 300 }
        let sent = try await site.send(messages: 30)
        #expect(try await site.get("/r/?id=h\(sent.uuid(1)),\(sent.hexDelivery),1").status == 200)
        let locker = try await site.database.connect()
        try await locker.transaction { transaction in
            // On a busy machine what follows may take longer than sessions may be idle.
            try await transaction.execute(.init("SET LOCAL idle_in_transaction_session_timeout = 0", prepare: false))
            try await transaction.execute(
                .init("LOCK TABLE pushmta_engine.tracking_source IN ACCESS EXCLUSIVE MODE", prepare: false)
            )
            for sequence in Int32(2)...10 {
                #expect(try await site.get("/r/?id=h\(sent.uuid(sequence)),\(sent.hexDelivery),1").status == 200)
            }
        }
        await locker.close()
        try await eventually("everything is loaded") {
            try await site.value("SELECT count(*) FROM pushmta_engine.tracking_log") == "10"
        }
        #expect(try await site.hits(sent.delivery) == (Int32(1)...10).map { "\($0) 1 true" })
        try await site.drain()
    }

    /// Transactions of other processes that began earlier and commit later are not missed.
    @Test func commitsInTheOtherOrderThanTheirIDsAreNotMissed() async throws {
        let site = try await WebSite.start()
        let sent = try await site.send(messages: 10)
        let early = try await site.database.connect()
        try await early.transaction { transaction in
            // On a busy machine what follows may take longer than sessions may be idle.
            try await transaction.execute(.init("SET LOCAL idle_in_transaction_session_timeout = 0", prepare: false))
            // Another process's transaction takes its ids first and commits last.
            try await transaction.execute(
                .init(
                    """
                    SELECT pushmta_engine.record_hits(gen_random_uuid(), 1, 'other', ARRAY[\(sent.delivery)]::bigint[], ARRAY[NULL]::bigint[],
                        ARRAY[NULL]::bigint[], ARRAY[7], ARRAY[(SELECT log_day - date '2000-01-01' FROM pushmta_engine.delivery
                            WHERE id = \(sent.delivery))], ARRAY[1]::smallint[], ARRAY[now()], ARRAY['192.0.2.1'], ARRAY['ios'],
                        ARRAY['a'], 0, 0, 0)
                    """,
                    prepare: false
                )
            )
            #expect(try await site.get("/r/?id=h\(sent.uuid(8)),\(sent.hexDelivery),1").status == 200)
        }
        await early.close()
        let counted = try await site.value(
            "SELECT count(*) || ' ' || sum(s.hits) / 2 FROM pushmta_engine.tracking_log t, (SELECT sum(hits) AS hits FROM pushmta_engine.tracking_source) s"
        )
        #expect(counted?.hasPrefix("2 2") == true, "\(counted ?? "nothing")")
        try await site.drain()
    }

    private func filled(_ cluster: TestCluster) async throws -> TestDatabase {
        let database = try await TestDatabase.create(.migrated, in: cluster)
        let store = Store(configuration: database.configuration())
        try await WebSite.fill(store)
        await store.close()
        return database
    }
}
