import PushCore
import Store
import Testing

@testable import WebServer

/// Saved audiences and control groups through the API.
@Suite struct APIAudienceTests {
    private func service(_ site: APISite) async throws -> String {
        try #require(
            try await site.web.value("SELECT service FROM pushmta_engine.api_applications() WHERE name = 'shop-ios'")
        )
    }

    @Test func anAudienceIsSavedCountedAndRemoved() async throws {
        let site = try await APISite.start()
        let path = "/services/\(try await service(site))/audiences"
        let key = try await site.key()
        #expect(try await site.call("GET", path, key: key)["audiences"] == "[]")
        let saved = try await site.call("PUT", "\(path)/german", key: key, #"{"filter": "locale = 'de'"}"#)
        #expect(saved.status == 200 && saved["filter"] == "locale = 'de'", "\(saved.answer)")
        #expect(saved["subscriptions"] == "null" && saved["counting"] == "false" && saved["estimate"] == "false")
        #expect(saved["madeBy"]?.hasPrefix("API key ") == true, "\(saved.answer)")
        let asked = try await site.call("POST", "\(path)/german/count", key: key)
        #expect(asked.status == 200 && asked["counting"] == "true", "\(asked.answer)")
        #expect(try await site.web.admin.countAskedAudience())
        let counted = try await site.call("GET", path, key: key)
        #expect(counted["audiences.0.counting"] == "false" && counted["audiences.0.subscriptions"] == "0")
        #expect(try await site.call("GET", "\(path)/german/sample", key: key)["subscriptions"] == "[]")
        #expect(try await site.call("DELETE", "\(path)/german", key: key).status == 204)
        #expect(try await site.call("DELETE", "\(path)/german", key: key).status == 404)
        #expect(try await site.call("POST", "\(path)/german/count", key: key).status == 404)
        #expect(try await site.call("GET", "/services/none/audiences", key: key).status == 404)
        try await site.finish()
    }

    @Test func aFaultyAudienceIsRefused() async throws {
        let site = try await APISite.start()
        let path = "/services/\(try await service(site))/audiences/german"
        let key = try await site.key()
        for body in ["{}", #"{"filter": ""}"#, #"{"filter": "locale ="}"#, #"{"filter": "  "}"#, #"{"name": "x"}"#] {
            #expect(try await site.call("PUT", path, key: key, body).status == 400, "\(body)")
        }
        let reader = try await site.key(.readDeliveries)
        let filter = #"{"filter": "locale = 'de'"}"#
        #expect(try await site.call("PUT", path, key: reader, filter).status == 403)
        #expect(try await site.call("PUT", path, key: key, filter).status == 200)
        // People are shown only to keys that may read devices.
        #expect(try await site.call("GET", "\(path)/sample", key: reader).status == 403)
        #expect(try await site.call("POST", "\(path)/count", key: reader).status == 200)
        try await site.finish()
    }

    @Test func aDeliveryGetsACopyOfTheFilter() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let path = "/services/\(try await service(site))/audiences/german"
        _ = try await site.call("PUT", path, key: key, #"{"filter": "locale = 'de'"}"#)
        func create(_ more: String) async throws -> APIExchange {
            try await site.call(
                "POST",
                "/deliveries",
                key: key,
                #"{"label": "News", "applications": ["shop-ios"], "content": {"ios": {"title": "a"}}, \#(more)}"#
            )
        }
        let made = try await create(#""audience": "german""#)
        #expect(made.status == 201, "\(made.answer)")
        let id = try #require(Int64(made["id"] ?? ""))
        #expect(try await site.web.admin.targeting(ofDelivery: id).filter == "locale = 'de'")
        #expect(try await create(#""audience": "nobody""#).status == 404)
        #expect(try await create(#""audience": "german", "filter": "locale = 'fr'""#).status == 400)
        #expect(try await create(#""audience": "german", "explicitTargets": true"#).status == 400)
        let other = try await site.call("PATCH", "/deliveries/\(id)", key: key, #"{"filter": "locale = 'fr'"}"#)
        #expect(other.status == 200, "\(other.answer)")
        let again = try await site.call("PATCH", "/deliveries/\(id)", key: key, #"{"audience": "german"}"#)
        #expect(again.status == 200, "\(again.answer)")
        let targeting = try await site.web.admin.targeting(ofDelivery: id)
        #expect(targeting.filter == "locale = 'de'" && targeting.audience == "german")
        try await site.finish()
    }

    @Test func aControlGroupIsSetAndCompared() async throws {
        let site = try await APISite.start()
        let service = try await service(site)
        let path = "/services/\(service)/control-group"
        let key = try await site.key()
        let none = try await site.call("GET", path, key: key)
        #expect(none["percent"] == "0.0" && none["since"] == "null" && none["results"] == "[]", "\(none.answer)")
        let set = try await site.call("PUT", path, key: key, #"{"percent": 12.5, "categories": ["news"]}"#)
        #expect(set.status == 200 && set["percent"] == "12.5" && set["categories"] == #"["news"]"#, "\(set.answer)")
        for body in [
            "{}", #"{"percent": 51}"#, #"{"percent": 1.234}"#, #"{"percent": 5, "categories": ["transactional"]}"#,
            #"{"percent": 5, "categories": []}"#,
        ] {
            #expect(try await site.call("PUT", path, key: key, body).status == 400, "\(body)")
        }
        #expect(try await site.call("GET", "\(path)?days=0", key: key).status == 400)
        let conversions = "/services/\(service)/conversions"
        let unknown = try await site.call("POST", conversions, key: key, #"{"userKey": "nobody"}"#)
        #expect(unknown.status == 200 && unknown["counts"] == "false", "\(unknown.answer)")
        try await site.web.admin.seedSubscriptions(application: "shop-ios", count: 3)
        let user = try #require(
            try await site.web.value("SELECT min(user_key) FROM pushmta_engine.subscription WHERE user_key <> ''")
        )
        let body = #"{"userKey": "\#(user)", "name": "order", "value": 12.5}"#
        #expect(try await site.call("POST", conversions, key: key, body)["counts"] == "true")
        #expect(try await site.call("POST", conversions, key: key, body)["counts"] == "false")
        #expect(try await site.call("POST", conversions, key: key, "{}").status == 400)
        let read = try await site.call("GET", "\(path)?days=7", key: key)
        #expect(read["results.0.name"] == "order", "\(read.answer)")
        let reader = try await site.key(.readDeliveries)
        #expect(try await site.call("PUT", path, key: reader, #"{"percent": 1}"#).status == 403)
        #expect(try await site.call("POST", conversions, key: reader, body).status == 403)
        try await site.finish()
    }

    @Test func aKeyForOneApplicationReadsAndChangesNothingOfAllOthers() async throws {
        let site = try await APISite.start()
        let service = try await service(site)
        let limited = try await site.key(applications: ["shop-ios"])
        let filter = #"{"filter": "locale = 'de'"}"#
        let path = "/services/\(service)/audiences"
        #expect(try await site.call("GET", path, key: limited).status == 200)
        #expect(try await site.call("PUT", "\(path)/german", key: limited, filter).status == 404)
        #expect(
            try await site.call("PUT", "/services/\(service)/control-group", key: limited, #"{"percent": 1}"#).status
                == 404
        )
        try await site.finish()
    }
}
