import GatewaySimulator
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import FeedbackWorker

/// The worker and the feedback service of a binary gateway, which forgets what it has told.
@Suite("Feedback services", .timeLimit(.minutes(5)))
struct FeedbackServiceTests {
    private let read = "SELECT count(*) FROM pushmta.feedback_service WHERE in_use AND ended_at IS NOT NULL"

    @Test("It asks without any delivery, and disables what has died since its registration")
    func applies() async throws {
        try await BinarySite.run { (binary: BinarySite) async throws in
            binary.kill(3)
            binary.killLongAgo(binary.tokens[10])
            let worker = binary.worker()
            let running = Task { await worker.run() }
            #expect(try await binary.site.wait(for: 3, binary.disabled))
            #expect(try await binary.site.wait(for: 1, read))
            #expect(binary.simulator.feedbackCount == 0)
            let row = try #require(try await binary.site.store.feedbackServices().first)
            #expect(row.application == BinarySite.application && row.tokens == 4 && row.trouble == "")
            let outdated = "SELECT count(*) FROM pushmta_engine.token_event WHERE state = 'outdated'"
            #expect(try await binary.site.wait(for: 1, outdated))
            worker.drain()
            await running.value
        }
    }

    @Test("Each period it is asked again, by the one worker that acts")
    func period() async throws {
        try await BinarySite.run { (binary: BinarySite) async throws in
            let workers = (0..<3).map { _ in binary.worker { $0.settings.nmac.binary.feedbackPeriodSec = 1 } }
            let running = workers.map { worker in Task { await worker.run() } }
            #expect(try await binary.site.wait(for: 1, read))
            for count in [2, 5] {
                binary.kill(count)
                #expect(try await binary.site.wait(for: Int64(count), binary.disabled))
            }
            // What was disabled already is named again and is nobody's business.
            let events = "SELECT count(*) FROM pushmta_engine.token_event"
            #expect(try await binary.site.number(events) == 5)
            for worker in workers { worker.drain() }
            for task in running { await task.value }
        }
    }

    @Test("What was read and not stored when PostgreSQL crashes is stored when it is back")
    func crash() async throws {
        let cluster = try await TestCluster.start()
        try await BinarySite.run(in: cluster) { (binary: BinarySite) async throws in
            let holder = try await binary.holdStoring()
            binary.kill(4)
            let worker = binary.worker()
            let running = Task { await worker.run() }
            #expect(try await binary.waitForStoring())
            #expect(binary.simulator.feedbackCount == 0, "nobody but the worker knows of them")
            try await cluster.stop(immediately: true)
            await holder.close()
            try await cluster.launch()
            #expect(try await binary.site.wait(for: 4, binary.disabled))
            worker.drain()
            await running.value
            await binary.site.store.close()
        }
    }

    @Test("A worker that is asked to end stores what it has read")
    func drain() async throws {
        try await BinarySite.run { (binary: BinarySite) async throws in
            let holder = try await binary.holdStoring()
            binary.kill(4)
            let worker = binary.worker()
            let running = Task { await worker.run() }
            #expect(try await binary.waitForStoring())
            worker.drain()
            await holder.close()
            await running.value
            #expect(try await binary.site.number("SELECT count(*) FROM pushmta_engine.token_event") == 4)
            #expect(try await binary.site.number(read) == 1)
            let next = binary.worker()
            let following = Task { await next.run() }
            #expect(try await binary.site.wait(for: 4, binary.disabled))
            next.drain()
            await following.value
        }
    }

    @Test("What stands in the way is told, and tried again without the others waiting for it")
    func trouble() async throws {
        try await BinarySite.run { (binary: BinarySite) async throws in
            let worker = binary.worker { $0.settings.credentialKeyFile = "" }
            let running = Task { await worker.run() }
            let told = "SELECT count(*) FROM pushmta.feedback_service WHERE trouble LIKE '%credentialKeyFile%'"
            #expect(try await binary.site.wait(for: 1, told))
            let later = """
                SELECT count(*) FROM pushmta.feedback_service
                WHERE next_at BETWEEN now() + interval '4 minutes' AND now() + interval '6 minutes' AND ended_at IS NULL
                """
            #expect(try await binary.site.number(later) == 1)
            worker.drain()
            await running.value
        }
    }
}
