import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Preparation")
struct PreparationTests {
    @Test("Chunks create parts of one thousand, contiguous sequences, and counts that add up")
    func chunks() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2500)
        let id = try await fixture.startedDelivery()
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        #expect(job.deliveryID == id && !job.resumed && job.applications.map(\.name) == ["shop-ios"])
        let first = try await fixture.store.prepareChunk(job, partSize: 50, partsPerChunk: 20)
        #expect(first == ChunkResult(messages: 1000, excluded: 0, parts: 20, done: false, busy: false))
        // Children may start at once, while the delivery is still being prepared.
        #expect(try await fixture.claim().count == 1)
        #expect(try await fixture.store.deliveryProgress(id).state == .preparing)
        try await fixture.prepareRest(job)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(
            progress.target == 2500 && progress.pending == 2500 && progress.prepared && progress.state == .inProgress
        )
        let distinct = try await fixture.sql(
            "SELECT count(DISTINCT sequence) FROM pushmta.message_status WHERE delivery_id = \(id) AND sequence BETWEEN 1 AND 2500"
        )
        #expect(distinct == 2500)
        #expect(try await fixture.assertEquation(id))
    }

    /// With ten thousand small deliveries, none may wait for a second turn.
    @Test("A delivery that fits into one chunk is prepared in one transaction")
    func oneChunk() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 7)
        let id = try await fixture.startedDelivery()
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        let chunk = try await fixture.store.prepareChunk(job, partSize: 50, partsPerChunk: 20)
        #expect(chunk == ChunkResult(messages: 7, excluded: 0, parts: 1, done: true, busy: false))
        #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)

        let explicit = try await fixture.startedDelivery(explicit: true)
        try await fixture.sql(
            "INSERT INTO pushmta.delivery_target (delivery_id, subscription_id) SELECT \(explicit), min(id) FROM pushmta_engine.subscription"
        )
        try await fixture.store.startDelivery(explicit)
        let other = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        let only = try await fixture.store.prepareChunk(other, partSize: 50, partsPerChunk: 20)
        #expect(only == ChunkResult(messages: 1, excluded: 0, parts: 1, done: true, busy: false))
    }

    @Test("A delivery's next chunk waits while its applications have enough ready parts")
    func enoughReady() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        for application in ["shop-ios", "shop-android"] {
            try await store.seedSubscriptions(application: application, count: 400)
        }
        var jobs: [PreparationJob] = []
        for applications in [["shop-ios"], ["shop-ios", "shop-android"]] {
            _ = try await fixture.startedDelivery(applications)
            jobs.append(
                try required(try await store.claimDeliveriesToPrepare(host: "a", except: jobs.map(\.deliveryID)).first)
            )
        }
        let ids = jobs.map(\.deliveryID)
        // The delivery's applications are prepared one after the other, so its second one has nothing ready.
        for job in jobs { _ = try await store.prepareChunk(job, partSize: 10, partsPerChunk: 4) }
        func waiting(own: Int, limit: Int) async throws -> Set<Int64> {
            try await store.waiting(ids, own, limit)
        }
        #expect(try await waiting(own: 4, limit: 9).isEmpty, "of the application eight parts are ready")
        #expect(try await waiting(own: 4, limit: 8) == [ids[0]], "the other one has an application without work")
        #expect(try await waiting(own: 5, limit: 8).isEmpty, "each has less than a chunk ready")
        try await fixture.sql("UPDATE pushmta_engine.delivery SET changed_at = now() - interval '1 minute'")
        #expect(try await waiting(own: 4, limit: 8) == [ids[0]])
        let other = try await fixture.other.claimDeliveriesToPrepare(host: "b", except: [ids[1]]).first
        #expect(other == nil, "who waits is at it")
        #expect(try await fixture.claim().count == 1)
        #expect(try await waiting(own: 3, limit: 8).isEmpty, "seven are ready")
    }

    @Test("A delivery does not wait for those of lower priority")
    func enoughReadyByPriority() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 400)
        var ids: [Int64] = []
        for priority in [0, 5] {
            let id = try await fixture.startedDelivery()
            try await fixture.sql("UPDATE pushmta_engine.delivery SET priority = \(priority) WHERE id = \(id)")
            let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a", except: ids).first)
            _ = try await fixture.store.prepareChunk(job, partSize: 10, partsPerChunk: 4)
            ids.append(id)
        }
        let waiting = try await fixture.store.waiting(ids, 4, 6)
        #expect(waiting == [ids[0]])
    }

    @Test("A delivery with more weight has more chunks ready, and more in a turn")
    func weight() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await store.seedSubscriptions(application: "shop-ios", count: 400)
        var ids: [Int64] = []
        for weight in [1, 2] {
            let id = try await fixture.startedDelivery()
            try await store.setDeliveryWeight(id, weight)
            let job = try required(try await store.claimDeliveriesToPrepare(host: "a", except: ids).first)
            _ = try await store.prepareChunk(job, partSize: 10, partsPerChunk: 4)
            ids.append(id)
        }
        let turns = try await store.chunksInTurn(ids, host: "a", ofDelivery: 4, ofApplication: 8)
        #expect(turns == [ids[0]: 0, ids[1]: 2], "four parts are one chunk, and half of what a weight of 2 gives")
        try await store.setDeliveryWeight(ids[1], 1)
        #expect(try await store.waiting(ids, 4, 8) == Set(ids))
    }

    @Test(arguments: ["0", "11", "NULL"])
    func whatIsNoWeightIsRefused(_ weight: String) async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.startedDelivery()
        await #expect {
            try await fixture.sql("SELECT pushmta.set_delivery_weight(\(id), \(weight))")
        } throws: { error in
            "\(error)".contains("PM007")
        }
    }

    @Test("A delivery that fits into one chunk ends with it, whatever its applications")
    func smallDeliveryOfTwoPlatforms() async throws {
        let fixture = try await StoreFixture.make()
        for application in ["shop-ios", "shop-android"] {
            try await fixture.store.seedSubscriptions(application: application, count: 10)
        }
        let id = try await fixture.startedDelivery(["shop-ios", "shop-android"])
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        let chunk = try await fixture.store.prepareChunk(job)
        #expect(chunk.done && chunk.messages == 20 && chunk.parts == 2)
        #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
    }

    @Test("The most urgent due delivery begins, and none that is less urgent than those being prepared")
    func urgentOnesBegin() async throws {
        let fixture = try await StoreFixture.make()
        var ids: [Int: Int64] = [:]
        for priority in [0, 9, 0, 20] {
            let id = try await fixture.startedDelivery()
            try await fixture.sql("UPDATE pushmta_engine.delivery SET priority = \(priority) WHERE id = \(id)")
            if ids[priority] == nil { ids[priority] = id }
        }
        // A delivery that is due later, or postponed, blocks nothing.
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET start_at = now() + interval '1 hour' WHERE priority = 20"
        )
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: "a", atLeast: 10).first == nil)
        let urgent = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a", atLeast: 1).first)
        #expect(urgent.deliveryID == ids[9] && urgent.priority == 9)
        let next = try required(
            try await fixture.store.claimDeliveriesToPrepare(host: "a", except: [urgent.deliveryID]).first
        )
        #expect(next.deliveryID == ids[0])
        try await fixture.store.postponePreparation(next.deliveryID, reason: "a test")
        let other = try await fixture.store.claimDeliveriesToPrepare(host: "a", except: [urgent.deliveryID]).first
        #expect(other.map { $0.deliveryID != next.deliveryID } == true)
    }

    @Test("Due deliveries are claimed together, and another host may take at once what one releases")
    func claimedTogether() async throws {
        let (fixture, ids) = try await Self.due(4)
        let jobs = try await fixture.store.claimDeliveriesToPrepare(host: "a", limit: 3)
        #expect(jobs.map(\.deliveryID) == Array(ids.prefix(3)) && jobs.allSatisfy { !$0.resumed })
        #expect(try await fixture.other.claimDeliveriesToPrepare(host: "b", limit: 3).map(\.deliveryID) == [ids[3]])
        try await fixture.store.leavePreparations([ids[1], ids[3]], host: "a")
        let left = try await fixture.other.claimDeliveriesToPrepare(host: "b", except: [ids[3]], limit: 3)
        #expect(left.map(\.deliveryID) == [ids[1]], "the fourth was not the first host's to leave")
        #expect(try await fixture.other.prepareChunk(try required(left.first)).messages == 10)
    }

    @Test("A delivery that cannot be claimed does not prevent the claim of others with it")
    func claimedBesideABadOne() async throws {
        let (fixture, ids) = try await Self.due(3)
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET target_filter = 'nosuchfield = 1' WHERE id = \(ids[1])"
        )
        let jobs = try await fixture.store.claimDeliveriesToPrepare(host: "a", limit: 3)
        #expect(jobs.map(\.deliveryID) == [ids[0], ids[2]])
        #expect(try await fixture.store.deliveryProgress(ids[1]).state == .editing)
    }

    @Test("A delivery that waits for an administrator is tried again after seconds, not with each claim of others")
    func notPickedAtOnce() async throws {
        let (fixture, ids) = try await Self.due(3)
        try await fixture.sql("ALTER FUNCTION pushmta_engine.freeze_targets RENAME TO was_freeze_targets")
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: "a", limit: 3).isEmpty)
        try await fixture.sql("ALTER FUNCTION pushmta_engine.was_freeze_targets RENAME TO freeze_targets")
        let due = "SELECT count(*) FROM pushmta_engine.delivery WHERE wait_until IS NULL OR wait_until <= now()"
        #expect(try await fixture.sql(due) == 0)
        #expect(try await fixture.store.deliveryProgress(ids[0]).waitingReason.contains("freeze_targets"))
        try await fixture.endWaits()
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: "a", limit: 3).map(\.deliveryID) == ids)
    }

    /// Due deliveries, to ten subscribers each.
    private static func due(_ count: Int) async throws -> (StoreFixture, [Int64]) {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 10)
        var ids: [Int64] = []
        for _ in 0..<count { ids.append(try await fixture.startedDelivery()) }
        return (fixture, ids)
    }

    @Test("A small delivery is spread over several parts")
    func spread() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3200)
        _ = try await fixture.startedDelivery()
        #expect(try await fixture.prepare().parts == 16)
    }

    @Test("After a crash another host continues from the cursor, without loss or repetition")
    func resume() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1000)
        let id = try await fixture.startedDelivery()
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        _ = try await fixture.store.prepareChunk(job, partSize: 100, partsPerChunk: 3)
        #expect(try await fixture.other.claimDeliveriesToPrepare(host: "b").first == nil, "the first host is at it")
        try await fixture.sql("UPDATE pushmta_engine.delivery SET changed_at = now() - interval '1 minute'")
        let taken = try required(try await fixture.other.claimDeliveriesToPrepare(host: "b").first)
        #expect(taken.resumed)
        try await fixture.prepareRest(taken)
        let distinct = try await fixture.sql(
            "SELECT count(DISTINCT subscription_id) FROM pushmta.message_status WHERE delivery_id = \(id)"
        )
        #expect(distinct == 1000)
        #expect(try await fixture.store.deliveryProgress(id).target == 1000)
    }

    @Test("Subscriptions created after the start are not included; excluded ones are logged with their reason")
    func exclusions() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 100)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET enabled = id % 10 NOT IN (0, 4), opted_out = id % 10 = 1,
                quarantine_status = CASE WHEN id % 10 IN (2, 4) THEN 2 WHEN id % 10 = 3 THEN 1 ELSE 0 END
            """
        )
        let id = try await fixture.startedDelivery()
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 50)
        try await fixture.prepareRest(job)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.target == 60 && progress.excluded == 40)
        let reasons = try await fixture.store.exclusionCounts(delivery: id)
        // A gateway's refusal disables and quarantines: it counts as the latter.
        let expected = [("disabled", 10), ("opted_out", 10), ("quarantine", 20)] as [(String, Int64)]
        #expect(Set(reasons) == Set(expected.map { OutcomeCount(status: nil, reason: $0.0, count: $0.1) }))
    }

    @Test("A delivery to both platforms creates parts for each application with its own account")
    func platforms() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 300)
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 200)
        let id = try await fixture.startedDelivery(["shop-ios", "shop-android"])
        #expect(try await fixture.prepare().messages == 500)
        let work = try await fixture.store.readyWork()
        #expect(Set(work.map(\.kind.connector)) == [.iosHTTP2, .androidV2])
        #expect(work.map(\.readyMessages).reduce(0, +) == 500)
        #expect(try await fixture.assertEquation(id))
    }

    @Test("One per user keeps the subscription that registered last")
    func onePerUser() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 100)
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 100)
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET user_key = 'user-' || id % 50, registered_at = now() + id * interval '1 s'"
        )
        let id = try await fixture.startedDelivery(["shop-ios", "shop-android"], onePerUser: true)
        let made = try await fixture.prepare()
        #expect(made.messages == 50 && made.excluded == 150)
        let late = try await fixture.sql(
            "SELECT count(*) FROM pushmta.message_status WHERE delivery_id = \(id) AND subscription_id > 150"
        )
        #expect(late == 50)
    }

    @Test("Explicit targets are named by subscription, user or token; the first row of a subscription counts")
    func explicit() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 20)
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 20)
        let id = try await fixture.startedDelivery(["shop-ios", "shop-android"], explicit: true)
        try await fixture.sql(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, variables)
                SELECT \(id), id, jsonb_build_object('code', 'c' || id) FROM pushmta_engine.subscription WHERE id <= 5;
            """
        )
        try await fixture.sql(
            "INSERT INTO pushmta.delivery_target (delivery_id, user_key) SELECT \(id), user_key FROM pushmta_engine.subscription WHERE id BETWEEN 4 AND 8"
        )
        try await fixture.sql(
            "INSERT INTO pushmta.delivery_target (delivery_id, push_token) SELECT \(id), push_token FROM pushmta_engine.subscription WHERE id BETWEEN 8 AND 25"
        )
        try await fixture.sql("INSERT INTO pushmta.delivery_target (delivery_id, user_key) VALUES (\(id), 'nobody')")
        try await fixture.store.startDelivery(id)
        let made = try await fixture.prepare()
        // 25 subscriptions once; 4, 5 and 8 twice; one row names no one.
        #expect(made.messages == 25 && made.excluded == 4)
        let reasons = try await fixture.store.exclusionCounts(delivery: id)
        #expect(
            reasons == [
                OutcomeCount(status: nil, reason: "duplicate", count: 3),
                OutcomeCount(status: nil, reason: "unknown_subscription", count: 1),
            ]
        )
        let part = try required(try await fixture.claim().first)
        #expect(part.hasVariables && !part.isDense)
        let loaded = try await fixture.store.loadPart(part, fieldNames: ["code", "firstName"])
        #expect(loaded.count == 20 && loaded.decisions.allSatisfy { $0 == .sendable })
        #expect(loaded.fields[0].string(0) == "c\(loaded.subscriptionIDs[0])" && loaded.fields[0].isNull(7))
        #expect(!loaded.fields[1].isNull(7))
        #expect(try await fixture.assertEquation(id))
    }

    @Test("Explicit targets in several chunks")
    func explicitChunks() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 500)
        let id = try await fixture.startedDelivery(explicit: true)
        try await fixture.sql(
            "INSERT INTO pushmta.delivery_target (delivery_id, subscription_id) SELECT \(id), id FROM pushmta_engine.subscription ORDER BY random()"
        )
        try await fixture.store.startDelivery(id)
        let made = try await fixture.prepare(partSize: 40, partsPerChunk: 3)
        #expect(made.messages == 500)
        let distinct = try await fixture.sql(
            "SELECT count(DISTINCT sequence) FROM pushmta.message_status WHERE delivery_id = \(id) AND sequence BETWEEN 1 AND 500"
        )
        #expect(distinct == 500)
    }

    @Test("A delivery without addressees ends")
    func empty() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.startedDelivery()
        try await fixture.prepare()
        #expect(try await fixture.store.finishDeliveries() == [id])
        #expect(try await fixture.store.deliveryProgress(id).state == .finished)
    }

    @Test("A delivery locked by another session is not waited for, and holds up no other", .timeLimit(.minutes(1)))
    func finishBesideALock() async throws {
        let fixture = try await StoreFixture.make()
        let held = try await fixture.startedDelivery()
        try await fixture.prepare()
        let free = try await fixture.startedDelivery()
        try await fixture.prepare()
        let holder = try await fixture.hold("SELECT FROM pushmta_engine.delivery WHERE id = \(held) FOR UPDATE")
        #expect(try await fixture.store.finishDeliveries() == [free])
        try await holder.run(script: "COMMIT")
        #expect(try await fixture.store.finishDeliveries() == [held])
        await holder.close()
    }

    @Test("A delivery whose preparation the database refuses waits with the reason, and the next one is prepared")
    func failure() async throws {
        let fixture = try await StoreFixture.make()
        let bad = try await fixture.startedDelivery()
        let good = try await fixture.startedDelivery()
        try await fixture.sql(
            """
            CREATE OR REPLACE FUNCTION pushmta_engine.reserve_message_ids(delivery bigint) RETURNS void LANGUAGE plpgsql AS
            $$ BEGIN IF delivery = \(bad) THEN RAISE EXCEPTION 'no'; END IF; END $$
            """
        )
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        #expect(job.deliveryID == good)
        let progress = try await fixture.store.deliveryProgress(bad)
        #expect(progress.state == .pending && progress.waitingReason.contains("P0001"), "\(progress)")
    }

    @Test("Data that only a newer program understands is left to it")
    func ofANewerProgram() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.startedDelivery()
        try await fixture.sql(
            "ALTER TABLE pushmta_engine.external_account DROP CONSTRAINT IF EXISTS external_account_connector_check"
        )
        try await fixture.sql("UPDATE pushmta_engine.external_account SET connector = 'ios-next'")
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: "a").first?.deliveryID == nil)
        #expect(try await fixture.store.deliveryProgress(id).state == .pending)
    }

    @Test("Numbers for int32 message ids are reserved without overlap")
    func messageIDs() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.createApplication(
            NewApplication(
                service: "shop",
                name: "old",
                platform: .ios,
                integrationKey: "old",
                messageIDFormat: .int32,
                account: "apns"
            )
        )
        try await fixture.store.seedSubscriptions(application: "old", count: 30)
        var bases: [Int64?] = []
        for _ in 0..<2 {
            let id = try await fixture.startedDelivery(["old"])
            try await fixture.prepare()
            bases.append(try await fixture.store.deliveryForSending(id).messageIDBase)
        }
        #expect(bases == [0, 10_000])
    }
}

extension StoreFixture {
    /// Prepares a job to its end.
    func prepareRest(_ job: PreparationJob) async throws {
        while try await !store.prepareChunk(job, partSize: 100, partsPerChunk: 10).done {}
    }
}

extension Store {
    /// The deliveries whose next chunk waits.
    fileprivate func waiting(_ ids: [Int64], _ own: Int, _ limit: Int) async throws -> Set<Int64> {
        let turns = try await chunksInTurn(ids, host: "a", ofDelivery: own, ofApplication: limit)
        #expect(Set(turns.keys) == Set(ids))
        return Set(turns.filter { $0.value == 0 }.keys)
    }
}
