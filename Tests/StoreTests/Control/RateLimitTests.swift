import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Rates in the database: a timeline that all hosts share.
@Suite struct RateLimitTests {
    private static let content = #"{"ios": {"title": "a"}}"#

    private func limits(_ fixture: StoreFixture, _ deliveries: Int64..., project: String? = nil) async throws
        -> [RateLimit]
    {
        try await fixture.store.rateLimits(
            RateScope(application: 1, account: 1, project: project),
            deliveries: deliveries
        )
    }

    private func made(_ fixture: StoreFixture, _ rate: Double?) async throws -> Int64 {
        var delivery = NewDelivery(label: "r", applications: ["shop-ios"], content: Self.content)
        delivery.messagesPerSecond = rate
        return try await fixture.store.createDelivery(delivery)
    }

    @Test func slicesFollowOneAnother() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture, 100)
        let limit = try required(try await limits(fixture, id).first)
        #expect(limit.messagesPerSecond == 100 && limit.deliveryID == id && !limit.isProject)
        let first = try required(try await fixture.store.takeRates([(limit.id, 1_000)]).first)
        #expect(first.messages == 5 && first.messagesPerSecond == 100, "a twentieth of a second")
        #expect(first.startsIn == .zero)
        // The next caller gets the time after that, whatever the present time is.
        try await fixture.sql("UPDATE pushmta_engine.rate_limit SET next_at = clock_timestamp() + interval '1 hour'")
        let next = try required(try await fixture.store.takeRates([(limit.id, 2)]).first)
        #expect(next.messages == 2 && next.startsIn > .seconds(3_500) && next.startsIn <= .seconds(3_600))
        let after = try await fixture.sql(
            """
            SELECT (extract(epoch FROM next_at - clock_timestamp()) BETWEEN 3500 AND 3600.02)::int::bigint
            FROM pushmta_engine.rate_limit
            """
        )
        #expect(after == 1)
        #expect(try await fixture.store.takeRates([(limit.id + 100, 1)]).isEmpty, "a limit that is gone")
    }

    @Test func sixteenWhoAskAtOnceGetNothingTwice() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture, 1_000)
        let limit = try required(try await limits(fixture, id).first).id
        let granted = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    var sum: Int64 = 0
                    for _ in 0..<20 {
                        for slice in try await fixture.store.takeRates([(limit, 50)]) { sum += Int64(slice.messages) }
                    }
                    return sum
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(granted == 16 * 20 * 50)
        // The timeline has advanced by at least the time that was given out.
        let ahead = try await fixture.sql(
            """
            SELECT (next_at - changed_at >= interval '16 seconds')::int::bigint FROM pushmta_engine.rate_limit
            WHERE granted = \(granted)
            """
        )
        #expect(ahead == 1)
    }

    @Test func aProjectStartsSlowlyAfterAPauseAndIsHalvedByARefusal() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.limitProject("shop")
        try await fixture.store.limitProject("shop")
        let limit = try required(try await limits(fixture, project: "shop").first)
        #expect(limit.isProject && limit.messagesPerSecond == 10_000)
        #expect(try await limits(fixture, project: "other").isEmpty)
        let first = try required(try await fixture.store.takeRates([(limit.id, 100_000)]).first)
        #expect(first.messagesPerSecond >= 1_000 && first.messagesPerSecond < 5_000, "\(first)")
        try await fixture.sql("UPDATE pushmta_engine.rate_limit SET start_at = now() - interval '1 hour'")
        let later = try required(try await fixture.store.takeRates([(limit.id, 100_000)]).first)
        #expect(later.messagesPerSecond == 9_800 && later.messages == 490, "two in a hundred below the quota")

        try await fixture.store.cutRate(limit.id, reason: "429 RESOURCE_EXHAUSTED")
        try await fixture.store.cutRate(limit.id, reason: "told by another child")
        let row = try required(try await fixture.store.rateLimitRows(limit: 10).first)
        #expect(row.scope == "project" && row.name == "shop" && row.cutReason == "429 RESOURCE_EXHAUSTED")
        #expect(row.currentRate >= 4_900 && row.currentRate < 9_000, "\(row)")
        // After a pause of a minute, the timeline starts again.
        try await fixture.sql(
            "UPDATE pushmta_engine.rate_limit SET next_at = now() - interval '61 s', start_at = now() - interval '1 h'"
        )
        let again = try required(try await fixture.store.takeRates([(limit.id, 1)]).first)
        #expect(again.messagesPerSecond < 5_000, "\(again)")
    }

    @Test func aClockThatIsSetBackStopsNobody() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture, 100)
        let limit = try required(try await limits(fixture, id).first).id
        _ = try await fixture.store.takeRates([(limit, 5)])
        try await fixture.sql(
            """
            UPDATE pushmta_engine.rate_limit SET next_at = next_at + interval '1 hour', taken_at = taken_at + interval '1 hour',
                start_at = start_at + interval '1 hour'
            """
        )
        let next = try required(try await fixture.store.takeRates([(limit, 5)]).first)
        #expect(next.startsIn < .seconds(1) && next.messagesPerSecond == 100, "\(next)")
    }

    @Test func limitsAreSetAndTakenAway() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture, nil)
        #expect(try await limits(fixture, id).isEmpty)
        try await fixture.store.setDeliveryRate(id, messagesPerSecond: 7.5)
        #expect(try await limits(fixture, id).map(\.messagesPerSecond) == [7.5])
        try await fixture.store.setDeliveryRate(id, messagesPerSecond: 20)
        #expect(try await limits(fixture, id).map(\.messagesPerSecond) == [20])
        #expect(try await fixture.store.deliveryForPreview(id).rateLimit?.messagesPerSecond == 20)
        try await fixture.store.setDeliveryRate(id, messagesPerSecond: nil)
        #expect(try await limits(fixture, id).isEmpty)

        let account = try await fixture.sql(
            "SELECT id::bigint FROM pushmta_engine.external_account ORDER BY id LIMIT 1"
        )
        #expect(account == 1)
        let name = try await fixture.store.query("SELECT name FROM pushmta_engine.external_account WHERE id = 1")
            .text(0, 0)
        try await fixture.store.setRate("account", name, messagesPerSecond: 300)
        try await fixture.store.setRate("application", "shop-ios", messagesPerSecond: 400)
        #expect(Set(try await limits(fixture).map(\.messagesPerSecond)) == [300, 400])
        try await fixture.store.setRate("account", name, messagesPerSecond: nil)
        try await fixture.store.setRate("application", "shop-ios", messagesPerSecond: .infinity)
        #expect(try await limits(fixture).isEmpty)
        try await fixture.store.setRate("project", "p", messagesPerSecond: .infinity)
        #expect(try await limits(fixture, project: "p").map(\.messagesPerSecond) == [.infinity])
        try await fixture.store.setRate("project", "p", messagesPerSecond: nil)
        try await fixture.store.limitProject("p")
        #expect(try await limits(fixture, project: "p").map(\.messagesPerSecond) == [10_000])
    }

    @Test func daysShareTheLimitOfTheirDelivery() async throws {
        let (fixture, id) = try await StoreFixture.continuous { $0.messagesPerSecond = 50 }
        let day = try await fixture.send(id).deliveryID
        #expect(try await limits(fixture, day).map(\.deliveryID) == [day])
        #expect(try await fixture.store.deliveryForSending(day).rateLimit?.messagesPerSecond == 50)
        await #expect(throws: StoreError.self) {
            try await fixture.store.setDeliveryRate(day, messagesPerSecond: 1)
        }
    }

    @Test(arguments: [
        ("SELECT pushmta.set_delivery_rate(99999999, 1)", "PM002"),
        ("SELECT pushmta.set_rate('application', 'nobody', 1)", "PM001"),
        ("SELECT pushmta.set_rate('account', 'nobody', 1)", "PM005"),
        ("SELECT pushmta.set_rate('city', 'Lyon', 1)", "PM007"),
        ("SELECT pushmta.set_rate(NULL, 'Lyon', 1)", "PM007"),
        ("SELECT pushmta.set_rate('project', 'two words', 1)", "PM007"),
        ("SELECT pushmta.set_rate('project', NULL, 1)", "PM007"),
        ("SELECT pushmta.set_rate('project', 'p', 0)", "PM007"),
        ("SELECT pushmta.set_rate('project', 'p', 'NaN')", "PM007"),
        ("SELECT pushmta.set_rate('project', 'p', -1)", "PM007"),
        ("SELECT pushmta.set_rate('application', 'shop-ios', 1000001)", "PM007"),
    ])
    func whatIsNoRateIsRefused(_ sql: String, _ code: String) async throws {
        let fixture = try await StoreFixture.make()
        await #expect("\(sql)") {
            _ = try await fixture.store.query(sql)
        } throws: { error in
            (error as? PostgresError)?.sqlState == code || "\(error)".contains(code)
                || (error as? StoreError) != nil
        }
    }

    @Test func templatesCarryARate() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.addTemplate(
            name: "slow",
            label: "",
            content: Self.content,
            settings: #"{"messages_per_second": 12.5}"#
        )
        let id = try await fixture.store.createDelivery(
            DeliveryFromTemplate(template: "slow", label: "s", applications: ["shop-ios"])
        )
        #expect(try await limits(fixture, id).map(\.messagesPerSecond) == [12.5])
        for wrong in ["0", "1e9", #""5""#, "null", "1e-9999"] {
            await #expect(throws: StoreError.self, "\(wrong)") {
                try await fixture.store.addTemplate(
                    name: "wrong",
                    label: "",
                    content: Self.content,
                    settings: #"{"messages_per_second": \#(wrong)}"#
                )
            }
        }
    }

    @Test(arguments: [
        #"create_delivery('r', '{shop-ios}', '{"ios": {"title": "a"}}'"#,
        "create_delivery_from_template('slow', 'r', '{shop-ios}'",
    ])
    func anInfiniteRateIsNoLimit(_ call: String) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.addTemplate(
            name: "slow",
            label: "",
            content: Self.content,
            settings: #"{"messages_per_second": 12.5}"#
        )
        let id = try required(try await fixture.sql("SELECT pushmta.\(call), messages_per_second => 'Infinity')"))
        #expect(try await limits(fixture, id).isEmpty)
        for wrong in ["NaN", "-Infinity"] {
            await #expect {
                try await fixture.sql("SELECT pushmta.\(call), messages_per_second => '\(wrong)')")
            } throws: {
                let error = $0 as? PostgresError
                return error?.sqlState == "PM007"
                    && error?.message == "Delivery \"r\": messages_per_second: \(wrong) is out of range."
            }
        }
    }

    @Test func aLimitGoesWithItsDelivery() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture, 5)
        try await fixture.sql("DELETE FROM pushmta_engine.delivery_application WHERE delivery_id = \(id)")
        try await fixture.sql("DELETE FROM pushmta_engine.delivery WHERE id = \(id)")
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.rate_limit") == 0)
    }
}
