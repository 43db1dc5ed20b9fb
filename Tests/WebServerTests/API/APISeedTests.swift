import PushCore
import Store
import Testing

@testable import WebServer

/// Seed addresses through the API.
@Suite struct APISeedTests {
    private static let token = "seed-token-" + String(repeating: "a", count: 40)

    @Test func aSeedIsAddedReadListedAndDeletedAndNeverShowsItsToken() async throws {
        let site = try await APISite.start()
        let key = try await site.key(name: "shop")
        let made = try await site.call(
            "POST",
            "/seeds",
            key: key,
            #"{"name": "ada's phone", "label": "Ada", "application": "shop-android", "pushToken": "\#(Self.token)", "variables": {"name": "Ada"}, "locale": "fr-CA"}"#
        )
        #expect(made.status == 201, "\(made.answer)")
        #expect(made.headers["location"] == "/api/v1/seeds/ada%27s%20phone")
        #expect(made["application"] == "shop-android" && made["platform"] == "android" && made["label"] == "Ada")
        #expect(made["variables.name"] == "Ada" && made["seedOnly"] == "true" && made["problem"] == "null")
        #expect(!made.answer.body.contains(Self.token))
        let device = try await site.call(
            "POST",
            "/devices",
            key: key,
            #"{"application": "shop-ios", "pushToken": "\#(String(repeating: "ab", count: 32))", "userKey": "ben"}"#
        )["id"]
        let byID = try await site.call("POST", "/seeds", key: key, #"{"name": "b1", "deviceId": \#(device ?? "")}"#)
        #expect(byID.status == 201 && byID["application"] == "shop-ios" && byID["seedOnly"] == "false")
        let byUser = try await site.call(
            "POST",
            "/seeds",
            key: key,
            #"{"name": "b2", "application": "shop-ios", "userKey": " ben "}"#
        )
        #expect(byUser.status == 201 && byUser["deviceId"] == device)
        let read = try await site.call("GET", "/seeds/ada%27s%20phone", key: key)
        #expect(read.status == 200 && read.json == made.json)
        let page = try await site.call("GET", "/seeds?limit=2", key: key)
        #expect(page["seeds.0.name"] == "ada's phone" && page["seeds.1.name"] == "b1" && page["next"] == "b1")
        let rest = try await site.call("GET", "/seeds?after=b1&limit=2", key: key)
        #expect(rest.count("seeds") == 1 && rest["seeds.0.name"] == "b2" && rest["next"] == "null")
        #expect(!page.answer.body.contains(Self.token))
        #expect(try await site.call("DELETE", "/seeds/b1", key: key).status == 204)
        #expect(try await site.call("DELETE", "/seeds/b1", key: key).status == 404)
        #expect(try await site.call("GET", "/seeds/b1", key: key).status == 404)
        let log = """
            SELECT string_agg(action || ' ' || subject, '; ' ORDER BY id) FROM pushmta_engine.audit_log
            WHERE action LIKE 'seed.%' AND origin LIKE 'API key shop by %'
            """
        #expect(
            try await site.web.value(log) == "seed.add ada's phone; seed.add b1; seed.add b2; seed.remove b1"
        )
        try await site.finish()
    }

    @Test func whatCannotBeASeedIsRefused() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let address = #""application": "shop-android", "pushToken": "\#(Self.token)""#
        for (body, status, path) in [
            (#"{"name": "7", \#(address)}"#, 400, "/name"), (#"{"name": "a,b", \#(address)}"#, 400, "/name"),
            (#"{"name": " ", \#(address)}"#, 400, "/name"), (#"{"name": "", \#(address)}"#, 400, "/name"),
            (#"{\#(address)}"#, 400, "/name"),
            (#"{"name": "\#(String(repeating: "n", count: 201))", \#(address)}"#, 400, "/name"),
            (#"{"name": "a", "label": "a\nb", \#(address)}"#, 400, "/label"),
            (#"{"name": "a", "application": "shop-android"}"#, 400, ""),
            (#"{"name": "a", "deviceId": 1, \#(address)}"#, 400, ""),
            (#"{"name": "a", "pushToken": "\#(Self.token)"}"#, 400, "/application"),
            (#"{"name": "a", "variables": [], \#(address)}"#, 400, "/variables"),
            (#"{"name": "a", "locale": "1", \#(address)}"#, 400, "/locale"),
            (#"{"name": "a", "deviceId": 9223372036854775808}"#, 400, "/deviceId"),
        ] {
            let answer = try await site.call("POST", "/seeds", key: key, body)
            #expect(answer.status == status && answer["errors.0.path"] == path, "\(body): \(answer.answer)")
        }
        for (body, status) in [
            (#"{"name": "a", "deviceId": 9223372036854775807}"#, 400),
            (#"{"name": "a", "application": "none", "pushToken": "\#(Self.token)"}"#, 404),
            (#"{"name": "a", "application": "shop-ios", "pushToken": "\#(Self.token)"}"#, 400),
            (#"{"name": "a", "variables": {"x": "\u0000"}, \#(address)}"#, 400),
        ] { #expect(try await site.call("POST", "/seeds", key: key, body).status == status, "\(body)") }
        let good = #"{"name": "a", \#(address)}"#
        #expect(try await site.call("POST", "/seeds", key: key, good).status == 201)
        let again = try await site.call("POST", "/seeds", key: key, good)
        #expect(again.status == 409 && again["code"] == "conflict")
        for query in ["?limit=0", "?limit=101", "?after=", "?after=%00", "?more=1"] {
            #expect(try await site.call("GET", "/seeds\(query)", key: key).status == 400, "\(query)")
        }
        for name in ["%00", "%0A", String(repeating: "n", count: 201)] {
            #expect(try await site.call("GET", "/seeds/\(name)", key: key).status == 404, "\(name)")
        }
        try await site.finish()
    }

    @Test func aLimitedKeyReachesTheSeedsOfItsApplications() async throws {
        let site = try await APISite.start()
        let all = try await site.key()
        let one = try await site.key(applications: ["shop-ios"])
        let other = #"{"name": "a", "application": "shop-android", "pushToken": "\#(Self.token)"}"#
        #expect(try await site.call("POST", "/seeds", key: one, other).status == 404)
        #expect(try await site.call("POST", "/seeds", key: all, other).status == 201)
        let device = try await site.call(
            "POST",
            "/devices",
            key: all,
            #"{"application": "shop-android", "pushToken": "android-token-0123456789", "userKey": "ada"}"#
        )["id"]
        // A device id does not reach it either.
        #expect(
            try await site.call("POST", "/seeds", key: one, #"{"name": "b", "deviceId": \#(device ?? "")}"#).status
                == 404
        )
        let own =
            #"{"name": "c", "application": "shop-ios", "pushToken": "\#(String(repeating: "cd", count: 32))"}"#
        #expect(try await site.call("POST", "/seeds", key: one, own).status == 201)
        #expect(try await site.call("GET", "/seeds", key: one).count("seeds") == 1)
        #expect(try await site.call("GET", "/seeds/a", key: one).status == 404)
        #expect(try await site.call("DELETE", "/seeds/a", key: one).status == 404)
        #expect(try await site.call("GET", "/seeds", key: all).count("seeds") == 2)
        #expect(try await site.call("DELETE", "/seeds/c", key: one).status == 204)
        let reader = try await site.key(.readDeliveries)
        #expect(try await site.call("POST", "/seeds", key: reader, own)["code"] == "missing_scope")
        try await site.finish()
    }
}
