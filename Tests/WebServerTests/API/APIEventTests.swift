import PushCore
import Store
import Testing

@testable import WebServer

/// Events through the API.
@Suite struct APIEventTests {
    private func register(_ site: APISite, _ key: String, _ user: String) async throws {
        let device = """
            {"application": "shop-ios", "pushToken": "\(String(repeating: "ab", count: 31))\(user)", "userKey": "user-\(user)"}
            """
        let answer = try await site.call("POST", "/devices", key: key, device)
        #expect((200..<300).contains(answer.status), "\(answer.answer)")
    }

    @Test func aPageIsGivenUntilItIsProcessed() async throws {
        let site = try await APISite.start()
        try await site.web.admin.createConsumer(NewConsumer(name: "crm"))
        let key = try await site.key(.readEvents, .writeDevices)
        let none = try await site.call("GET", "/events?consumer=crm", key: key)
        #expect(none.status == 200 && none["page"] == "null" && none.count("events") == 0, "\(none.answer)")
        for user in ["01", "02", "03"] { try await register(site, key, user) }
        let first = try await site.call("GET", "/events?consumer=crm&limit=2", key: key)
        #expect(first.count("events") == 2 && first["events.0.kind"] == "device.registered", "\(first.answer)")
        #expect(first["events.0.userKey"] == "user-01" && first["events.1.userKey"] == "user-02")
        let again = try await site.call("GET", "/events?consumer=crm&limit=2", key: key)
        #expect(again.answer.body == first.answer.body)
        let page = try #require(first["page"])
        let second = try await site.call("GET", "/events?consumer=crm&limit=2&processed=\(page)", key: key)
        #expect(second.count("events") == 1 && second["events.0.userKey"] == "user-03", "\(second.answer)")
        let last = try #require(second["page"])
        let end = try await site.call("GET", "/events?consumer=crm&processed=\(last)", key: key)
        #expect(end["page"] == "null")
        // What was processed long ago changes nothing.
        let old = try await site.call("GET", "/events?consumer=crm&processed=\(page)", key: key)
        #expect(old["page"] == "null" && old.status == 200)
        try await site.finish()
    }

    @Test func consumersAreCreatedAndRemoved() async throws {
        let site = try await APISite.start()
        let key = try await site.key(.readEvents, .writeEvents)
        let made = try await site.call(
            "POST",
            "/consumers",
            key: key,
            #"{"name": "crm", "kinds": ["message.failed", "device"], "maxAgeSeconds": 3600}"#
        )
        #expect(made.status == 201 && made["name"] == "crm" && made["maxAgeSeconds"] == "3600", "\(made.answer)")
        #expect(made["service"] == "null" && made["maxBytes"] == "10737418240" && (made.count("kinds") ?? 0) > 3)
        #expect(try await site.call("POST", "/consumers", key: key, #"{"name": "crm"}"#).status == 409)
        for (body, status) in [
            ("{}", 400), (#"{"name": "a", "kinds": ["none"]}"#, 400), (#"{"name": "a", "maxAgeSeconds": 1}"#, 400),
            (#"{"name": "a", "service": "none"}"#, 404),
        ] {
            let refused = try await site.call("POST", "/consumers", key: key, body)
            #expect(refused.status == status, "\(body): \(refused.answer)")
        }
        #expect(try await site.call("GET", "/consumers", key: key)["consumers.0.name"] == "crm")
        #expect(try await site.call("GET", "/events?consumer=crm", key: key).status == 200)
        let marketing = try await site.key(.readEvents, .writeDeliveries)
        #expect(try await site.call("POST", "/consumers", key: marketing, #"{"name": "b"}"#).status == 403)
        let limited = try await site.key([.readEvents, .writeEvents], applications: ["shop-ios"])
        #expect(try await site.call("GET", "/consumers", key: limited).status == 403)
        #expect(try await site.call("DELETE", "/consumers/crm", key: limited).status == 403)
        #expect(try await site.call("DELETE", "/consumers/crm", key: key).status == 204)
        #expect(try await site.call("DELETE", "/consumers/crm", key: key).status == 404)
        try await site.finish()
    }

    @Test func aConsumerOfOneReaderIsReadByNobodyElse() async throws {
        let site = try await APISite.start()
        let key = try await site.key(.readEvents, .writeEvents, name: "crm")
        let other = try await site.key(.readEvents, name: "other")
        let made = try await site.call("POST", "/consumers", key: key, #"{"name": "crm", "reader": "key:crm"}"#)
        #expect(made.status == 201 && made["reader"] == "key:crm", "\(made.answer)")
        let refused = try await site.call("GET", "/events?consumer=crm", key: other)
        #expect(refused.status == 403, "\(refused.answer)")
        #expect(try await site.call("GET", "/events?consumer=crm", key: key).status == 200)
        // The login of a session is another reader.
        await #expect(throws: StoreError.self) { try await site.web.admin.nextEvents(of: "crm", limit: 1) }
        let role = #"{"name": "own", "reader": "pushmta_events"}"#
        #expect(try await site.call("POST", "/consumers", key: key, role).status == 201)
        #expect(try await site.call("GET", "/events?consumer=own", key: key).status == 403)
        let none = #"{"name": "none", "reader": "key:none"}"#
        #expect(try await site.call("POST", "/consumers", key: key, none).status == 404)
        try await site.finish()
    }

    @Test func aWebhookHasASecretThatIsShownOnce() async throws {
        let site = try await APISite.start()
        let key = try await site.key(.writeEvents, name: "operator")
        #expect(try await site.call("POST", "/consumers", key: key, #"{"name": "hooks"}"#).status == 201)
        let path = "/consumers/hooks/webhook"
        let url = #"{"url": "https://hooks.example:8443/very-secret?a=b", "maxEvents": 10}"#
        let made = try await site.call("POST", path, key: key, url)
        let first = try #require(made["secret"])
        #expect(made.status == 201 && first.hasPrefix("whsec_"), "\(made.answer)")
        #expect(try await site.call("POST", path, key: key, url).status == 409)
        for wrong in [#"{"url": "http://a.example"}"#, #"{"url": "https://a@b.example"}"#, "{}"] {
            #expect(try await site.call("POST", path, key: key, wrong).status == 400, "\(wrong)")
        }
        let list = try await site.call("GET", "/webhooks", key: key)
        #expect(list["webhooks.0.host"] == "hooks.example:8443" && list["webhooks.0.active"] == "true")
        #expect(!list.answer.body.contains("very-secret") && !list.answer.body.contains(first))
        let moved = try await site.call("PATCH", path, key: key, #"{"url": "https://new.example/secret"}"#)
        #expect(moved.status == 200 && moved["host"] == "new.example", "\(moved.answer)")
        #expect(!moved.answer.body.contains("/secret"))
        #expect(try await site.call("PATCH", path, key: key, #"{"url": "http://a.example"}"#).status == 400)
        let unknown = try await site.call(
            "PATCH",
            "/consumers/none/webhook",
            key: key,
            #"{"url": "https://a.example"}"#
        )
        #expect(unknown.status == 404, "\(unknown.answer)")
        let paused = try await site.call("POST", "\(path)/pause", key: key)
        #expect(paused.status == 200 && paused["active"] == "false", "\(paused.answer)")
        #expect(try await site.call("POST", "\(path)/resume", key: key)["active"] == "true")
        let rotated = try await site.call("POST", "\(path)/secret", key: key, #"{"overlapSeconds": 60}"#)
        let second = try #require(rotated["secret"])
        #expect(rotated.status == 200 && second != first)
        #expect(try await site.call("POST", "\(path)/secret", key: key, #"{"overlapSeconds": -1}"#).status == 400)
        // The worker opens both with the key of this host.
        let consumer = try #require(try await site.web.admin.activeWebhooks().first)
        let secrets = try await site.web.admin.webhookSecrets(consumer: consumer)
        let keyring = try CredentialKeyring(text: WebSite.sealKey)
        let opened = try secrets.map { secret in
            WebhookSecret(
                bytes: try keyring.open(secret.sealed, keyID: secret.sealKeyID, credentialID: secret.id)
            ).text
        }
        #expect(Set(opened) == [first, second])
        #expect(try await site.call("DELETE", path, key: key).status == 204)
        #expect(try await site.call("POST", "\(path)/pause", key: key).status == 404)
        let logged = try await site.web.value(
            """
            SELECT string_agg(action, ' ' ORDER BY id) FROM pushmta_engine.audit_log WHERE origin LIKE '%API key operator%'
            """
        )
        #expect(
            logged
                == "consumer.add webhook.add webhook.change webhook.disable webhook.enable webhook.secret webhook.remove"
        )
        try await site.finish()
    }

    @Test func deadLettersAreListedAndPostedAgain() async throws {
        let site = try await APISite.start()
        let key = try await site.key(.writeEvents)
        #expect(try await site.call("POST", "/consumers", key: key, #"{"name": "hooks"}"#).status == 201)
        let made = try await site.call("POST", "/consumers/hooks/webhook", key: key, #"{"url": "https://a.example"}"#)
        #expect(made.status == 201)
        try await site.web.run(
            """
            INSERT INTO pushmta_engine.webhook_batch (consumer_id, slices, dead_at, http_status, trouble)
            SELECT consumer_id, ARRAY[ROW(current_date, 1, 1, 7)::pushmta_engine.event_slice], now(), 500, 'no'
            FROM pushmta_engine.webhook
            """
        )
        let list = try await site.call("GET", "/dead-letters", key: key)
        let id = try #require(list["deadLetters.0.id"])
        #expect(list["deadLetters.0.events"] == "7" && list["deadLetters.0.consumer"] == "hooks", "\(list.answer)")
        #expect(try await site.call("POST", "/dead-letters/\(id)/resend", key: key).status == 204)
        #expect(try await site.call("GET", "/dead-letters?limit=5", key: key).count("deadLetters") == 0)
        #expect(try await site.call("POST", "/dead-letters/\(id)/resend", key: key).status == 404)
        #expect(try await site.call("POST", "/dead-letters/1/resend", key: key).status == 400)
        let reader = try await site.key(.readEvents)
        #expect(try await site.call("GET", "/dead-letters", key: reader).status == 403)
        try await site.finish()
    }

    @Test func whatIsRefused() async throws {
        let site = try await APISite.start()
        try await site.web.admin.createConsumer(NewConsumer(name: "crm"))
        let key = try await site.key(.readEvents)
        #expect(try await site.call("GET", "/events", key: key).status == 400)
        #expect(try await site.call("GET", "/events?consumer=crm&limit=0", key: key).status == 400)
        #expect(try await site.call("GET", "/events?consumer=crm&processed=1", key: key).status == 400)
        #expect(try await site.call("GET", "/events?consumer=nobody", key: key).status == 404)
        let limited = try await site.key(.readEvents, applications: ["shop-ios"])
        #expect(try await site.call("GET", "/events?consumer=crm", key: limited).status == 404)
        try await site.finish()
    }
}
