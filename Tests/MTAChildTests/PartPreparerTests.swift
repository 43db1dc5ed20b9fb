import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import MTAChild
@testable import Store

/// What a child reads about a part's past from a database.
@Suite struct PartPreparerTests {
    /// A delivery of some messages in one part, and the preparer.
    private struct World {
        let database: TestDatabase
        let store: Store
        let application: ApplicationRow
        let preparer: PartPreparer

        static func make(messages: Int64, policy: AmbiguityPolicy = .resend) async throws -> World {
            let database = try await TestDatabase.create(.migrated)
            let store = try await Store.connect(database.configuration())
            try await store.createService(name: "shop", label: "Shop")
            try await store.createAccount(name: "apns", connector: .iosHTTP2, host: "localhost", port: 443)
            try await store.createApplication(
                NewApplication(
                    service: "shop",
                    name: "shop-ios",
                    platform: .ios,
                    integrationKey: "ios-key",
                    bundleID: "com.shop",
                    account: "apns"
                )
            )
            try await store.seedSubscriptions(application: "shop-ios", count: messages)
            let delivery = try await store.createDelivery(
                NewDelivery(
                    label: "test",
                    applications: ["shop-ios"],
                    content: #"{"ios":{"title":"Hello {{firstName}}"}}"#,
                    ambiguityPolicy: policy
                )
            )
            try await store.startDelivery(delivery)
            let job = try #require(
                try await store.claimDeliveriesToPrepare(host: "6f9619ff-8b86-4011-b42d-00cf4fc964ff").first
            )
            while try await !store.prepareChunk(job, partSize: 1_000, partsPerChunk: 50).done {}
            let application = try await store.application(named: "shop-ios")
            return World(
                database: database,
                store: store,
                application: application,
                preparer: PartPreparer(
                    store: store,
                    views: ViewLoads(quick: store, slow: store, timeout: .seconds(10)),
                    application: application,
                    format: .apns,
                    clock: DatabaseClock(try await store.databaseClock()),
                    sendsLost: true
                )
            )
        }

        func claim() async throws -> ClaimedPart {
            let account = try #require(application.accountID)
            let parts = try await store.claimParts(application: application.id, account: account, child: 1, limit: 1)
            return try #require(parts.first)
        }

        func run(_ script: String) async throws {
            let connection = try await database.connect()
            try await connection.run(script: script)
            await connection.close()
        }
    }

    @Test func aRetryPartKnowsWhatWasHandedOverAmbiguous() async throws {
        let world = try await World.make(messages: 8)
        let first = try await world.claim()
        let loaded = try await world.store.loadPart(first, fieldNames: [])
        let sequences = Array(loaded.sequences.prefix(8))
        var batch = OutcomeBatch()
        batch.closing = [
            ClosingPart(
                part: first.id,
                token: 1,
                retries: [RetrySet(sequences: loaded.sequences, delayMilliseconds: 0)],
                resentAfterAmbiguity: 3,
                ambiguous: [sequences[0], sequences[1], sequences[2]]
            )
        ]
        #expect(try await world.store.storeOutcomes(batch).retryParts == 1)
        // One subscription is disabled meanwhile, and another's name no longer fits; the same happens to two whose
        // messages have not left.
        let ids = loaded.subscriptionIDs
        try await world.run(
            """
            UPDATE pushmta_engine.subscription SET enabled = false WHERE id IN (\(ids[1]), \(ids[4]));
            UPDATE pushmta_engine.subscription SET parameters = jsonb_build_object('firstName', repeat('x', 5000))
                WHERE id IN (\(ids[2]), \(ids[5]));
            """
        )
        let retry = try await world.claim()
        #expect(retry.attempt == 2 && !retry.mayHaveHistory)
        let prepared = try await world.preparer.prepare(retry)
        #expect(prepared.ambiguousRows.contains(0) && prepared.lost.isEmpty)
        #expect(prepared.resent == 0 && prepared.unanswered.isEmpty, "the part before has counted them")
        #expect(
            prepared.decided.sorted { $0.row < $1.row }.map(\.status) == [.unknown, .unknown, .notApplicable, .failed]
        )
        #expect(prepared.decided.map(\.row).sorted() == [1, 2, 4, 5])
    }

    @Test func aMessageThatMayHaveArrivedAndIsTooLongNowIsNotCountedAsSentAgain() async throws {
        let world = try await World.make(messages: 2)
        let first = try await world.claim()
        let loaded = try await world.store.loadPart(first, fieldNames: [])
        let recovery = PartRecovery(ambiguous: Array(loaded.sequences.prefix(2)))
        #expect(try await world.store.releasePart(PartToken(part: first.id, token: 1), recovery: recovery))
        try await world.run(
            """
            UPDATE pushmta_engine.subscription SET parameters = jsonb_build_object('firstName', repeat('x', 5000))
                WHERE id = \(loaded.subscriptionIDs[0])
            """
        )
        let prepared = try await world.preparer.prepare(try await world.claim())
        #expect(prepared.decided.map(\.status) == [.unknown])
        #expect(prepared.lost == [1] && prepared.resent == 1)
    }

    @Test func aRecoveredSoftAnswerOutlivesAStepBackOfTheClock() async throws {
        let world = try await World.make(messages: 2)
        let first = try await world.claim()
        let sequence = try #require(try await world.store.loadPart(first, fieldNames: []).sequences.first)
        let now = try await world.store.databaseClock().microsecondsSince1970
        let answer = PartRecovery.SoftAnswer(
            sequence: sequence,
            attempt: 1,
            httpStatus: 503,
            reason: "",
            notBefore: DatabaseTime(microsecondsSince1970: now + 60_000_000)
        )
        let recovery = PartRecovery(softAnswers: [answer])
        #expect(try await world.store.releasePart(PartToken(part: first.id, token: 1), recovery: recovery))
        // It was recorded before the clock was set back by ten minutes.
        try await world.run(
            """
            UPDATE pushmta_engine.delivery_part_recovery SET created_at = created_at + interval '10 min',
                soft_not_before = ARRAY[soft_not_before[1] + interval '10 min']
            """
        )
        let prepared = try await world.preparer.prepare(try await world.claim())
        let soft = try #require(prepared.softAnswers.first)
        #expect((1...60_000).contains(soft.maxDelayMilliseconds))
    }

    /// Under `report` ambiguous messages are not resent: a recorded soft answer was the last one, whatever a lost
    /// journal leaves open about the messages around it.
    @Test(arguments: [AmbiguityPolicy.resend, .report])
    func aSoftAnswerBelowALostMarkIsAmbiguousOnlyWhereItMayHaveBeenSentAgain(_ policy: AmbiguityPolicy) async throws {
        let world = try await World.make(messages: 2, policy: policy)
        let first = try await world.claim()
        let sequences = try await world.store.loadPart(first, fieldNames: []).sequences
        let answer = PartRecovery.SoftAnswer(
            sequence: sequences[0],
            attempt: 1,
            httpStatus: 503,
            reason: "",
            notBefore: nil
        )
        let recovery = PartRecovery(ambiguousThrough: 1, softAnswers: [answer])
        #expect(try await world.store.releasePart(PartToken(part: first.id, token: 1), recovery: recovery))
        let prepared = try await world.preparer.prepare(try await world.claim())
        #expect(prepared.softAnswers.map(\.row) == [0])
        #expect(prepared.unanswered == (policy == .resend ? [0] : []))
    }
}
