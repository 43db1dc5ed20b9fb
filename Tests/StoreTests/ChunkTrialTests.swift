import PushCore
import Store
import Synchronization
import Testing

@Suite("The trial of the first messages of a delivery that was not analysed")
struct ChunkTrialTests {
    private static let content = #"{"ios": {"title": "Hi {{firstName}}"}, "android": {"title": "Hi {{firstName}}"}}"#
    private static let problem = DeliveryProblem(
        subject: "content",
        pointer: "",
        problem: "too large",
        remedy: "cut it"
    )

    /// What a trial saw: the numbers of messages, by application.
    private final class Trials: Sendable {
        let seen = Mutex<[[Int32: Int]]>([])

        func trial(_ problems: [DeliveryProblem] = []) -> @Sendable (PreparationJob) -> ChunkTrial? {
            { job in
                self.seen.withLock { $0.append([:]) }
                return ChunkTrial(
                    routes: job.applications.map { application in
                        ChunkTrial.Route(application: application.id, fields: MessageFields(names: ["firstName"])) {
                            loaded in
                            self.seen.withLock { $0[$0.count - 1][application.id] = loaded.count }
                            return loaded.fields[0].string(0) == "Ada" ? problems : []
                        }
                    }
                )
            }
        }
    }

    /// A delivery to this many subscribers on each platform.
    private func edited(_ subscribers: Int64) async throws -> (StoreFixture, Int64) {
        let fixture = try await StoreFixture.make()
        for application in ["shop-ios", "shop-android"] {
            try await fixture.store.seedSubscriptions(application: application, count: subscribers)
        }
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET recipient = jsonb_build_object('firstName', 'Ada')"
        )
        let delivery = NewDelivery(label: "Sale", applications: ["shop-ios", "shop-android"], content: Self.content)
        return (fixture, try await fixture.store.createDelivery(delivery))
    }

    private func claim(_ fixture: StoreFixture) async throws -> PreparationJob {
        try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
    }

    @Test("It sees messages of every application before any is committed, and only in the first chunk")
    func firstChunk() async throws {
        let (fixture, id) = try await edited(100)
        try await fixture.store.startDelivery(id)
        let job = try await claim(fixture)
        let trials = Trials()
        while try await !fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 3, trial: trials.trial()).done {}
        let seen = trials.seen.withLock { $0 }
        #expect(seen.count == 1 && seen.first?.count == 2, "\(seen)")
        #expect(seen.first?.values.allSatisfy { $0 >= 20 } == true, "\(seen)")
        #expect(try await fixture.store.deliveryProgress(id).target == 200)
        #expect(try await fixture.assertEquation(id))
    }

    @Test("A delivery that fits into one chunk still does")
    func smallDelivery() async throws {
        let (fixture, id) = try await edited(10)
        try await fixture.store.startDelivery(id)
        let job = try await claim(fixture)
        let trials = Trials()
        let chunk = try await fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 3, trial: trials.trial())
        #expect(chunk.done && chunk.messages == 20)
        #expect(trials.seen.withLock { $0.first?.values.sorted() } == [10, 10])
    }

    @Test("What it refuses leaves nothing behind, and the author gets the problems")
    func refused() async throws {
        let (fixture, id) = try await edited(100)
        try await fixture.store.startDelivery(id)
        let job = try await claim(fixture)
        let trial = Trials().trial([Self.problem])
        let refusal = await #expect(throws: ChunkTrial.Refusal.self) {
            _ = try await fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 3, trial: trial)
        }
        #expect(refusal?.problems == [Self.problem, Self.problem])
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery_part WHERE delivery_id = \(id)") == 0
        )
        #expect(try await fixture.store.returnDelivery(job, [Self.problem], reason: "too large; cut it") == .editing)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.target == 0 && progress.stateReason == "too large; cut it")
        #expect(try await fixture.store.problems(ofDelivery: id).map(\.problem) == ["too large"])
    }

    @Test("An analysis whose messages were not rendered before the start is tried before they are released")
    func heldMessages() async throws {
        let (fixture, id) = try await edited(100)
        try await fixture.store.analyzeDelivery(id)
        let early = try await claim(fixture)
        let trials = Trials()
        while try await !fixture.store.prepareChunk(early, partSize: 20, partsPerChunk: 3, trial: trials.trial()).done {
        }
        #expect(trials.seen.withLock { $0.isEmpty }, "an analysis renders a sample of its own")
        try await fixture.store.startDelivery(id)
        let job = try await claim(fixture)
        await #expect(throws: ChunkTrial.Refusal.self) {
            _ = try await fixture.store.prepareChunk(job, partSize: 20, trial: trials.trial([Self.problem]))
        }
        #expect(try await fixture.parts(id, "ready") == 0)
        #expect(try await fixture.store.returnDelivery(job, [Self.problem], reason: "x") == .editing)
    }

    @Test("What an analysis has rendered is not tried again")
    func analysed() async throws {
        let (fixture, id) = try await edited(100)
        try await fixture.store.analyzeDelivery(id)
        let early = try await claim(fixture)
        while try await !fixture.store.prepareChunk(early, partSize: 20, partsPerChunk: 3).done {}
        _ = try await fixture.store.endAnalysis(of: early, AnalysisFindings())
        try await fixture.sql(
            "DO $$ BEGIN PERFORM pushmta.start_delivery(\(id), now() + interval '30 minutes'); END $$"
        )
        try await fixture.sql("UPDATE pushmta_engine.delivery SET start_at = now() WHERE id = \(id)")
        let job = try await claim(fixture)
        let trials = Trials()
        while try await !fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 3, trial: trials.trial()).done {}
        #expect(trials.seen.withLock { $0.isEmpty })
        #expect(try await fixture.parts(id, "held") == 0)
    }
}
