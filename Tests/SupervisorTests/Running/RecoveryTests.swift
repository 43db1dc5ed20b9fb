import PushCore
import Store
import Supervisor
import SystemPackage
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite(.timeLimit(.minutes(3))) struct RecoveryTests {
    private let child = "SELECT id FROM pushmta_engine.mta_child ORDER BY id LIMIT 1"

    /// Claims a part in the name of a child, and journals that all of it was about to be sent and what came back.
    private func holdPart(_ site: SupervisorSite, child: Int64, journal: Bool) async throws -> ClaimedPart {
        let row = try await site.store.children(includeExited: true).first { $0.beat.childID == child }?.row
        let (application, account) = (try #require(row?.applicationID), try #require(row?.accountID))
        let parts = try await site.store.claimParts(application: application, account: account, child: child, limit: 1)
        let part = try #require(parts.first)
        _ = try await site.store.mark([PartMark(part: part.id, token: part.fencingToken, through: part.size)])
        guard journal else { return part }
        var bytes: [UInt8] = []
        let header = JournalHeader(childID: child, generation: 1, hostID: UUID())
        JournalEncoder.append(header, to: &bytes)
        let records: [JournalRecord] = [
            .intent(part: part.id, token: part.fencingToken, ranges: [1...5]),
            .answers(
                part: part.id,
                token: part.fencingToken,
                timeMilliseconds: 0,
                [
                    JournalAnswer(sequence: 1, outcomeClass: .accepted, status: 200),
                    JournalAnswer(sequence: 2, outcomeClass: .permanent, status: 400, reason: "BadTopic"),
                    JournalAnswer(sequence: 3, outcomeClass: .retry, status: 503, reason: "ServiceUnavailable"),
                    JournalAnswer(sequence: 4, outcomeClass: .unprocessed),
                ]
            ),
        ]
        for record in records { JournalEncoder.append(record, to: &bytes) }
        try site.folder.write(bytes, to: "host/child-\(child).journal")
        return part
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
            let part = try await holdPart(site, child: child, journal: true)
            try killProcess(site, child: child)
            try await expectReplayed(site, part, child: child)
            let reason = try await site.value("SELECT exit_reason FROM pushmta_engine.mta_child WHERE id = \(child)")
            #expect(reason == "signalled")
            try await site.wait(for: "2", from: "SELECT count(*) FROM pushmta_engine.mta_child")
        }
    }

    @Test func aJournalThatWasLeftBehindIsReplayedAtTheStart() async throws {
        let site = try await SupervisorSite.make()
        _ = try await site.startDelivery()
        var child: Int64 = 0
        try await site.running(site.supervisor()) { child = try await firstChild(site) }
        let part = try await holdPart(site, child: child, journal: true)
        try await site.running(site.supervisor()) { try await expectReplayed(site, part, child: child) }
    }

    @Test func aDamagedJournalIsPutAsideAndTheMarkCounts() async throws {
        let site = try await SupervisorSite.make()
        _ = try await site.startDelivery()
        var child: Int64 = 0
        try await site.running(site.supervisor()) { child = try await firstChild(site) }
        let part = try await holdPart(site, child: child, journal: false)
        try site.folder.write([UInt8](repeating: 0x55, count: 500), to: "host/child-\(child).journal")
        try await site.running(site.supervisor()) {
            try await site.waitUntilReady(part)
            try await site.wait { site.folder.contains("host/child-\(child).journal.unreadable") }
        }
        let through = try await site.value("SELECT ambiguous_through FROM pushmta_engine.delivery_part_recovery")
        #expect(through == "\(part.size)")
    }

    @Test func aPartOfALostHostIsTaken() async throws {
        let site = try await SupervisorSite.make()
        _ = try await site.startDelivery()
        let host = UUID().uuidString.lowercased()
        try await site.store.registerHost(
            HostReport(
                id: host,
                name: "lost",
                pid: 1,
                version: "",
                schemaVersion: 1,
                state: .running,
                journalFolder: "/"
            )
        )
        try await site.running(site.supervisor { $0.leaseSec = 1 }) {
            let own = try await firstChild(site)
            let children = try await site.store.children(includeExited: true)
            let row = try #require(children.first { $0.beat.childID == own }?.row)
            let lost = ChildRow(
                hostID: host,
                generation: 1,
                applicationID: row.applicationID,
                accountID: row.accountID,
                connector: row.connector
            )
            let id = try await site.store.insertChild(lost)
            let part = try await holdPart(site, child: id, journal: false)
            try await site.waitUntilReady(part)
            let through = try await site.value("SELECT ambiguous_through FROM pushmta_engine.delivery_part_recovery")
            #expect(through == "\(part.size)")
        }
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
