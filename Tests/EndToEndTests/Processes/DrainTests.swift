import Foundation
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Supervisors that are asked to drain.
@Suite(.serialized) struct DrainTests {
    /// Far more messages than the only child holds and resolves before it exits.
    private static let messages: Int64 = 30_000

    /// Drains a working supervisor with this command, starts another one and checks that it finishes the delivery.
    private func drain(_ arguments: (DeliverySite) async throws -> [String]) async throws {
        try await DeliverySite.with(subscribers: Self.messages, children: 1) { site in
            try await site.slowDown(streams: 100, milliseconds: 30)
            let id = try await site.send(to: site.application)
            _ = try await site.progress(id) { $0.sent > 0 }
            let process = try #require(site.testSite.supervisor.running)
            let words = ["supervisor", "drain"] + (try await arguments(site))
            let ending = try await Program.pushmta().run(words + ["--config", site.testSite.settingsFile])
            #expect(ending.status == 0, "\(ending.errors)")
            #expect(ending.output.contains("process \(process.id), has ended"), "\(ending.output)")
            try await site.wait { ProcessRecord(process.id)?.startTicks != process.startTicks }

            let drained = try await site.store.deliveryProgress(id)
            #expect(drained.partsClaimed == 0 && drained.pending > 0)
            #expect(try await site.testSite.counters(site.simulator).accepted == drained.sent)
            #expect(try await site.store.children().isEmpty)

            try await site.slowDown(streams: 1_000, milliseconds: 0)
            try await site.testSite.startSupervisor()
            #expect(try await site.progress(id).sent == Self.messages)
            #expect(try await site.testSite.counters(site.simulator).duplicates == 0)
        }
    }

    @Test func theSupervisorOfTheFolderDrains() async throws {
        try await drain { _ in [] }
    }

    @Test func theSupervisorOfANamedHostDrains() async throws {
        try await drain { site in
            let host = try #require(try await site.store.hosts().first)
            return ["--host", host.report.name]
        }
    }

    @Test func thereIsOneSupervisorAFolder() async throws {
        try await DeliverySite.with { site in
            try await site.wait { try await !site.store.hosts().isEmpty }
            for words in [["supervisor"], ["supervisor", "run"]] {
                let second = try await Program.pushmta().run(words + ["--config", site.testSite.settingsFile])
                #expect(second.status == 75, "\(second.errors)")
                #expect(second.errors.contains(site.testSite.host.journalFolder))
                #expect(second.errors.contains("mta.workingPath"))
            }
            let host = try #require(try await site.store.hosts().first)
            try await site.testSite.supervisor.stop()
            let none = try await site.run("supervisor", "drain", expect: 65)
            #expect(none.errors.contains("No supervisor runs in the folder \(site.testSite.host.journalFolder)"))
            let unknown = try await site.run("supervisor", "drain", "--host", "nowhere", expect: 65)
            #expect(unknown.errors.contains("nowhere"))
            let stopped = try await site.run("supervisor", "drain", "--host", host.report.id, expect: 65)
            #expect(stopped.errors.contains("is not running"), "\(stopped.errors)")
        }
    }
}
