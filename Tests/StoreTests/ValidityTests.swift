import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The bounds of a validity")
struct ValidityTests {
    private func refusal(_ body: () async throws -> Void) async -> StoreError? {
        do { try await body() } catch { return error as? StoreError }
        return nil
    }

    @Test("Each refusal names the limit, and numbers are not changed")
    func deliveries() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        for seconds in [0, 311_040_001, .max, .min] as [Int64] {
            let found = await refusal {
                _ = try await store.createDelivery(
                    NewDelivery(
                        label: "x",
                        applications: ["shop-ios"],
                        content: #"{"ios": {"title": "a"}}"#,
                        validitySeconds: seconds
                    )
                )
            }
            #expect(found?.message.contains("from 1 to 311040000 (3600 days)") == true, "\(found as Any)")
        }
        let longest = try await store.createDelivery(
            NewDelivery(
                label: "x",
                applications: ["shop-ios"],
                content: #"{"ios": {"title": "a"}}"#,
                validitySeconds: DeliverySetting.validities.upperBound
            )
        )
        try await store.startDelivery(longest)
        #expect(
            try await fixture.sql("SELECT (extract(epoch FROM validity))::bigint FROM pushmta_engine.delivery")
                == DeliverySetting.validities.upperBound
        )
    }

    @Test(
        "SQL gets the same error",
        arguments: ["200 years", "3601 days", "0", "-1 s", "300000 years -107999999 days"]
    )
    func sql(_ validity: String) async throws {
        let fixture = try await StoreFixture.make()
        let connection = try await fixture.database.connect()
        let call = "SELECT pushmta.create_delivery('x', ARRAY['shop-ios'], '{}', validity => '\(validity)')"
        await #expect {
            try await connection.run(script: call)
        } throws: {
            let error = $0 as? PostgresError
            return error?.sqlState == "PM007" && error?.message.contains("validity_seconds: ") == true
        }
        let right =
            #"SELECT pushmta.create_delivery('x', '{shop-ios}', '{"ios": {"title": "x"}}', validity => '9 years')"#
        try await connection.run(script: right)
        await connection.close()
    }

    @Test(
        "A refusal tells the seconds that were written",
        arguments: [("100000 days", "8640000000"), ("-1 s", "-1"), ("178000000 years", "5536512000000000")]
    )
    func seconds(_ validity: String, _ seconds: String) async throws {
        let fixture = try await StoreFixture.make()
        await #expect {
            try await fixture.sql(
                "SELECT pushmta.create_delivery('x', '{shop-ios}', '{}', validity => '\(validity)')"
            )
        } throws: {
            ($0 as? PostgresError)?.message == "Delivery \"x\": validity_seconds: \(seconds) is out of range."
        }
    }

    @Test("A template cannot have a validity with which all its deliveries would be refused")
    func templates() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        let found = await refusal {
            try await store.addTemplate(
                name: "t",
                label: "",
                content: "{}",
                settings: #"{"validity_seconds": 311040001}"#
            )
        }
        #expect(found?.hint?.contains("from 1 to 311040000 (3600 days)") == true, "\(found as Any)")
        try await store.addTemplate(
            name: "t",
            label: "",
            content: #"{"ios": {"title": "a"}}"#,
            settings: #"{"validity_seconds": 311040000}"#
        )
        _ = try await store.createDelivery(DeliveryFromTemplate(template: "t", label: "x", applications: ["shop-ios"]))
        var delivery = DeliveryFromTemplate(template: "t", label: "x", applications: ["shop-ios"])
        delivery.validitySeconds = .max
        let own = delivery
        #expect(await refusal { _ = try await store.createDelivery(own) }?.code == .invalid)
    }
}
