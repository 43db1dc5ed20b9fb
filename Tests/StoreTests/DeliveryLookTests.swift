import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Looks at a delivery: counts of its target and previews of its messages", .timeLimit(.minutes(3)))
struct DeliveryLookTests {
    /// A delivery to 40 subscribers on iOS and 20 on Android, of whom every fifth has opted out.
    private func edited(explicit: Bool = false, onePerUser: Bool = false) async throws -> (StoreFixture, Int64) {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 40)
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 20)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET opted_out = id % 5 = 0, user_key = 'user-' || id % 7,
                locale = CASE WHEN id % 2 = 0 THEN 'de' ELSE 'fr' END
            """
        )
        let delivery = NewDelivery(
            label: "Sale",
            applications: ["shop-ios", "shop-android"],
            content: #"{"ios": {"title": "Hi"}, "android": {"title": "Hi"}}"#,
            explicitTargets: explicit,
            onePerUser: onePerUser
        )
        return (fixture, try await fixture.store.createDelivery(delivery))
    }

    /// Compares a count with what the preparation makes.
    private func expectSame(_ fixture: StoreFixture, _ id: Int64) async throws {
        let counts = try await fixture.store.countTarget(ofDelivery: id)
        #expect(counts.map(\.application) == ["shop-android", "shop-ios"])
        try await fixture.store.startDelivery(id)
        try await fixture.prepare()
        let made = try await fixture.store.applicationProgress(delivery: id)
        let counted: [Int64] = counts.map(\.messages).filter { $0 > 0 }
        let prepared: [Int64] = made.map(\.target).filter { $0 > 0 }
        #expect(counted == prepared, "\(counts)")
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(counts.reduce(0) { $0 + $1.messages } == progress.target && progress.target > 0)
        #expect(counts.reduce(0) { $0 + $1.excluded } == progress.excluded)
    }

    @Test("A count is what the preparation makes: filter, opt-outs, exclusions", arguments: [false, true])
    func counted(onePerUser: Bool) async throws {
        let (fixture, id) = try await edited(onePerUser: onePerUser)
        try await fixture.store.setTarget(ofDelivery: id, DeliveryTarget(filter: "locale = 'de'"))
        try await fixture.sql(
            "INSERT INTO pushmta.delivery_exclusion (delivery_id, user_key) VALUES (\(id), 'user-3')"
        )
        try await expectSame(fixture, id)
    }

    @Test("A list of targets is counted, and who is named twice gets one message")
    func list() async throws {
        let (fixture, id) = try await edited(explicit: true)
        try await fixture.sql(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, subscription_id)
            SELECT \(id), s.id FROM pushmta_engine.subscription s WHERE s.id % 3 = 0
            """
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, user_key) VALUES (\(id), 'user-1')
            """
        )
        let counts = try await fixture.store.countTarget(ofDelivery: id)
        try await fixture.store.startDelivery(id)
        try await fixture.prepare()
        #expect(try await fixture.store.deliveryProgress(id).target == counts.reduce(0) { $0 + $1.messages })
    }

    @Test("What only a preparation can count is refused, with the way to count it")
    func uncountable() async throws {
        let (fixture, id) = try await edited()
        try await fixture.sql("UPDATE pushmta_engine.application SET platform = 'ios' WHERE name = 'shop-android'")
        let refusal = await #expect(throws: StoreError.self) {
            _ = try await fixture.store.countTarget(ofDelivery: id)
        }
        #expect(refusal?.code == .invalid && refusal?.hint?.contains("analyze") == true, "\(refusal as Any)")
        await #expect(throws: StoreError.self) { _ = try await fixture.store.countTarget(ofDelivery: id + 1) }
    }

    @Test("A session that asks something else does not hold up those who answer")
    func held() async throws {
        let (fixture, id) = try await edited()
        _ = try await fixture.store.askTargetCount(ofDelivery: id)
        let look = try required(try await fixture.store.takeLook())
        let connection = try await fixture.database.connect()
        try await connection.run(
            script: """
                BEGIN;
                SELECT pushmta.update_delivery(\(id), filter => 'locale = ''de''');
                SELECT count(*) FROM pushmta.count_target(\(id))
                """
        )
        // Waiting for the session would take until the time limit.
        try await fixture.store.answer(look, .problem("held"))
        try await connection.run(script: "ROLLBACK")
        await connection.close()
        #expect(try await fixture.store.askTargetCount(ofDelivery: id).answeredAt == nil)
        try await fixture.store.answer(look, .problem("free"))
        #expect(try await fixture.store.askTargetCount(ofDelivery: id).problem == "free")
    }

    @Test("A rough answer is replaced by a better one, but not the answer to a later question")
    func refined() async throws {
        let (fixture, id) = try await edited()
        let store = fixture.store
        _ = try await store.askTargetCount(ofDelivery: id)
        let look = try required(try await store.takeLook())
        let rough = TargetCount(application: "shop-ios", messages: 30, excluded: 8, error: 12)
        let better = TargetCount(application: "shop-ios", messages: 32, excluded: 8)
        #expect(DeliveryLookAnswer.counts([better, rough]).isRough)
        #expect(!DeliveryLookAnswer.counts([better]).isRough && !DeliveryLookAnswer.problem("none").isRough)
        // Nothing to replace yet.
        try await store.refine(look, [better])
        #expect(try await store.askTargetCount(ofDelivery: id).answeredAt == nil)
        try await store.answer(look, .counts([rough]))
        #expect(try await store.askTargetCount(ofDelivery: id).counts == [rough])
        try await store.refine(look, [better])
        #expect(try await store.askTargetCount(ofDelivery: id).counts == [better])
        try await store.setTarget(ofDelivery: id, DeliveryTarget(filter: "locale = 'de'"))
        _ = try await store.askTargetCount(ofDelivery: id)
        try await store.answer(look, .counts([rough]))
        try await store.refine(look, [better])
        #expect(try await store.askTargetCount(ofDelivery: id).answeredAt == nil)
    }

    @Test("The first call asks, a later one returns the answer, and a change asks again")
    func asked() async throws {
        let (fixture, id) = try await edited()
        let asked = try await fixture.store.askTargetCount(ofDelivery: id)
        #expect(asked.answeredAt == nil && asked.counts.isEmpty && asked.problem.isEmpty)
        let look = try required(try await fixture.store.takeLook())
        #expect(look.deliveryID == id && look.subscriptionID == nil)
        #expect(try await fixture.other.takeLook() == nil)
        let counts = try await fixture.store.countTarget(ofDelivery: id)
        try await fixture.store.answer(look, .counts(counts))
        let answer = try await fixture.store.askTargetCount(ofDelivery: id)
        #expect(answer.answeredAt != nil && answer.counts == counts)
        #expect(try await fixture.store.takeLook() == nil)
        try await fixture.sql("DO $$ BEGIN PERFORM pushmta.update_delivery(\(id), filter => 'locale = ''de'''); END $$")
        #expect(try await fixture.store.askTargetCount(ofDelivery: id).answeredAt == nil)
        // What was asked before the change gets no answer any more.
        try await fixture.store.answer(look, .counts(counts))
        #expect(try await fixture.store.askTargetCount(ofDelivery: id).answeredAt == nil)
        let problem = "its view is away"
        try await fixture.store.answer(try required(try await fixture.store.takeLook()), .problem(problem))
        #expect(try await fixture.store.askTargetCount(ofDelivery: id).problem == problem)
    }

    @Test("Marketing systems preview a message; it is logged, and leaves with the person")
    func previewed() async throws {
        let (fixture, id) = try await edited()
        let marketing = try await fixture.database.connect()
        try await marketing.run(script: "SET ROLE pushmta_marketing")
        func state(_ subscription: Int64) async throws -> String {
            try await marketing.execute(
                PostgresStatement(
                    "SELECT p.state || ' ' || coalesce(p.payload, '') FROM pushmta.preview_message($1, $2) p",
                    [.int64(id), .int64(subscription)]
                )
            ).text(0, 0)
        }
        #expect(try await state(1) == "requested ")
        #expect(try await state(1) == "requested ")
        let look = try required(try await fixture.store.takeLook())
        #expect(look.subscriptionID == 1)
        var message = DeliveryLookAnswer.Message()
        message.payload = #"{"aps":"Ada \u0000"}"#
        try await fixture.store.answer(look, .message(message))
        #expect(try await state(1) == "answered \(message.payload)")
        let logged = "SELECT count(*) FROM pushmta_engine.audit_log WHERE action = 'delivery.preview'"
        #expect(try await fixture.sql(logged) == 1)
        await #expect(throws: PostgresError.self) { _ = try await state(99_999) }
        try await fixture.sql("SELECT 1 FROM pushmta.forget_user('shop', 'user-1')")
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery_look") == 0)
        await marketing.close()
    }

    @Test("Looks are taken again after half a minute, and deleted after an hour")
    func old() async throws {
        let (fixture, id) = try await edited()
        _ = try await fixture.store.askTargetCount(ofDelivery: id)
        #expect(try await fixture.store.takeLook() != nil)
        try await fixture.sql("UPDATE pushmta_engine.delivery_look SET taken_at = now() - interval '31 seconds'")
        #expect(try await fixture.other.takeLook() != nil)
        try await fixture.store.dropOldLooks()
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery_look") == 1)
        try await fixture.sql("UPDATE pushmta_engine.delivery_look SET requested_at = now() - interval '61 minutes'")
        try await fixture.store.dropOldLooks()
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery_look") == 0)
    }
}
