import PushCore
import Store
import Testing

@testable import WebServer

/// Archiving and comparing deliveries through the API.
@Suite struct APIArchiveTests {
    private func make(_ site: APISite, _ applications: [String] = ["shop-ios"]) async throws -> Int64 {
        try await site.web.admin.createDelivery(
            NewDelivery(
                label: "Sale",
                applications: applications,
                content: #"{"ios": {"title": "a"}, "android": {"title": "a"}}"#
            )
        )
    }

    /// The ids of a page of the list.
    private func listed(_ site: APISite, _ key: String, _ query: String = "") async throws -> [String] {
        let page = try await site.call("GET", "/deliveries\(query)", key: key)
        #expect(page.status == 200, "\(page.answer)")
        return (0..<5).compactMap { page["deliveries.\($0).id"] }
    }

    @Test func whatHasEndedIsHiddenAndShownAgain() async throws {
        let site = try await APISite.start()
        let id = try await make(site)
        let other = try await make(site)
        let key = try await site.key(.writeDeliveries, .readDeliveries, name: "shop")
        let path = "/deliveries/\(id)"
        let early = try await site.call("POST", "\(path)/archive", key: key)
        #expect(early.status == 409 && early["detail"]?.contains("only one that has ended") == true, "\(early.answer)")
        try await site.web.admin.stopDelivery(id)
        let archived = try await site.call("POST", "\(path)/archive", key: key)
        #expect(archived.status == 200 && archived["archivedAt"] != "null", "\(archived.answer)")
        #expect(archived["state"] == "stopped")
        #expect(try await listed(site, key) == ["\(other)"])
        #expect(try await listed(site, key, "?archived=without") == ["\(other)"])
        #expect(try await listed(site, key, "?archived=with") == ["\(other)", "\(id)"])
        #expect(try await site.call("GET", "/deliveries?archived=only", key: key).status == 400)
        // Its own page stays.
        #expect(try await site.call("GET", path, key: key)["archivedAt"] == archived["archivedAt"])
        let shown = try await site.call("POST", "\(path)/unarchive", key: key)
        #expect(shown.status == 200 && shown["archivedAt"] == "null", "\(shown.answer)")
        #expect(try await site.call("POST", "\(path)/unarchive", key: key).status == 200)
        #expect(try await listed(site, key) == ["\(other)", "\(id)"])
        let reader = try await site.key(.readDeliveries)
        #expect(try await site.call("POST", "\(path)/archive", key: reader).status == 403)
        let log = """
            SELECT count(*) FROM pushmta_engine.audit_log
            WHERE action IN ('delivery.archive', 'delivery.unarchive') AND origin LIKE 'API key shop%'
            """
        #expect(try await site.web.value(log) == "2")
        try await site.finish()
    }

    @Test func twoDeliveriesAreCompared() async throws {
        let site = try await APISite.start()
        let first = try await make(site)
        let second = try await make(site)
        let foreign = try await make(site, ["shop-android"])
        let key = try await site.key(applications: ["shop-ios"])
        let compared = try await site.call("GET", "/deliveries/\(first)/comparison?with=\(second)", key: key)
        #expect(compared.status == 200 && compared["withDeliveryId"] == "\(second)", "\(compared.answer)")
        #expect(compared["measures.3.measure"] == "clicked" && compared["measures.3.clear"] == "false")
        #expect(compared["measures.0.rate"] == "null" && compared["measures.0.difference"] == "null")
        for (query, status) in [("", 400), ("?with=x", 400), ("?with=\(foreign)", 404), ("?with=99999", 404)] {
            let answer = try await site.call("GET", "/deliveries/\(first)/comparison\(query)", key: key)
            #expect(answer.status == status, "\(query): \(answer.answer)")
        }
        try await site.finish()
    }
}
