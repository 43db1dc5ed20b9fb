import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The kinds of a view's columns in filters")
struct MappingKindTests {
    @Test("Money is a number, and NaN is absent")
    func numbers() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 5)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'u' || id")
        try await fixture.sql(
            "CREATE TABLE purse (key text PRIMARY KEY, amount money, rate double precision, share real, sum numeric)"
        )
        try await fixture.sql(
            """
            INSERT INTO purse SELECT 'u' || n, n::numeric::money, x::double precision, x::real, x::numeric
            FROM unnest(ARRAY['2', '4', 'NaN', 'Infinity', '-Infinity']) WITH ORDINALITY v(x, n)
            """
        )
        try await fixture.store.createMapping(name: "purse", label: "", view: "purse", keyColumn: "key")
        try await fixture.store.setService(name: "shop", mapping: "purse")
        let expected: [(String, Set<Int64>)] = [
            ("mapping.amount > 3", [4, 5]), ("mapping.amount = 2.00", [2]), ("mapping.amount in (1, 5)", [1, 5]),
            ("mapping.rate > 3", [2, 4]), ("mapping.share > 3", [2, 4]), ("mapping.sum > 3", [2, 4]),
            ("mapping.rate <= 2", [1, 5]), ("mapping.sum is null", [3]), ("mapping.rate != 2", [2, 3, 4, 5]),
        ]
        for (filter, people) in expected {
            let id = try await fixture.filteredDelivery(filter)
            try await fixture.prepare()
            #expect(try await fixture.targets(id) == people, "\(filter)")
        }
        try await fixture.store.checkFilter("mapping.amount > 3", applications: ["shop-ios"])
    }

    @Test("A value that a column can never have is refused when the delivery is created, and when it is prepared")
    func words() async throws {
        let fixture = try await StoreFixture.make()
        for filter in ["quarantine_status != 'quarantined'", "platform = 'iOS'"] {
            await #expect {
                try await fixture.store.checkFilter(filter, applications: ["shop-ios"])
            } throws: {
                "\($0)".contains("did you mean")
            }
        }
        let id = try await fixture.uncheckedDelivery("quarantine_status != 'foo'")
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: "a").first == nil)
        #expect(try await fixture.store.deliveryProgress(id).stateReason.contains("never that"))
    }
}
