import PostgresClient
import PushCore
import Store
import SystemPackage
import Testing

@testable import Supervisor

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Locks and failures elsewhere may last for hours. They must not block this supervisor.
@Suite(.timeLimit(.minutes(3))) struct StandstillTests {
    private let alive = "SELECT count(*) FROM pushmta_engine.mta_child WHERE exited_at IS NULL"
    private let child = "SELECT id FROM pushmta_engine.mta_child ORDER BY id LIMIT 1"

    private func firstChild(_ site: SupervisorSite) async throws -> Int64 {
        try await site.wait(for: "1", from: "SELECT count(*) FROM pushmta_engine.mta_child")
        return try #require(try await site.value(child).flatMap { Int64($0) })
    }

    private func state(_ part: ClaimedPart) -> String {
        "SELECT state FROM pushmta_engine.delivery_part WHERE id = \(part.id)"
    }

    /// A site with two deliveries of one part each, after a first run, and its child.
    private func twoDeliveries() async throws -> (SupervisorSite, Int64) {
        let site = try await SupervisorSite.make()
        let ids = [try await site.startDelivery(), try await site.startDelivery()]
        var own: Int64 = 0
        try await site.running(site.supervisor()) {
            for id in ids { try await site.wait(for: .inProgress, of: id) }
            own = try await firstChild(site)
        }
        return (site, own)
    }

    private func lock(_ site: SupervisorSite, _ part: ClaimedPart) async throws -> PostgresConnection {
        try await site.hold("SELECT 1 FROM pushmta_engine.delivery WHERE id = \(part.deliveryID) FOR UPDATE")
    }

    @Test func aLockedDeliveryKeepsNoOtherFromBeingTaken() async throws {
        let (site, own) = try await twoDeliveries()
        let lost = try await site.lostChild(like: own)
        let first = try await site.holdPart(child: lost)
        let second = try await site.holdPart(child: lost)
        #expect(first.id < second.id && first.deliveryID != second.deliveryID)
        let holder = try await lock(site, first)
        try await site.running(site.supervisor { $0.mta.lease.durationSec = 1 }) {
            try await site.wait(for: "ready", from: state(second), within: .seconds(20))
            #expect(try await site.value(state(first)) == "claimed")
            try await holder.run(script: "COMMIT")
            try await site.waitUntilReady(first)
        }
        await holder.close()
    }

    @Test func aLockedDeliveryKeepsNoOtherFromBeingReplayed() async throws {
        let (site, own) = try await twoDeliveries()
        let header = try site.header(own)
        let parts = [try await site.holdPart(child: own), try await site.holdPart(child: own)]
        var bytes: [UInt8] = []
        JournalEncoder.append(header, to: &bytes)
        for part in parts { for record in SupervisorSite.records(part) { JournalEncoder.append(record, to: &bytes) } }
        try site.folder.write(bytes, to: "host/child-\(own).journal")
        let rows = "SELECT count(*) FROM pushmta_engine.broad_log"
        let holder = try await lock(site, parts[0])
        try await site.running(site.supervisor { $0.mta.lease.durationSec = 3_600 }) {
            try await site.wait(for: "ready", from: state(parts[1]), within: .seconds(20))
            #expect(try await site.value(rows) == "2")
            #expect(try await site.value(state(parts[0])) == "claimed", "its answers are not stored yet")
            #expect(site.folder.contains("host/child-\(own).journal"))
            try await holder.run(script: "COMMIT")
            try await site.waitUntilReady(parts[0])
            try await site.wait { !site.folder.contains("host/child-\(own).journal") }
        }
        #expect(try await site.value(rows) == "4")
        await holder.close()
    }

    @Test func theLeaseOfChildrenIsThatOfTheSweep() async throws {
        let site = try await SupervisorSite.make()
        _ = try await site.startDelivery()
        let supervisor = site.supervisor {
            $0.mta.lease.durationSec = 15
            $0.mta.lease.renewalSec = 4
        } reread: {
            $0.mta.lease.durationSec = 60
            $0.mta.lease.renewalSec = 25
        }
        try await site.running(supervisor) {
            try await site.wait(for: "1", from: alive)
            supervisor.reload()
            try await site.wait(for: "2", from: "SELECT count(*) FROM pushmta_engine.mta_child")
            try await site.wait { ScriptFile.arguments(in: site.folder).contains("--generation 2") }
        }
        let line = ScriptFile.arguments(in: site.folder)
        #expect(line.contains("--set mta.lease.durationSec=15 --set mta.lease.renewalSec=4"))
    }

    /// A directory in place of the journal can be locked but not read, not even by root.
    @Test func aJournalThatCannotBeReadLeavesItsPartsToTheirLeases() async throws {
        let site = try await SupervisorSite.make()
        _ = try await site.startDelivery()
        try await site.running(site.supervisor { $0.mta.lease.durationSec = 2 }) {
            let own = try await firstChild(site)
            let pidFile = "host/child-\(own).journal.pid"
            try await site.wait { site.folder.contains(pidFile) }
            let journal = site.folder.path.appending("host/child-\(own).journal").string
            try FileManager.default.createDirectory(atPath: journal, withIntermediateDirectories: false)
            let part = try await site.holdPart(child: own)
            let data = FileManager.default.contents(atPath: site.folder.path.appending(pidFile).string) ?? Data()
            let pid = try #require(Int32(String(decoding: data, as: UTF8.self).split(separator: "\n").first ?? ""))
            #expect(kill(pid, SIGKILL) == 0)
            try await site.wait(for: "ready", from: state(part), within: .seconds(20))
            let doubted = "SELECT cardinality(ambiguous) FROM pushmta_engine.delivery_part_recovery"
            #expect(try await site.value(doubted) == "\(part.size)")
            // Without it the supervisor need not wait at its end.
            try FileManager.default.removeItem(atPath: journal)
        }
    }

    @Test func aChildThatCannotBeRegisteredKeepsNoSupervisor() async throws {
        let site = try await SupervisorSite.make()
        let holder = try await site.hold("LOCK TABLE pushmta_engine.mta_child IN SHARE ROW EXCLUSIVE MODE")
        _ = try await site.startDelivery()
        // Without a lock timeout, as with an unreachable server.
        let supervisor = site.supervisor(lockTimeout: 0)
        let ended = EventCollector()
        let run = Task {
            try await supervisor.run()
            ended.tell(.tick)
        }
        let waiting = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                AND query ILIKE '%INSERT INTO pushmta_engine.mta_child%'
            """
        try await site.wait(for: "1", from: waiting)
        supervisor.drain()
        #expect(await ended.first(within: .seconds(20)) { _ in true } == .tick, "it waits for no process")
        try await holder.run(script: "COMMIT")
        try await run.value
        await holder.close()
    }

    @Test func aDeliveryThatIsResumedAtItsEndIsFinishedAtOnce() async throws {
        let (site, own) = try await twoDeliveries()
        let (ended, part) = (try await site.holdPart(child: own), try await site.holdPart(child: own))
        let delivery = part.deliveryID
        try await site.store.pauseDelivery(delivery)
        try await site.finish(ended)
        #expect(try await site.store.deliveryProgress(ended.deliveryID).state == .inProgress, "nobody has looked")
        let settings: (inout SupervisorSettings) -> Void = {
            $0.mta.master.dataBasePoolPeriodSec = 3_600
            $0.mta.lease.durationSec = 3_600
        }
        try await site.running(site.supervisor(settings)) {
            let listening = """
                SELECT count(*) > 0 FROM pg_stat_activity
                WHERE application_name LIKE '%listen%' AND query ILIKE 'listen%'
                """
            try await site.wait(for: "true", from: listening)
            // After the first look, only the notification can finish the next delivery.
            try await site.wait(for: .finished, of: ended.deliveryID)
            try await site.finish(part)
            try await site.store.resumeDelivery(delivery)
            try await site.wait(for: .finished, of: delivery)
        }
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
