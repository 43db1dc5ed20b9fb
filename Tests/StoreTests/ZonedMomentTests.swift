import PushCore
import Store
import TestSupport
import Testing

/// Local times in a zone whose clock changes.
@Suite struct ZonedMomentTests {
    @Test("A local time is one moment, none, or two")
    func moments() async throws {
        let fixture = try await StoreFixture.make()
        let times = [
            "2026-12-01T09:00", "2027-03-28T02:30", "2027-03-28T03:00", "2027-10-31T02:30", "2027-10-31T03:00",
        ]
        let found = try await fixture.store.moments(of: times, in: "Europe/Berlin")
        let texts = times.map { time -> [String] in
            switch found[time] {
            case .once(let moment)?: [moment.internetText]
            case .twice(let first, let second)?: [first.internetText, second.internetText]
            case .skipped?, nil: []
            }
        }
        #expect(
            texts == [
                ["2026-12-01T08:00:00.000000Z"], [], ["2027-03-28T01:00:00.000000Z"],
                ["2027-10-31T00:30:00.000000Z", "2027-10-31T01:30:00.000000Z"], ["2027-10-31T02:00:00.000000Z"],
            ]
        )
        #expect(found["2027-03-28T02:30"] == .skipped)
        #expect(try await fixture.store.moments(of: times, in: "Mars/Base").isEmpty)
        #expect(try await fixture.store.moments(of: [], in: "Europe/Berlin").isEmpty)
    }

    @Test("The day of a frequency cap has the zone of the declared column where a subscription has none")
    func recipientZones() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET parameters = '{"zone": "Pacific/Auckland"}'
            WHERE id < (SELECT max(id) FROM pushmta_engine.subscription)
            """
        )
        func zones(_ expected: String) async throws -> Bool {
            try await fixture.sql(
                """
                SELECT count(*) FROM pushmta_engine.service v WHERE v.name = 'shop'
                    AND pushmta_engine.recipient_zones(v.id, ARRAY(SELECT s.id FROM pushmta_engine.subscription s ORDER BY s.id),
                        ARRAY['', 'Asia/Tokyo', '']) = '\(expected)'::text[]
                """
            ) == 1
        }
        #expect(try await zones(#"{"",Asia/Tokyo,""}"#))
        try await fixture.sql(
            """
            UPDATE pushmta_engine.application SET subscription_parameters =
                '[{"name": "zone", "column": "parameters.zone", "time_zone": true}]' WHERE name = 'shop-ios'
            """
        )
        #expect(try await zones(#"{Pacific/Auckland,Asia/Tokyo,""}"#))
    }

    @Test("A moment is shown as the clock of a zone shows it")
    func localTimes() async throws {
        let fixture = try await StoreFixture.make()
        let moment = DatabaseTime(microsecondsSince1970: 1_796_112_000_000_000)
        let shown = try await fixture.store.localTimes(of: [moment], in: "Asia/Kathmandu")
        #expect(moment.internetText == "2026-12-01T08:00:00.000000Z" && shown == [moment: "2026-12-01T13:45"])
        #expect(try await fixture.store.localTimes(of: [moment], in: "Mars/Base").isEmpty)
        #expect(try await fixture.store.zonesOfServices()["shop"] == "UTC")
    }
}
