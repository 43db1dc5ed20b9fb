import PushCore
import Synchronization
import Testing

@testable import Store

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
        /// The numbers of messages from which they were chosen.
        let all = Mutex<[Int64]>([])
        /// The first names that were chosen for their length.
        let longest = Mutex<[String]>([])

        /// - Parameters:
        ///   - variants: the numbers of the variants that each application's messages may show.
        ///   - most: the maximum number of messages that are rendered.
        ///   - longest: the time after which no more are read.
        func trial(
            _ problems: [DeliveryProblem] = [],
            variants: [Int16] = [0],
            most: Int64 = 50_000,
            longest: Duration = .seconds(600)
        ) -> @Sendable (PreparationJob) -> ChunkTrial? {
            { job in
                self.seen.withLock { $0.append([:]) }
                let routes = job.applications.flatMap { application in
                    variants.map { variant in
                        ChunkTrial.Route(
                            application: application.id,
                            fields: MessageFields(names: ["firstName", "field\(variant)"]),
                            variant: variant,
                            judge: Judge(trials: self, application: application.id, problems: problems)
                        )
                    }
                }
                return ChunkTrial(routes: routes, triesAll: job.isExplicit, most: most, longest: longest)
            }
        }
    }

    /// Notes what it sees, and refuses messages of Ada.
    private struct Judge: ChunkTrial.Judge {
        let trials: Trials
        let application: Int32
        let problems: [DeliveryProblem]
        private var isRefused = false

        init(trials: Trials, application: Int32, problems: [DeliveryProblem]) {
            self.trials = trials
            self.application = application
            self.problems = problems
        }

        mutating func add(_ loaded: LoadedPart, isUsual: (Int) -> Bool) {
            #expect(loaded.fields.count == 2, "only the fields of its route")
            let names = (0..<loaded.count).map { loaded.fields[0].string($0) }
            if names.contains("Ada") { isRefused = true }
            let longest = names.indices.filter { !isUsual($0) }.map { names[$0] }
            trials.longest.withLock { $0 += longest }
            trials.seen.withLock { $0[$0.count - 1][application, default: 0] += loaded.count }
        }

        func problems(among all: Int64) -> [DeliveryProblem] {
            trials.all.withLock { $0.append(all) }
            return isRefused ? problems : []
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

    @Test("It sees the longest values of the whole chunk, and others from everywhere in it")
    func longestValues() async throws {
        let (fixture, id) = try await edited(1_500)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET recipient = jsonb_build_object('firstName',
                CASE WHEN id % 1500 IN (1, 1400) THEN repeat('x', 5000) || id ELSE 'Boris' END)
            """
        )
        try await fixture.store.startDelivery(id)
        let job = try await claim(fixture)
        let trials = Trials()
        _ = try await fixture.store.prepareChunk(job, trial: trials.trial([Self.problem]))
        #expect(trials.seen.withLock { $0.first?.values.sorted() } == [1_000, 1_000])
        #expect(trials.all.withLock { $0 } == [1_500, 1_500])
        let long = Set(trials.longest.withLock { $0 }.filter { $0.count > 1_000 })
        #expect(
            long.isSuperset(of: ["1400", "2900"].map { String(repeating: "x", count: 5_000) + $0 }),
            "\(long.count)"
        )
        #expect(try await fixture.assertEquation(id))
    }

    /// A started delivery to 1,200 targets, 600 of each platform; the 1,150th is Ada.
    private func listed() async throws -> (StoreFixture, PreparationJob) {
        let (fixture, _) = try await edited(600)
        let id = try await fixture.store.createDelivery(
            NewDelivery(
                label: "Sale",
                applications: ["shop-ios", "shop-android"],
                content: Self.content,
                explicitTargets: true
            )
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, variables)
            SELECT \(id), s.id, jsonb_build_object('firstName',
                CASE WHEN row_number() OVER (ORDER BY s.id) = 1150 THEN 'Ada' ELSE 'Boris' END)
            FROM pushmta_engine.subscription s ORDER BY s.id
            """
        )
        try await fixture.store.startDelivery(id)
        return (fixture, try await claim(fixture))
    }

    @Test("Of an explicit target it sees all messages of the first chunk")
    func explicitTarget() async throws {
        let (fixture, job) = try await listed()
        let trials = Trials()
        await #expect(throws: ChunkTrial.Refusal.self) {
            _ = try await fixture.store.prepareChunk(job, partSize: 100, trial: trials.trial([Self.problem]))
        }
        #expect(trials.seen.withLock { $0.first?.values.sorted() } == [600, 600])
        #expect(try await fixture.store.returnDelivery(job, [Self.problem], reason: "x") == .editing)
    }

    @Test("Of a larger explicit target it sees a sample, within one limit for all applications")
    func largeExplicitTarget() async throws {
        let (fixture, job) = try await listed()
        let trials = Trials()
        _ = try await fixture.store.prepareChunk(job, partSize: 100, trial: trials.trial(most: 1_199))
        #expect(trials.seen.withLock { $0.first?.values.sorted() } == [599, 599])
        #expect(trials.all.withLock { $0 } == [600, 600])
    }

    @Test("Each variant that the messages of an explicit target may show counts against the limit")
    func explicitVariants() async throws {
        let (fixture, job) = try await listed()
        let trials = Trials()
        await #expect(throws: ChunkTrial.Refusal.self) {
            let trial = trials.trial([Self.problem], variants: [1, 2, 3], most: 3_600)
            _ = try await fixture.store.prepareChunk(job, partSize: 100, trial: trial)
        }
        #expect(trials.seen.withLock { $0.first?.values.sorted() } == [1_800, 1_800])
        #expect(trials.all.withLock { $0 } == Array(repeating: 600, count: 6))
        _ = try await fixture.store.prepareChunk(
            job,
            partSize: 100,
            trial: trials.trial(variants: [1, 2, 3], most: 3_599)
        )
        #expect(trials.seen.withLock { $0.last?.values.sorted() } == [1_797, 1_797])
    }

    @Test("It reads no more of an explicit target once it has taken long")
    func slowTrial() async throws {
        let (fixture, job) = try await listed()
        let trials = Trials()
        _ = try await fixture.store.prepareChunk(job, partSize: 100, trial: trials.trial(longest: .zero))
        let seen = trials.seen.withLock { $0.first?.values.reduce(0, +) ?? 0 }
        #expect(seen > 0 && seen <= 1_000, "\(seen)")
    }

    @Test("It sees all of a small target once, and writes nothing to find the longest values")
    func smallTarget() async throws {
        let (fixture, id) = try await edited(800)
        try await fixture.sql("ALTER TABLE pushmta_engine.delivery_longest ADD CONSTRAINT unused CHECK (false)")
        try await fixture.store.startDelivery(id)
        let job = try await claim(fixture)
        let trials = Trials()
        _ = try await fixture.store.prepareChunk(job, trial: trials.trial())
        #expect(trials.seen.withLock { $0.first?.values.sorted() } == [800, 800])
        #expect(trials.longest.withLock { $0.isEmpty })
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
