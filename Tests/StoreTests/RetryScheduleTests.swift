import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("The retry schedule of a delivery")
struct RetryScheduleTests {
    private static let content = #"{"ios": {"title": "a"}}"#

    /// The policy by which a child would retry a delivery's messages.
    private func policy(_ fixture: StoreFixture, _ id: Int64) async throws -> RetryPolicy {
        let delivery = try await fixture.store.deliveryForPreview(id)
        return RetryPolicy(
            maxRetries: Int(delivery.maxRetries),
            setting: delivery.retrySchedule,
            isContinuous: delivery.isContinuous,
            periodSeconds: delivery.retryPeriodSeconds
        )
    }

    private func made(
        _ fixture: StoreFixture,
        continuous: Bool = false,
        _ schedule: RetryPolicy.ScheduleSetting = .byKind,
        period: Int32? = nil
    ) async throws -> Int64 {
        var delivery = NewDelivery(
            label: "r",
            applications: ["shop-ios"],
            content: Self.content,
            retryPeriodSeconds: period,
            retrySchedule: schedule
        )
        delivery.isContinuous = continuous
        return try await fixture.store.createDelivery(delivery)
    }

    @Test("The schedule follows the delivery's kind unless the delivery sets one; a period that is set always applies")
    func kinds() async throws {
        let fixture = try await StoreFixture.make()
        let cases: [(Bool, RetryPolicy.ScheduleSetting, Int32?, RetryPolicy.Schedule, Int64)] = [
            (false, .byKind, nil, .daily, 3_600), (true, .byKind, nil, .exponential, 10),
            (false, .exponential, nil, .exponential, 10), (true, .daily, nil, .daily, 3_600),
            (false, .byKind, 60, .daily, 60), (true, .byKind, 60, .exponential, 60),
            (true, .byKind, 10, .exponential, 10),
        ]
        for (continuous, setting, period, schedule, seconds) in cases {
            let id = try await made(fixture, continuous: continuous, setting, period: period)
            let expected = RetryPolicy(maxRetries: 5, schedule: schedule, period: .seconds(seconds))
            #expect(try await policy(fixture, id) == expected, "\(continuous) \(setting) \(period ?? 0)")
        }
    }

    @Test("Days and proofs are retried as their delivery says, even after a change")
    func children() async throws {
        let (fixture, id) = try await StoreFixture.continuous { $0.retryPeriodSeconds = 60 }
        let day = try await fixture.send(id).deliveryID
        let minute = RetryPolicy(maxRetries: 5, schedule: .exponential, period: .seconds(60))
        #expect(try await policy(fixture, day) == minute)
        try await fixture.sql("SELECT 1::bigint FROM pushmta.set_retry_schedule(\(id), 'daily')")
        #expect(try await policy(fixture, day).schedule == .daily)
        try await fixture.sql("SELECT 1::bigint FROM pushmta.set_retry_schedule(\(id), 'default')")
        #expect(try await policy(fixture, day) == minute)
        await #expect {
            try await fixture.sql("SELECT 1::bigint FROM pushmta.set_retry_schedule(\(id), 'hourly')")
        } throws: { ($0 as? PostgresError)?.sqlState == "PM007" }
        let batch = try await made(fixture, .exponential)
        let proof = try await fixture.store.createProof(
            of: batch,
            to: try await fixture.store.proofAddresses([String(fixture.subscription(0))])
        )
        #expect(try await policy(fixture, proof).schedule == .exponential)
    }

    @Test("SQL and templates set it; a delivery that sets none of it gets the template's")
    func templates() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        let named = try required(
            try await fixture.sql(
                """
                SELECT pushmta.create_delivery('r', ARRAY['shop-ios'], '\(Self.content)', retry_schedule => 'exponential')
                """
            )
        )
        #expect(try await policy(fixture, named).schedule == .exponential)
        for (content, more) in [
            ("'\(Self.content)'", ""), ("'\(Self.content)'::jsonb", ""),
            ("'{}'::jsonb || '\(Self.content)'", ", retry_schedule => 'daily'"),
        ] {
            let usual = try required(
                try await fixture.sql("SELECT pushmta.create_delivery('r', ARRAY['shop-ios'], \(content)\(more))")
            )
            #expect(
                try await policy(fixture, usual)
                    == RetryPolicy(maxRetries: 5, schedule: .daily, period: .seconds(3_600))
            )
        }
        await #expect {
            try await fixture.sql(
                "SELECT pushmta.create_delivery('r', ARRAY['shop-ios'], '\(Self.content)', retry_schedule => 'hourly')"
            )
        } throws: { ($0 as? PostgresError)?.sqlState == "PM007" }
        try await store.addTemplate(
            name: "code",
            label: "",
            content: Self.content,
            settings: #"{"retry_schedule": "exponential", "retry_period_seconds": 20}"#
        )
        for wrong in [#"{"retry_schedule": "hourly"}"#, #"{"retry_schedule": null}"#, #"{"retry_schedule": 1}"#] {
            await #expect {
                try await store.addTemplate(name: "x", label: "", content: "{}", settings: wrong)
            } throws: {
                ($0 as? StoreError)?.hint == "write default, daily or exponential"
            }
        }
        var delivery = DeliveryFromTemplate(template: "code", label: "r", applications: ["shop-ios"])
        let asItIs = try await store.createDelivery(delivery)
        #expect(
            try await policy(fixture, asItIs)
                == RetryPolicy(maxRetries: 5, schedule: .exponential, period: .seconds(20))
        )
        delivery.retrySchedule = .daily
        #expect(try await policy(fixture, try await store.createDelivery(delivery)).schedule == .daily)
        delivery.retrySchedule = .byKind
        #expect(try await policy(fixture, try await store.createDelivery(delivery)).schedule == .daily)
        // The ready-made templates set it, but a continuous delivery from them is still retried soon.
        for row in try await store.templates() where row.isReadyMade {
            #expect(
                row.settings.contains(#""retry_schedule": "default""#) && row.settings.contains(#""max_retries": 5"#)
            )
        }
        delivery = DeliveryFromTemplate(
            template: "Deliver on iOS",
            label: "r",
            applications: ["shop-ios"],
            content: Self.content
        )
        #expect(try await policy(fixture, try await store.createDelivery(delivery)).period == .seconds(3_600))
        delivery.isContinuous = true
        #expect(try await policy(fixture, try await store.createDelivery(delivery)).period == .seconds(10))
    }

    @Test("The marketing role sees whose user keys are proven")
    func provenUsers() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key_proven = id % 2 = 0")
        let connection = try await fixture.database.connect()
        try await connection.run(script: "SET ROLE pushmta_marketing")
        let rows = try await connection.execute(
            PostgresStatement("SELECT s.user_key_proven FROM pushmta.subscription s ORDER BY s.id", prepare: false)
        )
        #expect(try (0..<2).map { try rows.bool($0, 0) } == [false, true])
        await connection.close()
    }
}
