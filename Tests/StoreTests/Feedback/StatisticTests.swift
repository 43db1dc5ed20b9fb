import PushCore
import Store
import TestSupport
import Testing

@Suite("Statistics of deliveries")
struct StatisticTests {
    private func tellApart(_ fixture: StoreFixture) async throws {
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET locale = CASE WHEN id % 2 = 0 THEN 'fr' ELSE 'de' END,
                parameters = jsonb_build_object('appVersion', '1.' || id % 4)
            """
        )
    }

    @Test("Versions and locales that strangers send do not create a row each")
    func strangersValues() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 600, partSize: 100)
        // Half of the devices share three versions and two languages; each of the others has its own.
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET
                locale = CASE WHEN id % 2 = 0 THEN 'xx-' || id WHEN id % 4 = 1 THEN 'fr' ELSE 'de' END,
                parameters = jsonb_build_object('appVersion', CASE WHEN id % 2 = 0 THEN '9.' || id ELSE '1.' || id % 3 END)
            """
        )
        while let part = try await fixture.claim().first {
            let loaded = try await fixture.store.loadPart(part, fieldNames: [])
            var batch = OutcomeBatch()
            batch.append(part, loaded, rows: 0..<loaded.sequences.count, .sent)
            batch.closing = [ClosingPart(part: part.id, token: part.fencingToken, retries: [])]
            _ = try await fixture.store.storeOutcomes(batch)
        }
        #expect(try await fixture.countAll().outcomes == 600)
        #expect(try await fixture.assertStatistics(id))
        let rows = try await fixture.sql("SELECT count(DISTINCT app_version) FROM pushmta_engine.delivery_statistic")
        #expect(try required(rows) <= 41)
        #expect(
            try required(try await fixture.sql("SELECT count(DISTINCT locale) FROM pushmta_engine.delivery_statistic"))
                <= 41
        )
        #expect(try await fixture.figure("sent", "delivery_statistics_by_locale", "locale IN ('fr', 'de')") == 300)
        #expect(try await fixture.figure("sent", "delivery_statistics_by_version", "app_version LIKE '1.%'") == 300)
        #expect(try await fixture.figure("sent", "delivery_statistics_by_version", "app_version = 'other'") > 200)
        #expect(try required(try await fixture.sql("SELECT count(*) FROM pushmta_engine.statistic_value")) <= 400)
    }

    @Test("Outcomes are counted once, when their part is done: by reason, application, version and locale")
    func outcomes() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 40, partSize: 20)
        try await tellApart(fixture)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<12, .sent)
        batch.append(
            part: part.id,
            token: part.fencingToken,
            sequence: loaded.sequences[12],
            subscriptionID: loaded.subscriptionIDs[12],
            status: .failed,
            reason: "Unregistered",
            failure: MessageFailure(.hard, .userUnknown)
        )
        #expect(try await fixture.store.storeOutcomes(batch).inserted == 13)
        #expect(try await fixture.countAll().outcomes == 0, "its part is not done")
        var rest = OutcomeBatch()
        rest.append(part, loaded, rows: 13..<18, .sent)
        rest.closing = [
            ClosingPart(
                part: part.id,
                token: part.fencingToken,
                retries: [RetrySet(sequences: [loaded.sequences[18], loaded.sequences[19]], delayMilliseconds: 0)]
            )
        ]
        #expect(try await fixture.store.storeOutcomes(rest).retryParts == 1)
        #expect(try await fixture.countAll().outcomes == 18)
        #expect(try await fixture.countAll().outcomes == 0, "once")
        #expect(try await fixture.assertStatistics(id))
        #expect(try await fixture.figure("sent", "delivery_statistics_by_locale", "locale = 'fr'") == 9)
        #expect(try await fixture.figure("sent", "delivery_statistics_by_version", "app_version = '1.1'") == 4)
        #expect(
            try await fixture.figure("sent", "delivery_statistics_by_application", "application = 'shop-ios'") == 17
        )
        let failures = "failure_type = 'hard' AND failure_reason = 'User unknown' AND reason = 'Unregistered'"
        #expect(try await fixture.figure("messages", "delivery_failures", failures) == 1)
        #expect(try await fixture.figure("CASE WHEN complete THEN 1 END") == 0)

        // The retry part's messages do not have contiguous numbers. Then the other part.
        while let next = try await fixture.claim().first {
            var last = OutcomeBatch()
            let messages = try await fixture.store.loadPart(next, fieldNames: [])
            last.append(next, messages, rows: 0..<messages.sequences.count, .sent)
            last.closing = [ClosingPart(part: next.id, token: next.fencingToken)]
            _ = try await fixture.store.storeOutcomes(last)
        }
        #expect(try await fixture.countAll().outcomes == 22)
        #expect(try await fixture.assertStatistics(id))
        #expect(try await fixture.figure("sent") == 39)
        #expect(try await fixture.store.finishDeliveries() == [id])
        #expect(try await fixture.figure("CASE WHEN complete THEN 1 END") == 1)
    }

    @Test(
        "A part's rest without rows is counted, and late answers replace it, before and after the part is counted",
        arguments: [false, true]
    )
    func late(countsBefore: Bool) async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<5, .sent)
        batch.closing = [
            ClosingPart(part: part.id, token: part.fencingToken, restStatus: .canceled, restReason: "stopped")
        ]
        #expect(try await fixture.store.storeOutcomes(batch).closedParts == [part.id])
        if countsBefore {
            #expect(try await fixture.countAll().outcomes == 20)
            #expect(try await fixture.assertStatistics(id))
        }
        var facts = OutcomeBatch()
        facts.append(part, loaded, rows: 5..<8, .sent)
        #expect(try await fixture.store.storeFacts(facts).inserted == 3)
        #expect(try await fixture.store.storeFacts(facts).inserted == 0)
        let counted = try await fixture.countAll()
        #expect(counted.outcomes == (countsBefore ? 0 : 20))
        #expect(counted.late == (countsBefore ? 3 : 0))
        #expect(try await fixture.assertStatistics(id))
        #expect(try await fixture.figure("sent") == 8)
        #expect(try await fixture.figure("canceled") == 12)
        #expect(try await fixture.figure("messages", "delivery_failures", "reason = 'stopped'") == 12)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.late_outcome") == 0)
    }

    @Test("A late answer to a handed-over message counts once, and the retry part has one less")
    func handedOver() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 10, partSize: 10)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<7, .sent)
        let others = Array(loaded.sequences[7...])
        batch.closing = [
            ClosingPart(
                part: part.id,
                token: part.fencingToken,
                retries: [RetrySet(sequences: others, delayMilliseconds: 0)]
            )
        ]
        _ = try await fixture.store.storeOutcomes(batch)
        #expect(try await fixture.countAll().outcomes == 7)
        var fact = OutcomeBatch()
        fact.append(part, loaded, rows: 7..<8, .sent)
        #expect(try await fixture.store.storeFacts(fact).inserted == 1)
        try await fixture.store.stopDelivery(id)
        _ = try await fixture.store.finishRest(limit: 10)
        let counted = try await fixture.countAll()
        #expect(counted.outcomes == 2 && counted.late == 1)
        #expect(try await fixture.assertStatistics(id))
        #expect(try await fixture.figure("sent") == 8)
        #expect(try await fixture.figure("canceled") == 2)
    }

    @Test("Hits count by message and in total, under the message's application, version and locale")
    func hits() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 10, partSize: 10)
        try await tellApart(fixture)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<9, .sent)
        _ = try await fixture.store.storeOutcomes(batch)
        try await fixture.hit(id, [(1, .received), (1, .received), (2, .received), (2, .clicked)], position: 1)
        try await fixture.hit(id, [(2, .received), (2, .clicked), (10, .received)], position: 2)
        _ = try await fixture.heartbeat()
        #expect(
            try await fixture.store.countHits(worker: StoreFixture.worker, limit: 100) == 0,
            "not before their outcomes"
        )
        #expect(try await fixture.countAll().hits == 6, "the tenth message has no outcome yet")
        try await fixture.sql(
            "UPDATE pushmta_engine.tracking_uncounted SET created_at = created_at - interval '5 minutes', next_at = NULL"
        )
        #expect(try await fixture.countAll().hits == 1, "it is not waited for for ever")
        #expect(try await fixture.countAll().hits == 0)
        #expect(try await fixture.viewsAgree(id))
        #expect(try await fixture.figure("received") == 5)
        #expect(try await fixture.figure("received_unique") == 3)
        #expect(try await fixture.figure("clicked") == 2)
        #expect(try await fixture.figure("clicked_unique") == 1)
        #expect(try await fixture.figure("opened_unique") == 1)
        #expect(try await fixture.figure("received", "delivery_statistics_by_locale", "locale = 'fr'") == 2)
        // The delivery has only one application.
        #expect(
            try await fixture.figure("received", "delivery_statistics_by_application", "application = 'shop-ios'") == 5
        )
        #expect(try await fixture.figure("received", "delivery_statistics_by_locale", "locale = ''") == 1)
    }

    @Test("A click does not count as a receipt, neither for a message nor for a delivery")
    func clicksAreNoReceipts() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 10, partSize: 10)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<5, .sent)
        _ = try await fixture.store.storeOutcomes(batch)
        // The sixth message has no outcome yet.
        try await fixture.hit(
            id,
            [(1, .received), (2, .received), (3, .clicked), (4, .clicked), (6, .clicked)],
            position: 1
        )
        try await fixture.sql(
            "UPDATE pushmta_engine.tracking_uncounted SET created_at = created_at - interval '5 minutes', next_at = NULL"
        )
        _ = try await fixture.heartbeat()
        _ = try await fixture.countAll()
        for (column, sequences) in [("received", "{1,2}"), ("clicked", "{3,4,6}")] {
            #expect(try await fixture.figure(column + "_unique") == (column == "received" ? 2 : 3))
            let agrees = "(array_agg(sequence ORDER BY sequence) FILTER (WHERE \(column)) = '\(sequences)')::int"
            let messages = "SELECT \(agrees)::bigint FROM pushmta.message_status WHERE delivery_id = \(id)"
            #expect(try await fixture.sql(messages) == 1, "\(column)")
        }
    }

    @Test("Hits whose outcomes come late still count under their application, version and locale")
    func hitsBeforeOutcomes() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 5)
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 5)
        try await tellApart(fixture)
        let id = try await fixture.startedDelivery(["shop-ios", "shop-android"])
        try await fixture.prepare(partSize: 10)
        let all = (Int32(1)...10).map { (sequence: $0, kind: TrackingKind.received) }
        try await fixture.hit(id, all, position: 1)
        try await fixture.hit(id, all, position: 2)
        #expect(try await fixture.countAll().hits == 0)
        let waiting = "SELECT coalesce(sum(cardinality(sequences)), 0) FROM pushmta_engine.tracking_uncounted"
        #expect(try await fixture.sql(waiting) == 20)
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.tracking_uncounted WHERE next_at > now()") ?? 0
                > 0,
            "they are not looked at all the time"
        )
        for application in ["shop-ios", "shop-android"] {
            let part = try required(try await fixture.claim(application).first)
            let loaded = try await fixture.store.loadPart(part, fieldNames: [])
            var batch = OutcomeBatch()
            batch.append(part, loaded, rows: 0..<loaded.sequences.count, .sent)
            _ = try await fixture.store.storeOutcomes(batch)
            try await fixture.sql("UPDATE pushmta_engine.tracking_uncounted SET next_at = now() - interval '1 s'")
            #expect(try await fixture.countAll().hits == 10)
        }
        #expect(try await fixture.sql(waiting) == 0)
        #expect(try await fixture.viewsAgree(id))
        #expect(try await fixture.figure("received") == 20)
        #expect(try await fixture.figure("received_unique") == 10)
        for application in ["shop-ios", "shop-android"] {
            let condition = "application = '\(application)'"
            #expect(try await fixture.figure("received", "delivery_statistics_by_application", condition) == 10)
        }
        #expect(try await fixture.figure("received", "delivery_statistics_by_locale", "locale = ''") == 0)
        #expect(try await fixture.figure("received", "delivery_statistics_by_version", "app_version = ''") == 0)
    }

    @Test("Marketing and monitoring may read them, and run no other functions")
    func rights() async throws {
        let fixture = try await StoreFixture.make()
        for role in ["pushmta_marketing", "pushmta_monitoring", "pushmta_runtime"] {
            for view in [
                "delivery_statistics", "delivery_statistics_detail", "delivery_statistics_by_hour", "delivery_failures",
            ] {
                #expect(
                    try await fixture.sql("SELECT has_table_privilege('\(role)', 'pushmta.\(view)', 'SELECT')::int")
                        == 1
                )
            }
        }
        #expect(
            try await fixture.sql(
                "SELECT has_function_privilege('pushmta_web', 'pushmta_engine.drop_old_partition(text, date)', 'EXECUTE')::int"
            ) == 0
        )
        #expect(
            try await fixture.sql(
                "SELECT has_table_privilege('pushmta_web', 'pushmta_engine.delivery_statistic', 'SELECT')::int"
            ) == 0
        )
    }
}
