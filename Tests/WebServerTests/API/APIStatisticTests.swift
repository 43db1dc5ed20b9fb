import PushCore
import Store
import Testing

@testable import WebServer

/// Statistics of deliveries through the API.
@Suite struct APIStatisticTests {
    /// A delivery with two sent messages in one hour, one of them clicked, and a failed message in the next hour.
    private func counted(_ site: APISite) async throws -> Int64 {
        let id = try await site.web.admin.createDelivery(
            NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await site.web.run(
            """
            INSERT INTO pushmta_engine.delivery_statistic
                (delivery_id, hour, n, application_id, measure, failure, app_version, locale, reason)
            SELECT \(id), v.hour, v.n, a.id, v.measure, v.failure, v.version, v.locale, v.reason
            FROM pushmta_engine.application a CROSS JOIN (VALUES
                (timestamptz '2026-11-24 18:00Z', 2, 1, -1, '4.2', 'fr', ''),
                (timestamptz '2026-11-24 18:00Z', 1, 21, -1, '4.2', 'fr', ''),
                (timestamptz '2026-11-24 19:00Z', 1, 2, 2 * 256 + 1, '', 'de', 'Unregistered'))
                v(hour, n, measure, failure, version, locale, reason)
            WHERE a.name = 'shop-ios'
            """
        )
        return id
    }

    @Test func totalsAndParts() async throws {
        let site = try await APISite.start()
        let key = try await site.key(.readDeliveries)
        let id = try await counted(site)
        let path = "/deliveries/\(id)/statistics"
        let total = try await site.call("GET", path, key: key)
        #expect(total.status == 200 && total["deliveryId"] == "\(id)", "\(total.answer)")
        #expect(total["counts.sent"] == "2" && total["counts.failed"] == "1" && total["counts.clickedUnique"] == "1")
        #expect(total["complete"] == "false" && total["finishedAt"] == "null")
        let hours = try await site.call("GET", path + "/hours", key: key)
        #expect(hours.count("hours") == 2 && hours["hours.0.hour"] == "2026-11-24T18:00:00.000000Z")
        #expect(hours["hours.0.counts.sent"] == "2" && hours["hours.1.counts.failed"] == "1")
        let applications = try await site.call("GET", path + "/applications", key: key)
        #expect(applications.count("applications") == 1 && applications["applications.0.application"] == "shop-ios")
        let versions = try await site.call("GET", path + "/versions", key: key)
        #expect(versions["versions.0.version"] == "null" && versions["versions.1.version"] == "4.2")
        let first = try await site.call("GET", path + "/locales?limit=1", key: key)
        #expect(first["locales.0.locale"] == "de" && first["next"] == "1")
        let second = try await site.call("GET", path + "/locales?limit=2&offset=1", key: key)
        #expect(second.count("locales") == 1 && second["locales.0.locale"] == "fr" && second["next"] == "null")
        let failures = try await site.call("GET", path + "/failures", key: key)
        #expect(failures["failures.0.reason"] == "Unregistered" && failures["failures.0.messages"] == "1")
        #expect(failures["failures.0.failureType"] == "hard" && failures["failures.0.status"] == "failed")
        try await site.finish()
    }

    @Test func onlyForThoseWhoMayReadTheDelivery() async throws {
        let site = try await APISite.start()
        let key = try await site.key(.readDeliveries)
        let other = try await site.key(.readDeliveries, applications: ["shop-android"])
        let writer = try await site.key(.writeDeliveries)
        let id = try await counted(site)
        for part in ["", "/hours", "/applications", "/versions", "/locales", "/failures"] {
            let path = "/deliveries/\(id)/statistics" + part
            #expect(try await site.call("GET", path, key: key).status == 200, "\(part)")
            #expect(try await site.call("GET", path, key: other).status == 404, "\(part)")
            #expect(try await site.call("GET", path, key: writer).status == 403, "\(part)")
            #expect(try await site.call("GET", "/deliveries/99/statistics" + part, key: key).status == 404, "\(part)")
        }
        for wrong in ["limit=0", "limit=1001", "offset=-1", "offset=2147483648", "after=1"] {
            let answer = try await site.call("GET", "/deliveries/\(id)/statistics/hours?\(wrong)", key: key)
            #expect(answer.status == 400, "\(wrong)")
        }
        let end = try await site.call("GET", "/deliveries/\(id)/statistics/hours?offset=2147483647", key: key)
        #expect(end.status == 200 && end.count("hours") == 0 && end["next"] == "null")
        try await site.finish()
    }
}
