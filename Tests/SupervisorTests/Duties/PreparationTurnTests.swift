import Logging
import PostgresClient
import PushCore
import Store
import Synchronization
import TestSupport
import Testing

@testable import Supervisor

@Suite struct PreparationTurnTests {
    @Test(
        "A delivery of weight 3 gets three quarters next to one of weight 1, whichever started first",
        arguments: [0, 1]
    )
    func sharesFollowWeights(heavy: Int) async throws {
        let site = try await SupervisorSite.make(subscriptions: 6_000)
        var deliveries: [Int64] = []
        for _ in 0..<2 { deliveries.append(try await site.startDelivery()) }
        try await site.store.setDeliveryWeight(deliveries[heavy], 3)
        let duty = Self.duty(site.store)
        let child = try await site.lostChild()
        var claimed: [Int64] = []
        while claimed.count < 400 {
            _ = try await duty.prepareAll()
            let parts = try await site.store.claimParts(application: 1, account: 1, child: child, limit: 1)
            claimed.append(try #require(parts.first).deliveryID)
        }
        // The first parts were prepared before the weights took effect.
        let share = claimed.dropFirst(100).count { $0 == deliveries[heavy] }
        #expect((210...240).contains(share), "of 300 parts, \(share) were of the delivery of weight 3")
    }

    @Test("However many deliveries wait, those already started are finished first")
    func whatIsBegunIsBounded() async throws {
        let site = try await SupervisorSite.make(subscriptions: 60)
        for _ in 0..<30 { _ = try await site.startDelivery() }
        let open = Mutex((now: 0, maximum: 0, ended: 0))
        let duty = Self.duty(
            site.store,
            maxReadyParts: 10_000,
            chunkMade: { chunk in
                open.withLock { open in
                    // Each has two chunks; the first one starts it.
                    open.now += chunk.done ? -1 : 1
                    if chunk.done { open.ended += 1 }
                    open.maximum = max(open.maximum, open.now)
                }
            }
        )
        _ = try await duty.prepareAll()
        #expect(open.withLock { $0.ended } == 30)
        #expect(open.withLock { $0.maximum } <= 10)
    }

    @Test("A delivery more urgent than all in progress starts at once, however many these are")
    func urgentBesideMany() async throws {
        let site = try await SupervisorSite.make(subscriptions: 60)
        for _ in 0..<10 { _ = try await site.startDelivery() }
        let state = Mutex((chunks: [ChunkResult](), maximum: 10))
        let duty = Self.duty(
            site.store,
            maxReadyParts: 10_000,
            isClaiming: { state.withLock { $0.chunks.count < $0.maximum } },
            chunkMade: { chunk in state.withLock { $0.chunks.append(chunk) } }
        )
        _ = try await duty.prepareAll()
        let urgent = try await site.startDelivery()
        try await site.connection.run(
            script: "UPDATE pushmta_engine.delivery SET priority = 9 WHERE id = \(urgent)"
        )
        // Its two chunks, and two that a busy machine prepares in parallel; the others have eight more.
        state.withLock { $0.maximum = 14 }
        _ = try await duty.prepareAll()
        #expect(try await site.store.deliveryProgress(urgent).state == .inProgress)
    }

    @Test("However many deliveries start soon, few wait to be rendered, and the others follow")
    func earlyOnes() async throws {
        let site = try await SupervisorSite.make(subscriptions: 60)
        for _ in 0..<30 { _ = try await site.startDelivery() }
        try await site.connection.run(
            script: "UPDATE pushmta_engine.delivery SET start_at = now() + interval '10 minutes'"
        )
        func count(_ condition: String) async throws -> Int64 {
            let statement = PostgresStatement("SELECT count(*) FROM pushmta_engine.delivery WHERE \(condition)")
            return try await site.connection.execute(statement).one { try $0.int64() }
        }
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let calls = Mutex(0)
        let duty = Self.duty(
            site.store,
            maxReadyParts: 10_000,
            analyse: { _, _ in
                for await _ in gate {}
                return AnalysisFindings()
            },
            roomMade: { calls.withLock { $0 += 1 } }
        )
        _ = try await duty.prepareAll()
        // Ten wait, and at most ten others were begun together with the last of them.
        #expect((10...20).contains(try await count("frozen_at IS NOT NULL")))
        opener.finish()
        try await eventually("a call for the others") { calls.withLock { $0 > 0 } }
        try await eventually("all are analysed") {
            _ = try await duty.prepareAll()
            return try await count("analysed") == 30
        }
    }

    @Test("A delivery whose first messages would not be sent is editing again, and others go on")
    func refusedByItsTrial() async throws {
        let site = try await SupervisorSite.make(subscriptions: 60)
        let refused = try await site.startDelivery()
        let other = try await site.startDelivery()
        let problem = DeliveryProblem(subject: "content", pointer: "", problem: "too large", remedy: "cut it")
        let duty = Self.duty(
            site.store,
            trial: { job in
                ChunkTrial(
                    routes: job.applications.map { application in
                        ChunkTrial.Route(
                            application: application.id,
                            fields: MessageFields(names: ["name"]),
                            judge: FixedJudge(problems: job.deliveryID == refused ? [problem] : [])
                        )
                    }
                )
            }
        )
        _ = try await duty.prepareAll()
        let progress = try await site.store.deliveryProgress(refused)
        #expect(progress.state == .editing && progress.stateReason == "too large; cut it" && progress.target == 0)
        #expect(try await site.store.problems(ofDelivery: refused).map(\.remedy) == ["cut it"])
        #expect(try await site.store.deliveryProgress(other).target > 0)
    }

    /// Says the same of all messages.
    private struct FixedJudge: ChunkTrial.Judge {
        let problems: [DeliveryProblem]

        func add(_ loaded: LoadedPart, isUsual: (Int) -> Bool) {}

        func problems(among all: Int64) -> [DeliveryProblem] { problems }
    }

    /// Parts of ten messages, four parts a chunk, and at most two chunks of two deliveries ahead.
    private static func duty(
        _ store: Store,
        maxReadyParts: Int = 8,
        analyse: @escaping @Sendable (Store, PreparationJob) async throws -> AnalysisFindings? = { _, _ in
            AnalysisFindings()
        },
        trial: @escaping @Sendable (PreparationJob) -> ChunkTrial? = { _ in nil },
        isClaiming: @escaping @Sendable () -> Bool = { true },
        chunkMade: @escaping @Sendable (ChunkResult) -> Void = { _ in },
        roomMade: @escaping @Sendable () -> Void = {}
    ) -> PreparationDuty {
        var settings = SupervisorSettings(Settings())
        settings.mta.preparation.messagesPerPart = 10
        settings.mta.preparation.partsPerChunk = 4
        settings.mta.preparation.maxReadyParts = maxReadyParts
        return PreparationDuty(
            store: store,
            slowStore: store,
            hostID: "host",
            settings: settings,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            analyst: DeliveryAnalyst(
                analyse: analyse,
                trial: trial,
                look: { _, _ in .problem("") }
            ),
            isClaiming: isClaiming,
            chunkMade: chunkMade,
            roomMade: roomMade
        )
    }
}
