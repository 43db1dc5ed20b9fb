import Foundation
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// PushMTA behind pgbouncer.
@Suite(.serialized) struct PoolerTests {
    /// Migration, doctor, a delivery with its outcomes, pause and resume over LISTEN: all of it through the pooler.
    @Test func sessionModeWorksFromEndToEnd() async throws {
        try await DeliverySite.with(subscribers: 2_000, pooling: .session) { site in
            let doctor = try await Program.pushmta().run(["doctor", "--config", site.testSite.settingsFile])
            #expect(doctor.output.contains("reachable") && !doctor.output.contains("pool_mode"), "\(doctor.output)")
            let id = try await site.send(to: site.application)
            #expect(try await site.progress(id).sent == 2_000)
            let second = try await site.send(to: site.application)
            try await site.run("delivery", "pause", String(second), "--wait")
            try await site.run("delivery", "resume", String(second))
            #expect(try await site.progress(second).sent == 2_000)
            let counters = try await site.testSite.counters(site.simulator)
            #expect(counters.accepted == 4_000 && counters.duplicates == 0)
        }
    }

    @Test(arguments: [TestPooler.Mode.transaction, .statement])
    func theOtherModesAreRefusedAndNamed(_ mode: TestPooler.Mode) async throws {
        let database = try await TestDatabase.create(.migrated)
        let pooler = try await database.cluster.pooler(mode, sessions: 1)
        defer { pooler.stop() }
        let folder = try TemporaryFolder()
        let environment = [
            "PUSHMTA_DATABASE_URL": pooler.connectionString(database: database.name),
            "PUSHMTA_MTA_WORKING_PATH": folder.path + "/mta",
        ]
        for (words, status) in [(["doctor"], 1), (["status"], 78), (["migrate"], 78)] as [([String], Int32)] {
            let ending = try await Program.pushmta().run(words, environment: environment)
            #expect(ending.status == status, "\(words): \(ending.output) \(ending.errors)")
            let said = ending.output + ending.errors
            #expect(said.contains("pool_mode = session"), "\(words): \(said)")
        }
        let supervisor = BackgroundProcess(
            name: "supervisor",
            recordFile: folder.path + "/pid",
            logFile: folder.path + "/log"
        )
        try await supervisor.start(try Program.pushmta().path, ["supervisor", "run"], environment: environment)
        try await eventually("its words", within: DeliverySite.limit) {
            try String(contentsOfFile: supervisor.logFile, encoding: .utf8).contains("pool_mode = session")
        }
        #expect(supervisor.running != nil, "somebody may put the pooler right")
        try await supervisor.stop()
    }
}
