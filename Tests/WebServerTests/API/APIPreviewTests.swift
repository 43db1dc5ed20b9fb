import PushCore
import Store
import Testing

@testable import WebServer

/// Previews through the API: the message that a person would get, or why not.
@Suite struct APIPreviewTests {
    private static let content =
        #"{"ios": {"title": "Hello {{firstName}}"}, "android": {"title": "Hi"}, "locales": {"fr": {"ios": {"title": "Bonjour {{firstName}}"}}}}"#

    /// A site with Ada's iPhone, set to French, and her second iPhone as a seed address.
    private func ready() async throws -> (site: APISite, device: Int64) {
        let site = try await APISite.start()
        try await site.web.run(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, locale, parameters)
            SELECT a.id, repeat('ab', 32), 'ada', 'fr-CA', '{"firstName": "Ada"}'
            FROM pushmta_engine.application a WHERE a.name = 'shop-ios'
            """
        )
        try await site.web.admin.addSeed(
            NewSeed(
                name: "ada-phone",
                application: "shop-ios",
                address: .pushToken(String(repeating: "cd", count: 32)),
                variables: #"{"firstName": "Seed"}"#
            )
        )
        let device = try await site.web.value("SELECT id FROM pushmta_engine.subscription WHERE user_key = 'ada'")
        return (site, Int64(device ?? "") ?? 0)
    }

    private func delivery(_ site: APISite, _ content: String, _ applications: [String]) async throws -> Int64 {
        try await site.web.admin.createDelivery(
            NewDelivery(label: "x", applications: applications, content: content)
        )
    }

    @Test func aDeliveryForADeviceASeedAddressAndNobody() async throws {
        let (site, device) = try await ready()
        let key = try await site.key(.readDeliveries, .readDevices)
        let id = try await delivery(site, Self.content, ["shop-ios", "shop-android"])
        func preview(_ body: String) async throws -> APIExchange {
            try await site.call("POST", "/deliveries/\(id)/preview", key: key, body)
        }
        let ada = try await preview(#"{"deviceId": \#(device)}"#)
        #expect(ada.status == 200 && ada["sendable"] == "true" && ada["deviceId"] == "\(device)", "\(ada.answer)")
        #expect(ada["payload.aps.alert.title"] == "Bonjour Ada" && ada["locale"] == "fr" && ada["format"] == "apns")
        #expect(ada["application"] == "shop-ios" && ada["limit"] == "4096")
        // No push token: an unknown token has no values here.
        #expect(!ada.answer.body.contains("abab"))
        let english = try await preview(#"{"deviceId": \#(device), "locale": "en", "variables": {"firstName": "Eve"}}"#)
        #expect(english["payload.aps.alert.title"] == "Hello Eve" && english["locale"] == "null", "\(english.answer)")
        // Its subscription is disabled, but it still gets proofs.
        let seed = try await preview(#"{"seed": "ada-phone"}"#)
        #expect(seed["payload.aps.alert.title"] == "Hello Seed" && seed["sendable"] == "true", "\(seed.answer)")
        let nobody = try await preview(#"{"application": "shop-ios", "variables": {"firstName": 7}}"#)
        #expect(nobody["payload.aps.alert.title"] == "Hello 7" && nobody["deviceId"] == "null")
        #expect(try await preview(#"{"application": "shop-android"}"#)["format"] == "fcm-v1")
        #expect(try await preview("{}")["errors.0.path"] == "/application")
        try await site.web.run("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id = \(device)")
        let out = try await preview(#"{"deviceId": \#(device)}"#)
        #expect(out["sendable"] == "false" && out["problems.0.subject"] == "device", "\(out.answer)")
        try await site.finish()
    }

    @Test func aContentAndWhatIsWrongWithIt() async throws {
        let (site, device) = try await ready()
        let key = try await site.key(.writeDeliveries, .readDevices)
        func preview(_ content: String, _ more: String) async throws -> APIExchange {
            try await site.call("POST", "/content/preview", key: key, #"{"content": \#(content), \#(more)}"#)
        }
        let ada = try await preview(Self.content, #""application": "shop-ios", "deviceId": \#(device)"#)
        #expect(ada.status == 200 && ada["payload.aps.alert.title"] == "Bonjour Ada", "\(ada.answer)")
        let typo = try await preview(#"{"ios": {"titel": "a"}}"#, #""application": "shop-ios""#)
        #expect(typo.status == 200 && typo["payload"] == "null" && typo["sendable"] == "false", "\(typo.answer)")
        #expect(typo["problems.0.path"] == "/ios/titel" && typo["size"] == "null")
        let name = String(repeating: "x", count: 5_000)
        let long = try await preview(
            Self.content,
            #""application": "shop-ios", "variables": {"firstName": "\#(name)"}"#
        )
        #expect(long["sendable"] == "false" && long["problems.0.problem"]?.contains("4096") == true, "\(long.answer)")
        try await site.finish()
    }

    @Test func aViewThatFailsIsAProblemInWords() async throws {
        let (site, device) = try await ready()
        let key = try await site.key(.readDeliveries, .readDevices)
        try await site.web.run(
            "CREATE TABLE person (key text PRIMARY KEY, city text); INSERT INTO person VALUES ('ada', 'Lyon')"
        )
        try await site.web.admin.createMapping(name: "m", label: "", view: "person", keyColumn: "key")
        try await site.web.admin.setService(name: "shop", mapping: "m")
        let id = try await delivery(site, #"{"ios": {"title": "In {{mapping.city}}"}}"#, ["shop-ios"])
        func preview() async throws -> APIExchange {
            try await site.call("POST", "/deliveries/\(id)/preview", key: key, #"{"deviceId": \#(device)}"#)
        }
        let right = try await preview()
        #expect(right["payload.aps.alert.title"] == "In Lyon" && right["sendable"] == "true", "\(right.answer)")
        try await site.web.run("ALTER TABLE person RENAME COLUMN city TO town")
        let wrong = try await preview()
        #expect(wrong.status == 200 && wrong["sendable"] == "false", "\(wrong.answer)")
        #expect(wrong["problems.0.subject"] == "mapping" && wrong["problems.0.problem"]?.contains("city") == true)
        try await site.finish()
    }

    @Test func onlyForThoseWhoMayReadDevicesToo() async throws {
        let (site, device) = try await ready()
        let id = try await delivery(site, Self.content, ["shop-ios"])
        let path = "/deliveries/\(id)/preview"
        let body = #"{"deviceId": \#(device)}"#
        let contentBody = #"{"content": {"ios": {"title": "a"}}, "application": "shop-ios"}"#
        for scope in [APIScope.readDeliveries, .writeDeliveries, .readDevices] {
            let key = try await site.key(scope)
            #expect(try await site.call("POST", path, key: key, body).status == 403, "\(scope)")
            #expect(try await site.call("POST", "/content/preview", key: key, contentBody).status == 403, "\(scope)")
        }
        let key = try await site.key()
        let other = try await site.key(applications: ["shop-android"])
        #expect(try await site.call("POST", path, key: other, body).status == 404)
        #expect(try await site.call("POST", "/content/preview", key: other, contentBody).status == 404)
        for unknown in [
            #"{"deviceId": 9223372036854775807}"#, #"{"seed": "nobody"}"#, #"{"application": "shop-android"}"#,
        ] {
            #expect(try await site.call("POST", path, key: key, unknown).status == 404, "\(unknown)")
        }
        for wrong in [
            #"{"deviceId": 1, "seed": "a"}"#, #"{"deviceId": 0}"#, #"{"seed": ""}"#, #"{"locale": "é"}"#,
            #"{"variables": []}"#, #"{"more": 1}"#, #"{"application": 7}"#,
        ] {
            #expect(try await site.call("POST", path, key: key, wrong).status == 400, "\(wrong)")
        }
        let nul = try await site.call(
            "POST",
            path,
            key: key,
            #"{"deviceId": \#(device), "variables": {"firstName": "a\u0000"}}"#
        )
        #expect(nul.status == 400, "\(nul.answer)")
        try await site.finish()
    }
}
