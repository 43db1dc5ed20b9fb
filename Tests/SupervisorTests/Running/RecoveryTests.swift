import Logging
import PostgresClient
import PushCore
import Store
import SystemPackage
import TestSupport
import Testing

@testable import Supervisor

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite(.timeLimit(.minutes(3))) struct RecoveryTests {
    private let child = "SELECT id FROM pushmta_engine.mta_child ORDER BY id LIMIT 1"

    /// Runs the supervisor once, starts and drains a child, and returns the child's id.
    private func firstRun(_ site: SupervisorSite) async throws -> Int64 {
        _ = try await site.startDelivery()
        var child: Int64 = 0
        try await site.running(site.supervisor()) { child = try await firstChild(site) }
        return child
    }

    private func expectReplayed(_ site: SupervisorSite, _ part: ClaimedPart, child: Int64) async throws {
        try await site.waitUntilReady(part)
        let rows = "SELECT string_agg(sequence || ':' || status, ' ' ORDER BY sequence) FROM pushmta_engine.broad_log"
        #expect(try await site.value(rows) == "1:1 2:2")
        let recovery = "SELECT ambiguous::text || soft_sequences::text FROM pushmta_engine.delivery_part_recovery"
        #expect(try await site.value(recovery) == "{5}{3}")
        try await site.wait { !site.folder.contains("host/child-\(child).journal") }
    }

    private func firstChild(_ site: SupervisorSite) async throws -> Int64 {
        try await site.wait(for: "1", from: "SELECT count(*) FROM pushmta_engine.mta_child")
        return try #require(try await site.value(child).flatMap { Int64($0) })
    }

    private func killProcess(_ site: SupervisorSite, child: Int64) throws {
        let file = site.folder.path.appending("host/child-\(child).journal.pid").string
        let text = String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
        let pid = try #require(Int32(text.split(separator: "\n").first ?? ""))
        #expect(kill(pid, SIGKILL) == 0)
    }

    @Test func aDeadChildsJournalIsReplayed() async throws {
        let site = try await SupervisorSite.make()
        _ = try await site.startDelivery()
        try await site.running(site.supervisor()) {
            let child = try await firstChild(site)
            let pidFile = "host/child-\(child).journal.pid"
            try await site.wait { site.folder.contains(pidFile) }
            let part = try await site.holdPart(child: child, header: site.header(child))
            try killProcess(site, child: child)
            try await expectReplayed(site, part, child: child)
            let reason = try await site.value("SELECT exit_reason FROM pushmta_engine.mta_child WHERE id = \(child)")
            #expect(reason == "signalled")
            try await site.wait(for: "2", from: "SELECT count(*) FROM pushmta_engine.mta_child")
        }
    }

    @Test func aJournalThatWasLeftBehindIsReplayedAtTheStart() async throws {
        let site = try await SupervisorSite.make()
        let child = try await firstRun(site)
        let part = try await site.holdPart(child: child, header: site.header(child))
        try await site.running(site.supervisor()) { try await expectReplayed(site, part, child: child) }
        let counted = "SELECT journal_replayed FROM pushmta_engine.mta_child WHERE id = \(child)"
        #expect(try await site.value(counted) == "2")
    }

    @Test func aJournalOfAnEarlierBootIsStoredAndTheMarkCounts() async throws {
        let site = try await SupervisorSite.make()
        let child = try await firstRun(site)
        var header = try site.header(child)
        header.bootID = UUID()
        let part = try await site.holdPart(child: child, header: header)
        try await site.running(site.supervisor()) {
            try await site.waitUntilReady(part)
            try await site.wait { !site.folder.contains("host/child-\(child).journal") }
        }
        let rows = "SELECT string_agg(sequence || ':' || status, ' ' ORDER BY sequence) FROM pushmta_engine.broad_log"
        #expect(try await site.value(rows) == "1:1 2:2")
        let recovery =
            "SELECT cardinality(ambiguous) || soft_sequences::text FROM pushmta_engine.delivery_part_recovery"
        #expect(try await site.value(recovery) == "\(part.size - 2){3}", "all but the two with an outcome")
    }

    /// A child that dies on a full disk at its start leaves a file without a header. Nothing can be lost with it.
    @Test func aJournalWithoutAHeaderOfAChildThatHoldsNothingGoesAway() async throws {
        let site = try await SupervisorSite.make()
        let child = try await firstRun(site)
        let journal = "host/child-\(child).journal"
        #expect(FileManager.default.createFile(atPath: site.folder.path.appending(journal).string, contents: Data()))
        try await site.running(site.supervisor()) {
            try await site.wait { !site.folder.contains(journal) }
            #expect(!site.folder.contains("\(journal).unreadable"))
        }
    }

    @Test(arguments: ["host", "child", "installation"])
    func aForeignJournalIsPutAsideAndReleasesNothing(what: String) async throws {
        let site = try await SupervisorSite.make()
        let child = try await firstRun(site)
        var header = try site.header(child)
        switch what {
        case "host": header.hostID = UUID()
        case "child": header.childID += 1
        default: header.installationID = UUID()
        }
        let part = try await site.holdPart(child: child, header: header)
        try await site.running(site.supervisor { $0.mta.lease.durationSec = 3_600 }) {
            let alarm = "SELECT alarm LIKE 'child-\(child).journal.foreign%' FROM pushmta_engine.mta_host"
            try await site.wait(for: "true", from: alarm)
        }
        #expect(!site.folder.contains("host/child-\(child).journal"))
        let state = "SELECT state FROM pushmta_engine.delivery_part WHERE id = \(part.id)"
        #expect(try await site.value(state) == "claimed")
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.broad_log") == "0")
    }

    @Test func aJournalWithoutAHeaderIsPutAsideAndTheLeaseDecides() async throws {
        let site = try await SupervisorSite.make()
        let child = try await firstRun(site)
        let part = try await site.holdPart(child: child)
        try site.folder.write([UInt8](repeating: 0x55, count: 500), to: "host/child-\(child).journal")
        try await site.running(site.supervisor { $0.mta.lease.durationSec = 1 }) {
            try await site.waitUntilReady(part)
            try await site.wait { site.folder.contains("host/child-\(child).journal.unreadable") }
        }
        let doubted = try await site.value("SELECT cardinality(ambiguous) FROM pushmta_engine.delivery_part_recovery")
        #expect(doubted == "\(part.size)")
    }

    /// A journal restored from a copy looks whole but lacks what was sent since.
    @Test(arguments: [false, true]) func ofAnOlderJournalTheAnswersCountAndTheRestIsAmbiguous(_ bySign: Bool)
        async throws
    {
        let site = try await SupervisorSite.make()
        let child = try await firstRun(site)
        let part = try await site.holdPart(child: child, header: site.header(child))
        let length = FileManager.default.contents(
            atPath: site.folder.path.appending("host/child-\(child).journal").string
        )?.count
        let told = try #require(length) + 1
        if bySign {
            let sql = """
                UPDATE pushmta_engine.mta_child SET report = report || '{"journal_length": \(told)}' WHERE id = \(child)
                """
            _ = try await site.connection.execute(PostgresStatement(sql, prepare: false))
        } else {
            let mark = PartMark(part: part.id, token: part.fencingToken, through: part.size)
            _ = try await site.store.mark([mark], journalLength: Int64(told))
        }
        try await site.running(site.supervisor()) {
            try await site.waitUntilReady(part)
            try await site.wait { site.folder.contains("host/child-\(child).journal.older") }
        }
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.broad_log") == "2")
        let doubted = try await site.value("SELECT cardinality(ambiguous) FROM pushmta_engine.delivery_part_recovery")
        #expect(doubted == "\(part.size - 2)")
    }

    /// A copied folder has the journals of living children, while the original host still sends heartbeats.
    @Test func aCopiedFolderBecomesANewHost() async throws {
        let site = try await SupervisorSite.make()
        let child = try await firstRun(site)
        _ = try await site.holdPart(child: child, header: site.header(child))
        let id = try #require(try await site.value("SELECT host_id FROM pushmta_engine.mta_child WHERE id = \(child)"))
        let report = HostReport(
            id: id,
            name: "original",
            pid: 4_711,
            version: "",
            schemaVersion: 1,
            state: .running,
            journalFolder: "/",
            startNonce: UUID().uuidString.lowercased()
        )
        try await site.store.registerHost(report)
        let store = site.store
        let living = Task { () async throws -> Void in
            while !Task.isCancelled {
                #expect(try await !store.recordHostHeartbeat(report).isHostLost)
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        try await site.running(site.supervisor()) {
            try await site.wait { site.folder.contains("host/child-\(child).journal.foreign") }
            let hosts = "SELECT count(*) FROM pushmta.mta_host WHERE health = 'alive'"
            try await site.wait(for: "2", from: hosts)
            let alarm = "SELECT alarm FROM pushmta_engine.mta_host WHERE id <> '\(id)'"
            try await site.wait(for: "true", from: "SELECT bool_or(a.alarm LIKE '%is a copy of%') FROM (\(alarm)) a")
            #expect(try site.header(child).hostID.uuidString.lowercased() != id)
        }
        living.cancel()
        let held = "SELECT count(*) FROM pushmta_engine.delivery_part WHERE state = 'claimed' AND owner = \(child)"
        #expect(try await site.value(held) == "1", "its child lives with the other")
        try await living.value
    }

    @Test func ofADamagedJournalTheAnswersBeforeTheDamageCount() async throws {
        let site = try await SupervisorSite.make()
        let child = try await firstRun(site)
        let part = try await site.holdPart(child: child, header: site.header(child), damage: true)
        try await site.running(site.supervisor()) {
            try await site.waitUntilReady(part)
            try await site.wait { site.folder.contains("host/child-\(child).journal.unreadable") }
        }
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.broad_log") == "2")
        let doubted = try await site.value("SELECT cardinality(ambiguous) FROM pushmta_engine.delivery_part_recovery")
        #expect(doubted == "\(part.size - 2)")
    }

    @Test func aDatabaseThatStaysAwayKeepsNoSupervisorAndLosesNoJournal() async throws {
        let site = try await SupervisorSite.make()
        _ = try await site.startDelivery()
        let supervisor = site.supervisor()
        let run = Task { try await supervisor.run() }
        let child = try await firstChild(site)
        try await site.wait { site.folder.contains("host/child-\(child).journal.pid") }
        let part = try await site.holdPart(child: child, header: site.header(child))
        try await site.setDatabaseAway(true)
        supervisor.drain()
        try await run.value
        #expect(site.folder.contains("host/child-\(child).journal"))
        try await site.setDatabaseAway(false)
        try await site.running(site.supervisor()) {
            try await expectReplayed(site, part, child: child)
            let reason = "SELECT exit_reason FROM pushmta_engine.mta_child WHERE id = \(child)"
            try await site.wait(for: "orphaned", from: reason)
        }
    }

    @Test func aRowWhoseChildLeftNothingBehindIsEnded() async throws {
        let site = try await SupervisorSite.make()
        let child = try await firstRun(site)
        let row = try await site.row(of: child)
        let gone = try await site.store.insertChild(row)
        try await site.running(site.supervisor()) {
            let reason = "SELECT exit_reason FROM pushmta_engine.mta_child WHERE id = \(gone)"
            try await site.wait(for: "orphaned", from: reason)
        }
    }

    /// The number of looks decides: a gap between looks counts as at most a quarter of a lease.
    @Test(.timeLimit(.minutes(1))) func afterAnOutageOwnersHaveAWholeLease() async throws {
        let site = try await SupervisorSite.make()
        let part = try await site.holdPart(child: site.lostChild(like: firstRun(site)))
        let store = try await Store.connect(site.database.configuration(role: "sweep"))
        let sweep = LeaseSweep(
            store: store,
            lease: .nanoseconds(15),
            logger: Logger(label: "test"),
            ownDead: { _ in false }
        )
        func isTaken(after looks: Int) async throws -> Bool {
            for _ in 0..<looks { try await sweep.look() }
            return try await site.value("SELECT state FROM pushmta_engine.delivery_part WHERE id = \(part.id)")
                == "ready"
        }
        #expect(try await !isTaken(after: 4))
        let made = store.connectionsMade
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE '%sweep%'"
        #expect(try await site.value(end) == "1")
        // Another query notices the loss of the connection, so the next look uses a new connection.
        while store.connectionsMade == made { _ = try? await store.leases() }
        #expect(try await !isTaken(after: 4))
        #expect(try await isTaken(after: 2))
    }

    @Test func aPartOfALostHostIsTaken() async throws {
        let site = try await SupervisorSite.make()
        _ = try await site.startDelivery()
        try await site.running(site.supervisor { $0.mta.lease.durationSec = 1 }) {
            let own = try await firstChild(site)
            let id = try await site.lostChild(like: own)
            let part = try await site.holdPart(child: id)
            try await site.waitUntilReady(part)
            let doubted = try await site.value(
                "SELECT cardinality(ambiguous) FROM pushmta_engine.delivery_part_recovery"
            )
            #expect(doubted == "\(part.size)")
        }
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
