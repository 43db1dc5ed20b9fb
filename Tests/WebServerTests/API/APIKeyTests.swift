import HTTPTypes
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// The scopes of API keys.
@Suite struct APIKeyTests {
    @Test func aKeyHasOneFormAnd256RandomBits() throws {
        var random = SystemRandomNumberGenerator()
        var seen: Set<String> = []
        for _ in 0..<200 {
            let key = APIKey(using: &random)
            #expect(seen.insert(key.secretText).inserted && seen.insert(key.publicID).inserted)
            let read = try #require(APIKey(key.secretText))
            #expect(read.publicID == key.publicID && read.hash == key.hash && read.hash.count == 32)
            #expect(key.secretText.utf8.count == 8 + 16 + 1 + 64)
            for wrong in [
                key.secretText + "0", String(key.secretText.dropLast()), key.secretText.uppercased(),
                " " + key.secretText.dropFirst(), key.secretText.replacing("_", with: "-"), "",
            ] { #expect(APIKey(wrong) == nil) }
        }
    }

    @Test func hashesAreComparedWhole() {
        let hash = [UInt8](repeating: 7, count: 32)
        #expect(APIKey.isSame(hash, hash))
        for place in 0..<32 {
            var other = hash
            other[place] ^= 0x80
            #expect(!APIKey.isSame(hash, other))
        }
        #expect(!APIKey.isSame(hash, Array(hash.dropLast())))
    }

    @Test func withoutAValidKeyNothingIsDone() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        for route in site.web.api.routes where route.scope != nil {
            let path = route.path.replacing("{id}", with: "1").replacing("{name}", with: "x")
            let answer = try await site.call(route.method.rawValue, path)
            #expect(answer.status == 401 && answer["code"] == "unauthenticated", "\(route.operation)")
            #expect(answer.headers["www-authenticate"] == #"Bearer realm="pushmta""#)
        }
        let otherSecret = String(key.dropLast()) + (key.hasSuffix("0") ? "1" : "0")
        var wrongs = ["x", "pushmta_", otherSecret]
        var random = SystemRandomNumberGenerator()
        wrongs.append(APIKey(using: &random).secretText)
        for wrong in wrongs {
            let answer = try await site.call("GET", "/applications", key: wrong)
            #expect(answer.status == 401)
            #expect(answer.headers["www-authenticate"]?.contains(#"error="invalid_token""#) == true)
            #expect(!answer.answer.body.contains(wrong) || wrong == "x", "a key is repeated")
        }
        // The key is known by now, so the process itself compares the secret.
        #expect(try await site.call("GET", "/applications", key: key).status == 200)
        #expect(try await site.call("GET", "/applications", key: wrongs[2]).status == 401)
        let basic = try await site.call("GET", "/applications", headers: ["Authorization: Basic \(key)"])
        #expect(basic.status == 401)
        #expect(try await site.call("GET", "/applications", headers: ["Authorization: bearer \(key)"]).status == 200)
        try await site.finish()
    }

    @Test func aKeyIsForItsScopesOnly() async throws {
        let site = try await APISite.start()
        for scope in APIScope.allCases {
            let key = try await site.key(scope)
            for route in site.web.api.routes {
                guard let first = route.scope else { continue }
                // If two scopes are missing, the first one is reported.
                let needed = [first, route.secondScope].compactMap { $0 }.first { $0 != scope } ?? first
                let path = route.path.replacing("{id}", with: "1").replacing("{name}", with: "x")
                let answer = try await site.call(route.method.rawValue, path, key: key)
                #expect(
                    (answer.status == 403) == (needed != scope),
                    "\(route.operation) with \(scope): \(answer.answer)"
                )
                if answer.status == 403 {
                    #expect(answer["code"] == "missing_scope")
                    #expect(
                        answer.headers["www-authenticate"]
                            == #"Bearer realm="pushmta", error="insufficient_scope", scope="\#(needed.rawValue)""#
                    )
                }
            }
        }
        try await site.finish()
    }

    @Test func aRevokedOrExpiredKeyIsRefused() async throws {
        let site = try await APISite.start()
        let key = try await site.key(name: "crm")
        #expect(try await site.call("GET", "/applications", key: key).status == 200)
        #expect(
            try await site.web.value(
                "SELECT last_used_at = date_trunc('hour', last_used_at) FROM pushmta_engine.api_key"
            )
                == "true"
        )
        try await site.web.admin.revokeAPIKey("crm")
        try await eventually("the key is refused") {
            try await site.call("GET", "/applications", key: key)["detail"] == "The key is not accepted: it is revoked."
        }
        // Its name can be used again, and a revoked key stays revoked.
        let second = try await site.key(days: 1, name: "crm")
        #expect(try await site.call("GET", "/applications", key: second).status == 200)
        #expect(try await site.call("GET", "/applications", key: key).status == 401)
        await #expect(throws: StoreError.self) { try await site.key(name: "crm") }
        try await site.web.run("UPDATE pushmta_engine.api_key SET expires_at = now() WHERE revoked_at IS NULL")
        try await eventually("the key has expired") {
            try await site.call("GET", "/applications", key: second).status == 401
        }
        #expect(try await site.web.admin.apiKeys().map(\.state).sorted() == ["expired", "revoked"])
        await #expect(throws: StoreError.self) { try await site.web.admin.revokeAPIKey("nobody") }
        try await site.finish()
    }

    @Test func aKeyOfAnApplicationSeesNothingOfOthers() async throws {
        let site = try await APISite.start()
        let all = try await site.key()
        let one = try await site.key(applications: ["shop-ios"])
        #expect(try await site.call("GET", "/applications", key: all).count("applications") == 2)
        #expect(try await site.call("GET", "/applications", key: one).count("applications") == 1)
        #expect(try await site.call("GET", "/applications/shop-ios", key: one)["integrationKey"] == "integrationKey")
        #expect(try await site.call("GET", "/applications/shop-android", key: one).status == 404)
        let device = #"{"application": "shop-android", "pushToken": "android-token", "userKey": "ada"}"#
        #expect(try await site.call("POST", "/devices", key: one, device).status == 404)
        let made = try await site.call("POST", "/devices", key: all, device)
        #expect(made.status == 201)
        let id = made["id"] ?? ""
        for (method, path) in [
            ("GET", "/devices/\(id)"), ("DELETE", "/devices/\(id)"), ("PUT", "/devices/\(id)/opt-out"),
            ("GET", "/devices?userKey=ada&application=shop-android"),
        ] { #expect(try await site.call(method, path, key: one).status == 404, "\(method) \(path)") }
        #expect(try await site.call("GET", "/devices?userKey=ada", key: one).count("devices") == 0)
        #expect(try await site.call("GET", "/devices?userKey=ada", key: all).count("devices") == 1)
        #expect(try await site.call("GET", "/devices?pushToken=android-token", key: one).count("devices") == 0)
        let both =
            #"{"label": "x", "applications": ["shop-ios", "shop-android"], "content": {"ios": {"title": "a"}, "android": {"title": "a"}}}"#
        #expect(try await site.call("POST", "/deliveries", key: one, both).status == 404)
        let delivery = try await site.call("POST", "/deliveries", key: all, both)["id"] ?? ""
        for (method, tail) in [
            ("GET", ""), ("POST", "/start"), ("POST", "/pause"), ("POST", "/resume"), ("POST", "/stop"),
            ("GET", "/outcomes"),
        ] { #expect(try await site.call(method, "/deliveries/\(delivery)\(tail)", key: one).status == 404, "\(tail)") }
        #expect(try await site.call("GET", "/deliveries", key: one).count("deliveries") == 0)
        #expect(try await site.call("GET", "/deliveries", key: all).count("deliveries") == 1)
        #expect(try await site.call("GET", "/deliveries/\(delivery)", key: all)["state"] == "editing")
        try await site.finish()
    }
}
