import Foundation
import PushCore
import Store
import TestSupport
import Testing
import TrackingSpools

@testable import FeedbackWorker

@Suite("Feedback workers load the spools of web processes that are gone")
struct SpoolTests {
    private let hits = "SELECT count(*) FROM pushmta_engine.tracking_log"
    private let first = "SELECT count(*) FROM pushmta_engine.tracking_log WHERE first"

    @Test("Whoever acts: what is left is loaded, what is held is not, and it is in the worker's row")
    func orphans() async throws {
        let site = try await SpoolSite.make(messages: 100)
        try site.spool(1...20).close()
        let living = try site.spool(21...30)
        // The file of the first was taken over by the second one, which has let go of nothing yet.
        let acting = site.site.worker()
        let actingTask = Task { await acting.run() }
        #expect(try await site.site.wait(for: 1, "SELECT count(*) FROM pushmta.feedback_worker WHERE state = 'acting'"))
        let standby = site.worker()
        let standbyTask = Task { await standby.run() }
        #expect(
            try await site.site.wait(for: 1, "SELECT count(*) FROM pushmta.feedback_worker WHERE state = 'standby'")
        )
        try site.spool(41...50).close()
        #expect(try await site.site.wait(for: 10, hits))
        #expect(try site.files.count == 2)
        living.close()
        #expect(try await site.site.wait(for: 40, hits))
        #expect(try await site.site.wait(for: 40, "SELECT sum(hits_loaded) FROM pushmta.feedback_worker"))
        #expect(try await site.site.number(first) == 40)
        #expect(try await site.site.wait(for: 40, "SELECT sum(hits) FROM pushmta_engine.tracking_source"))
        for worker in [acting, standby] { worker.drain() }
        await actingTask.value
        await standbyTask.value
        #expect(try site.files.isEmpty)
    }

    @Test("What the process stored before its end is not stored again, and two workers load each record once")
    func once() async throws {
        let site = try await SpoolSite.make(messages: 400)
        let source = UUID()
        let spool = try site.spool(1...100, source: source)
        // The process has stored three of its records and was killed before it could forget them.
        let keys = try await site.site.store.trackingKeyring()
        for position in Int64(1)...3 {
            guard case .resolved(let hit) = HitResult(site.hit(Int32(position)), keys) else {
                Issue.record("The hit is not ours.")
                return
            }
            let unknown = try await site.site.store.recordHits(
                source: source,
                position: position,
                host: "web",
                [hit]
            )
            #expect(unknown == [])
        }
        spool.close()
        for start in stride(from: Int32(101), to: 400, by: 50) { try site.spool(start...(start + 49)).close() }
        let workers = (0..<2).map { _ in site.worker() }
        let tasks = workers.map { worker in Task { await worker.run() } }
        #expect(try await site.site.wait(for: 400, hits))
        #expect(try await site.site.number(first) == 400)
        for worker in workers { worker.drain() }
        for task in tasks { await task.value }
        #expect(try await site.site.number(hits) == 400)
        #expect(try site.files.isEmpty)
    }

    @Test("What cannot be loaded is counted in the worker's row")
    func waiting() async throws {
        let site = try await SpoolSite.make(messages: 10)
        try site.spool(1...5).close()
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: site.folder + "/hits-other.spool"))
        let worker = site.worker()
        let task = Task { await worker.run() }
        #expect(try await site.site.wait(for: 1, "SELECT max(waiting_spools) FROM pushmta.feedback_worker"))
        #expect(try await site.site.wait(for: 5, hits))
        #expect(try site.files == ["hits-other.spool.unreadable"])
        #expect(try await site.site.store.feedbackWorkers().first?.waitingSpools == 1)
        worker.drain()
        await task.value
    }

    @Test("A host without the folder is left as it is")
    func noFolder() async throws {
        let site = try await SpoolSite.make(messages: 1)
        let worker = site.worker()
        let task = Task { await worker.run() }
        #expect(try await site.site.wait(for: 1, "SELECT count(*) FROM pushmta.feedback_worker WHERE state = 'acting'"))
        worker.drain()
        await task.value
        #expect(!FileManager.default.fileExists(atPath: site.folder))
    }
}
