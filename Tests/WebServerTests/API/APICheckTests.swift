import PushCore
import Store
import Testing

@testable import WebServer

/// The API's checks: problems are reported before messages are sent.
@Suite struct APICheckTests {
    @Test func aContentIsCheckedBeforeThereIsADelivery() async throws {
        let site = try await APISite.start()
        let key = try await site.key(.writeDeliveries)
        func check(_ body: String, _ key: String) async throws -> APIExchange {
            try await site.call("POST", "/content/check", key: key, body)
        }
        let right = try await check(
            #"{"content": {"ios": {"title": "a"}, "android": {"title": "a"}}, "applications": ["shop-ios", "shop-android"]}"#,
            key
        )
        #expect(right.status == 200 && right["ok"] == "true" && right.count("problems") == 0, "\(right.answer)")
        let typo = try await check(#"{"content": {"ios": {"titel": "a"}}}"#, key)
        #expect(typo["ok"] == "false" && typo["problems.0.path"] == "/ios/titel", "\(typo.answer)")
        #expect(typo["problems.0.subject"] == "content" && typo["problems.0.remedy"] != "null")
        // Checks that depend on the application: its platform, and its gateway's limits.
        let silent = #"{"content": {"ios": {"title": "a"}}, "applications": ["shop-android"]}"#
        #expect(try await check(silent, key)["ok"] == "false")
        let long = String(repeating: "x", count: 5_000)
        let tooLong = #"{"content": {"ios": {"title": "\#(long)"}}, "applications": ["shop-ios"]}"#
        #expect(try await check(tooLong, key)["ok"] == "false")
        #expect(try await check(#"{"content": {}}"#, key)["ok"] == "false")
        let one = try await site.key(.writeDeliveries, applications: ["shop-ios"])
        #expect(try await check(silent, one).status == 404)
        for wrong in [
            "{}", #"{"content": 7}"#, #"{"content": {}, "applications": [7]}"#, #"{"content": {}, "more": 1}"#,
        ] {
            #expect(try await check(wrong, key).status == 400, "\(wrong)")
        }
        #expect(try await check(silent, try await site.key(.readDeliveries)).status == 403)
        #expect(try await site.web.value("SELECT count(*) FROM pushmta_engine.delivery") == "0")
        try await site.finish()
    }

    @Test func aDeliveryIsChecked() async throws {
        let site = try await APISite.start()
        let key = try await site.key(.readDeliveries)
        let id = try await site.web.admin.createDelivery(
            NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        // The applications in these tests have no credential.
        let found = try await site.call("GET", "/deliveries/\(id)/check", key: key)
        #expect(found.status == 200 && found["ok"] == "false", "\(found.answer)")
        #expect(found["problems.0.subject"] == "application" && found["problems.0.path"] == "null")
        #expect(found["problems.0.problem"]?.contains("shop-ios") == true)
        let other = try await site.key(.readDeliveries, applications: ["shop-android"])
        #expect(try await site.call("GET", "/deliveries/\(id)/check", key: other).status == 404)
        #expect(try await site.call("GET", "/deliveries/\(id + 1)/check", key: key).status == 404)
        for wrong in ["0", "x", "99999999999999999999", "01"] {
            #expect(try await site.call("GET", "/deliveries/\(wrong)/check", key: key).status == 400, "\(wrong)")
        }
        let writer = try await site.key(.writeDeliveries)
        #expect(try await site.call("GET", "/deliveries/\(id)/check", key: writer).status == 403)
        try await site.finish()
    }
}
