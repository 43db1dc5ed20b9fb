import PushCore
import Store
import Testing

@testable import WebServer

/// Devices registered through the API, in addition to those that register themselves.
@Suite struct APIDeviceTests {
    private static let token = String(repeating: "AB", count: 32)

    @Test func aDeviceIsRegisteredUpdatedAndRead() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let made = try await site.call(
            "POST",
            "/devices",
            key: key,
            #"{"application": "shop-ios", "pushToken": "\#(Self.token)", "userKey": "ada", "deviceId": "d1", "locale": "fr-CA", "timeZone": "America/Montreal", "device": {"deviceName": "phone"}, "parameters": {"city": "Lyon \"2\" é"}}"#
        )
        #expect(made.status == 201, "\(made.answer)")
        let id = made["id"] ?? ""
        #expect(made.headers["location"] == "/api/v1/devices/\(id)")
        #expect(made["pushToken"] == Self.token.lowercased() && made["application"] == "shop-ios")
        #expect(made["userKey"] == "ada" && made["deviceId"] == "d1" && made["locale"] == "fr-CA")
        #expect(made["timeZone"] == "America/Montreal" && made["device.deviceName"] == "phone")
        #expect(made["parameters.city"] == "Lyon \"2\" é" && made["platform"] == "ios")
        #expect(made["enabled"] == "true" && made["optedOut"] == "false" && made["quarantineStatus"] == "valid")
        // Registering the same token again updates the same device.
        let again = try await site.call(
            "POST",
            "/devices",
            key: key,
            #"{"application": "shop-ios", "pushToken": "\#(Self.token)", "userKey": "ada", "parameters": {"city": "Porto"}}"#
        )
        #expect(
            again.status == 200 && again["id"] == id && again["parameters.city"] == "Porto"
                && again["locale"] == "fr-CA"
        )
        #expect(try await site.call("GET", "/devices/\(id)", key: key)["parameters.city"] == "Porto")
        // Another user with this token is a separate device.
        let other = try await site.call(
            "POST",
            "/devices",
            key: key,
            #"{"application": "shop-ios", "pushToken": "\#(Self.token)", "userKey": "ben"}"#
        )
        #expect(other.status == 201 && other["id"] != id)
        let old = try await site.call("GET", "/devices/\(id)", key: key)
        #expect(old["enabled"] == "false" && old["disabledReason"] == "token_moved")
        let found = try await site.call("GET", "/devices?pushToken=\(Self.token)", key: key)
        #expect(found.count("devices") == 2 && found["devices.0.userKey"] == "ben")
        #expect(try await site.call("GET", "/devices?userKey=ada&application=shop-ios", key: key)["devices.0.id"] == id)
        #expect(try await site.call("GET", "/devices?userKey=nobody", key: key).count("devices") == 0)
        #expect(try await site.call("GET", "/devices/999", key: key).status == 404)
        try await site.finish()
    }

    @Test func whatIsLeftOutStays() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        func post(_ more: String, token: String = Self.token) async throws -> APIExchange {
            let body = #"{"application": "shop-ios", "pushToken": "\#(token)"\#(more)}"#
            return try await site.call("POST", "/devices", key: key, body)
        }
        let id = try await post(#", "userKey": " ada\u00a0", "deviceId": "d1", "locale": "iw_IL""#)["id"]
        let again = try await post(#", "timeZone": "Europe/Paris""#)
        #expect(again.status == 200 && again["id"] == id && again["userKey"] == "ada")
        #expect(again["deviceId"] == "d1" && again["locale"] == "he-IL")
        // A removed device that registers again has its previous user.
        _ = try await site.call("DELETE", "/devices/\(id ?? "")", key: key)
        #expect(try await post("")["id"] == id)
        // The device's next token belongs to the same user, and the old one is disabled.
        let next = String(repeating: "cd", count: 32)
        let renewed = try await post(#", "deviceId": "d1""#, token: next)
        #expect(renewed.status == 201 && renewed["userKey"] == "ada")
        let old = try await site.call("GET", "/devices/\(id ?? "")", key: key)
        #expect(old["enabled"] == "false" && old["disabledReason"] == "token_renewed")
        let shortened = try await post(#", "userKey": "1.23457E+11""#)
        #expect(shortened.status == 400 && "\(shortened.answer)".contains("rewritten"), "\(shortened.answer)")
        // An empty value clears the stored one.
        let nobodys = try await post(#", "userKey": """#, token: next)
        #expect(nobodys.status == 201 && nobodys["userKey"] == "null")
        try await site.finish()
    }

    @Test func declaredParametersGoWhereTheApplicationSays() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        try await site.web.run(
            #"""
            UPDATE pushmta_engine.application SET subscription_parameters =
                '[{"name": "mail", "column": "recipient.email"}, {"name": "tz", "column": "time_zone"}]'
            """#
        )
        let made = try await site.call(
            "POST",
            "/devices",
            key: key,
            #"{"application": "shop-android", "pushToken": "token-of-android", "timeZone": "Europe/Rome", "parameters": {"mail": "a@b.c", "tz": "Europe/Paris", "x": "1"}}"#
        )
        #expect(made.status == 201, "\(made.answer)")
        #expect(made["recipient.email"] == "a@b.c" && made["timeZone"] == "Europe/Paris")
        try await site.finish()
    }

    @Test func anOptOutStaysUntilTheOptIn() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        #expect(
            try await site.web.registerAndroid(
                "registrationToken=token-one&mobileAppUuid=testIntegrationKey&userKey=ada&deviceImei=d1"
            ).status == 200
        )
        let id = try await site.call("GET", "/devices?userKey=ada", key: key)["devices.0.id"] ?? ""
        let out = try await site.call("PUT", "/devices/\(id)/opt-out", key: key)
        #expect(out["optedOut"] == "true" && out["enabled"] == "false" && out["disabledReason"] == "opted_out")
        // The SDK registers at each start of the app: first the same token, then a new one for the same device and
        // user.
        _ = try await site.web.registerAndroid(
            "registrationToken=token-one&mobileAppUuid=testIntegrationKey&userKey=ada&deviceImei=d1"
        )
        #expect(try await site.call("GET", "/devices/\(id)", key: key)["optedOut"] == "true")
        _ = try await site.web.registerAndroid(
            "registrationToken=token-two&mobileAppUuid=testIntegrationKey&userKey=ada&deviceImei=d1"
        )
        let renewed = try await site.call("GET", "/devices?pushToken=token-two", key: key)
        #expect(renewed["devices.0.optedOut"] == "true" && renewed["devices.0.id"] != id)
        // Another user on that device has not opted out.
        _ = try await site.web.registerAndroid(
            "registrationToken=token-two&mobileAppUuid=testIntegrationKey&userKey=ben&deviceImei=d1"
        )
        #expect(try await site.call("GET", "/devices?userKey=ben", key: key)["devices.0.optedOut"] == "false")
        let back = try await site.call("DELETE", "/devices/\(renewed["devices.0.id"] ?? "")/opt-out", key: key)
        #expect(back["optedOut"] == "false")
        #expect(try await site.call("PUT", "/devices/999/opt-out", key: key).status == 404)
        try await site.finish()
    }

    @Test func aUserIsOptedOutOfAllDevices() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let one = try await site.key(applications: ["shop-ios"])
        for (token, user) in [("token-one", "ada"), ("token-two", "ada"), ("token-three", "ben")] {
            let form = "registrationToken=\(token)&mobileAppUuid=testIntegrationKey&userKey=\(user)"
            #expect(try await site.web.registerAndroid(form).status == 200)
        }
        func put(_ body: String, _ key: String) async throws -> APIExchange {
            try await site.call("PUT", "/opt-outs", key: key, body)
        }
        // A key for other applications reaches none of these devices.
        #expect(try await put(#"{"userKey": "ada", "optedOut": true}"#, one)["changed"] == "0")
        let there = #"{"userKey": "ada", "optedOut": true, "application": "shop-android"}"#
        #expect(try await put(there, one).status == 404)
        #expect(try await put(there, key)["changed"] == "2")
        #expect(try await put(there, key)["changed"] == "0")
        let found = try await site.call("GET", "/devices?userKey=ada", key: key)
        #expect(found["devices.0.optedOut"] == "true" && found["devices.1.optedOut"] == "true")
        #expect(try await site.call("GET", "/devices?userKey=ben", key: key)["devices.0.optedOut"] == "false")
        #expect(try await put(#"{"userKey": "ada", "optedOut": false}"#, key)["changed"] == "2")
        for wrong in [#"{"userKey": "ada"}"#, #"{"optedOut": true}"#, #"{"userKey": " ", "optedOut": true}"#] {
            #expect(try await put(wrong, key).status == 400, "\(wrong)")
        }
        try await site.finish()
    }

    @Test func anUnregisteredDeviceComesBackByRegistering() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let body = #"{"application": "shop-ios", "pushToken": "\#(Self.token)"}"#
        let id = try await site.call("POST", "/devices", key: key, body)["id"] ?? ""
        for _ in 0..<2 {
            let gone = try await site.call("DELETE", "/devices/\(id)", key: key)
            #expect(gone.status == 204 && gone.answer.body == "")
        }
        let read = try await site.call("GET", "/devices/\(id)", key: key)
        #expect(read["enabled"] == "false" && read["disabledReason"] == "unregistered" && read["disabledAt"] != "null")
        #expect(
            try await site.web.registerIOS("registrationToken=\(Self.token)&mobileAppUuid=integrationKey").status == 200
        )
        #expect(try await site.call("GET", "/devices/\(id)", key: key)["enabled"] == "true")
        #expect(try await site.call("DELETE", "/devices/999", key: key).status == 404)
        try await site.finish()
    }

    @Test(arguments: [
        (#"{}"#, "/application", "it is missing"),
        (#"{"application": "shop-ios"}"#, "/pushToken", "it is missing"),
        (#"[]"#, "", "an object is expected, not a list"),
        (#"{"application": 7, "pushToken": "ab"}"#, "/application", "a string is expected, not a number"),
        (#"{"application": "shop-ios", "pushToken": null}"#, "/pushToken", "a string is expected, not null"),
        (#"{"application": "shop-ios", "pushToken": "xyz"}"#, "/pushToken", "it is not an APNs token"),
        (#"{"application": "shop-ios", "pushToken": "ab", "color": 1}"#, "/color", "there is no such member"),
        (#"{"application": "shop-ios", "pushToken": "ab", "a/b~c": 1}"#, "/a~1b~0c", "there is no such member"),
        (
            #"{"application": "shop-ios", "pushToken": "ab", "parameters": {"a": [1]}}"#, "/parameters/a",
            "a string is expected, not a list"
        ),
        (
            #"{"application": "shop-ios", "pushToken": "ab", "parameters": []}"#, "/parameters",
            "an object is expected, not a list"
        ),
        (
            #"{"application": "shop-ios", "pushToken": "ab", "userKey": "a\u0000b"}"#, "/userKey",
            "it contains the character U+0000"
        ),
        (
            #"{"application": "shop-ios", "pushToken": "ab", "userKey": "a\nb"}"#, "/userKey",
            "it contains line breaks or control characters"
        ),
        (#"{"application": "shop-ios", "pushToken": "ab", "locale": "!!"}"#, "/locale", "it is not a locale"),
        (#"{"application": "shop-ios", "pushToken": "ab", "timeZone": "Europe Paris"}"#, "/timeZone", "it is not"),
        (#"{"application": "shop-ios", "pushToken": "ab", "pushToken": "cd"}"#, "/pushToken", "it occurs twice"),
    ])
    func whatIsWrongIsToldWithItsPath(body: String, path: String, problem: String) async throws {
        let site = try await APISite.start()
        let answer = try await site.call("POST", "/devices", key: try await site.key(), body)
        #expect(answer.status == 400 && answer["code"] == "invalid_value", "\(answer.answer)")
        #expect(answer["errors.0.path"] == path)
        #expect(answer["errors.0.problem"]?.hasPrefix(problem) == true, "\(answer["errors.0.problem"] ?? "")")
        #expect(try await site.web.value("SELECT count(*) FROM pushmta_engine.subscription") == "0")
        try await site.finish()
    }

    @Test func severalFaultsAreToldAtOnce() async throws {
        let site = try await APISite.start()
        let body = #"{"pushToken": 1, "locale": true, "nothing": {}}"#
        let answer = try await site.call("POST", "/devices", key: try await site.key(), body)
        #expect(answer.status == 400 && answer.count("errors") == 4, "\(answer.answer)")
        let query = try await site.call("GET", "/devices?userKey=a&pushToken=b&x=1", key: try await site.key())
        #expect(query.status == 400 && query.count("errors") == 2, "\(query.answer)")
        #expect(query["errors.0.path"] == "query:userKey" && query["errors.1.path"] == "query:x")
        try await site.finish()
    }
}
