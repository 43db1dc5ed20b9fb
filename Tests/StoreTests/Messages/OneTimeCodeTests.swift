import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// A delivery of one-time codes ignores an opt-out, and nothing else.
@Suite("One-time codes", .timeLimit(.minutes(3)))
struct OneTimeCodeTests {
    /// Subscriptions 1 to 6: 2 opted out, 3 is disabled, 4 both, 5 opted out and in quarantine, 6 opted out with soft errors.
    private static let persons = """
        UPDATE pushmta_engine.subscription SET opted_out = id IN (2, 4, 5, 6), enabled = id NOT IN (3, 4),
            quarantine_status = CASE id WHEN 5 THEN 2 WHEN 6 THEN 1 ELSE 0 END
        """

    private func reasons(_ fixture: StoreFixture, _ delivery: Int64) async throws -> String {
        let connection = try await fixture.database.connect()
        defer { Task { await connection.close() } }
        let rows = try await connection.execute(
            PostgresStatement(
                """
                SELECT coalesce(string_agg(subscription_id || ' ' || reason, ', ' ORDER BY subscription_id), '')
                FROM pushmta.exclusion_log WHERE delivery_id = \(delivery)
                """
            )
        )
        return try rows.text(0, 0)
    }

    @Test("People who opted out are included; for others, the reason is recorded", arguments: [false, true])
    func subscribers(onePerUser: Bool) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 6)
        try await fixture.sql(Self.persons)
        for (isCode, messages, told) in [
            (true, 3, "3 disabled, 4 disabled, 5 quarantine"),
            (false, 1, "2 opted_out, 3 disabled, 4 opted_out, 5 opted_out, 6 opted_out"),
        ] {
            var delivery = NewDelivery(label: "d", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
            delivery.onePerUser = onePerUser
            delivery.isOneTimeCode = isCode
            let id = try await fixture.store.createDelivery(delivery)
            try await fixture.store.startDelivery(id)
            #expect(try await fixture.prepare().messages == Int64(messages))
            #expect(try await reasons(fixture, id) == told)
        }
    }

    @Test("The console counts them in the same way")
    func count() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 6)
        try await fixture.sql(Self.persons)
        let application = try await fixture.store.application(named: "shop-ios").id
        for (isCode, count) in [(true, Int64(3)), (false, 1)] {
            let found = try await fixture.store.countAudience(
                nil,
                applications: [application],
                isOneTimeCode: isCode,
                within: .seconds(60)
            )
            #expect(found.count == count && found.excluded == 6 - count)
        }
    }

    @Test("A row of explicit targets is judged in the same way", arguments: [false, true])
    func targets(onePerUser: Bool) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 6)
        try await fixture.sql(Self.persons)
        let id = try await fixture.startedDelivery(explicit: true, onePerUser: onePerUser)
        try await fixture.store.setOneTimeCode(id, true)
        try await fixture.sql(
            "INSERT INTO pushmta.delivery_target (delivery_id, subscription_id) SELECT \(id), n FROM generate_series(1, 6) n"
        )
        try await fixture.store.startDelivery(id)
        #expect(try await fixture.prepare().messages == 3)
        #expect(try await reasons(fixture, id) == "3 disabled, 4 disabled, 5 quarantine")
    }

    @Test("The load decides in the same way", arguments: [true, false])
    func load(dense: Bool) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 6)
        let id = try await fixture.startedDelivery()
        try await fixture.prepare()
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET dense = \(dense)")
        try await fixture.sql(Self.persons)
        let part = try required(try await fixture.claim().first)
        #expect(part.deliveryID == id)
        let codes = try await fixture.store.loadPart(part, MessageFields(names: [], areOneTimeCodes: true))
        #expect(
            codes.decisions == [.sendable, .sendable, .disabled, .disabled, .quarantined, .sendableWithErrors]
        )
        // A person who opts out while a delivery is under way gets nothing more from it.
        let others = try await fixture.store.loadPart(part, MessageFields(names: []))
        #expect(others.decisions == [.sendable, .optedOut, .disabled, .optedOut, .optedOut, .optedOut])
    }

    @Test("Messages added one by one, and those of one call")
    func messages() async throws {
        let (fixture, codes) = try await StoreFixture.continuous(users: 6) { $0.isOneTimeCode = true }
        let news = try await fixture.startContinuous()
        try await fixture.sql(Self.persons)
        let list = "SELECT count(*) FROM pushmta.send_messages"
        let ids = "subscription_ids => ARRAY[1, 2, 3, 4, 5, 6]"
        #expect(try await fixture.sql("\(list)(\(codes), \(ids)) m WHERE m.refusal IS NULL") == 3)
        #expect(try await fixture.sql("\(list)(\(news), \(ids)) m WHERE m.refusal IS NULL") == 1)
        // The second message of a day takes the short path.
        for argument in [
            "subscription_id => 2", "user_key => (SELECT user_key FROM pushmta_engine.subscription WHERE id = 2)",
            "push_token => (SELECT push_token FROM pushmta_engine.subscription WHERE id = 2)",
        ] {
            #expect(
                try await fixture.sql("SELECT subscription_id FROM pushmta.send_message(\(codes), \(argument))") == 2
            )
            await #expect(throws: PostgresError.self) {
                try await fixture.sql("SELECT subscription_id FROM pushmta.send_message(\(news), \(argument))")
            }
        }
        for place in [3, 4, 5] {
            await #expect(throws: PostgresError.self) {
                try await fixture.sql("SELECT 1 FROM pushmta.send_message(\(codes), subscription_id => \(place))")
            }
        }
        #expect(try await fixture.store.deliveryProgress(codes).isOneTimeCode)
        #expect(try await !fixture.store.deliveryProgress(news).isOneTimeCode)
    }

    @Test("It is set before the start, for each delivery separately, and is logged")
    func choice() async throws {
        let (fixture, codes) = try await StoreFixture.continuous { $0.isOneTimeCode = true }
        await #expect(throws: (any Error).self) { try await fixture.store.setOneTimeCode(codes, false) }
        let logged =
            "SELECT count(*) FROM pushmta_engine.audit_log WHERE action = 'delivery.one_time_code' AND subject = '\(codes)'"
        #expect(try await fixture.sql(logged) == 1)
        await #expect(throws: (any Error).self) {
            try await fixture.store.addTemplate(
                name: "codes",
                label: "",
                content: #"{"ios": {"title": "a"}}"#,
                settings: #"{"one_time_code": true}"#
            )
        }
    }
}
