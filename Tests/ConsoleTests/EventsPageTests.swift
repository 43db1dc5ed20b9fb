import Administration
import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// The page of events, for operators.
@Suite struct EventsPageTests {
    @Test func consumersWebhooksAndWhatWasLost() async throws {
        let site = try await ConsoleSite.start()
        let oda = try await site.session(.operate, name: "oda")
        #expect(try await oda.get("/events").text.contains("There are no consumers"))
        #expect(try await oda.get("/hosts").text.contains(#"href="/events""#))
        try await site.admin.createConsumer(NewConsumer(name: "<crm>", kinds: ["message.failed"]))
        try await site.admin.createConsumer(NewConsumer(name: "hooks"))
        try await site.admin.createWebhook(
            consumer: "hooks",
            url: "https://hooks.example/secret",
            maxEvents: 10,
            secret: SealedWebhookSecret(
                id: try await site.admin.nextCredentialID(),
                sealKeyID: "key",
                sealed: [1]
            )
        )
        try await site.sql(
            """
            INSERT INTO pushmta_engine.webhook_batch (consumer_id, slices, dead_at, http_status, trouble)
            SELECT consumer_id, ARRAY[ROW(current_date, 1, 1, 7)::pushmta_engine.event_slice], now(), 500, 'the receiver answered 500'
            FROM pushmta_engine.webhook;
            INSERT INTO pushmta_engine.event_gap (consumer_id, why, from_id, through_id, from_at, through_at, lost)
            SELECT id, 'size', 1, 2, now(), now(), 1234 FROM pushmta_engine.event_consumer WHERE name = '<crm>'
            """
        )
        let page = try await oda.get("/events")
        #expect(page.status == .ok)
        for words in ["&lt;crm&gt;", "message.failed", "hooks", "the receiver answered 500", "1,234", "too far behind"]
        {
            #expect(page.text.contains(words), "\(words)")
        }
        #expect(page.text.contains("hooks.example"))
        #expect(!page.text.contains("hooks.example/"), "a path may hold a secret")
        // Operators pause and post again, and only administrators decide who gets what.
        #expect(page.text.contains("/events/pause") && page.text.contains("/events/resend"))
        #expect(!page.text.contains("/events/new") && !page.text.contains("/events/secret"))
        #expect(try await site.session(.read, name: "rea").get("/events").status == .forbidden)
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("a webhook") && audit.contains("a consumer of events"))
        await site.close()
    }

    @Test func anAdministratorCreatesAConsumerWithAWebhook() async throws {
        let site = try await ConsoleSite.start()
        let ada = try await site.session(.admin, name: "ada")
        #expect(try await ada.get("/events").text.contains("/events/new"))
        #expect(try await ada.get("/events/new").text.contains("message.failed"))
        let form = ["name": "hooks", "service": "shop", "age_hours": "24", "kind.message.failed": "yes"]
        let added = try await ada.post("/events/new", form: form)
        #expect(added.headers[.location] == "/events?done=new", "\(added.text)")
        #expect(try await ada.post("/events/new", form: form).status == .unprocessableContent)
        for (name, value) in [("name", ""), ("age_hours", "721"), ("age_hours", "many"), ("reader", "no_such_role")] {
            var wrong = form
            wrong["name"] = "other"
            wrong[name] = value
            #expect(try await ada.post("/events/new", form: wrong).status == .unprocessableContent, "\(name) \(value)")
        }
        let consumer = try #require(try await site.admin.consumers().first)
        #expect(consumer.kinds == ["message.failed"] && consumer.service == "shop" && consumer.maxAgeSeconds == 86_400)

        // Without the key there is nothing to type into.
        let new = "/events/webhook?name=hooks"
        #expect(try await ada.get(new).text.contains("This console has no key to seal a secret."))
        try CredentialKeyFile.create(at: site.keyFile)
        let typed = ["url": "https://hooks.example/in", "max_events": "50"]
        let bad = try await ada.post(new, form: typed.merging(["url": "http://hooks.example"]) { _, new in new })
        #expect(bad.status == .unprocessableContent, "\(bad.text)")
        let made = try await ada.post(new, form: typed)
        #expect(made.status == .ok && made.text.contains("whsec_"), "\(made.text)")
        #expect(try await ada.post(new, form: typed).status == .unprocessableContent)
        let page = try await ada.get("/events").text
        #expect(page.contains("hooks.example") && !page.contains("whsec_") && page.contains("/events/secret"))

        let address = "/events/address?name=hooks"
        #expect(try await ada.get(address).text.contains("New address of hooks"))
        let moved = try await ada.post(address, form: ["url": "https://new.example/in", "max_events": ""])
        #expect(moved.headers[.location] == "/events?done=address", "\(moved.text)")
        let webhook = try #require(try await site.admin.webhooks().first)
        #expect(webhook.url == "https://new.example/in")
        #expect(
            try await ada.post(address, form: ["url": "http://x", "max_events": ""]).status == .unprocessableContent
        )
        let much = ["url": "https://new.example/in", "max_events": "1001"]
        #expect(try await ada.post(address, form: much).status == .unprocessableContent)

        let rotated = try await ada.post("/events/secret?name=hooks", form: ["overlap_hours": "1"])
        #expect(rotated.text.contains("whsec_") && rotated.text != made.text)
        let id = try #require(try await site.admin.activeWebhooks().first)
        #expect(try await site.admin.webhookSecrets(consumer: id).count == 2)
        let oda = try await site.session(.operate, name: "oda")
        #expect(try await oda.post("/events/pause?name=hooks").headers[.location] == "/events?done=pause")
        #expect(try await oda.get("/events?done=pause").text.contains("Nothing more is posted."))
        #expect(try await site.admin.webhooks().map(\.isActive) == [false])
        #expect(try await oda.post("/events/resume?name=hooks").status == .seeOther)
        #expect(try await oda.post("/events/remove-webhook?name=hooks").status == .forbidden)
        try await site.sql(
            """
            INSERT INTO pushmta_engine.webhook_batch (consumer_id, slices, dead_at, http_status, trouble)
            SELECT consumer_id, ARRAY[ROW(current_date, 1, 1, 7)::pushmta_engine.event_slice], now(), 500, 'no'
            FROM pushmta_engine.webhook
            """
        )
        let letter = try #require(try await site.admin.deadLetters(limit: 1).first).id
        #expect(try await oda.post("/events/resend?name=\(letter)").headers[.location] == "/events?done=resend")
        #expect(try await site.admin.deadLetters(limit: 1).isEmpty)
        #expect(try await oda.post("/events/resend?name=x").status == .notFound)
        #expect(try await ada.get("/events/remove-webhook?name=hooks").text.contains("Remove this webhook?"))
        #expect(try await ada.post("/events/remove-webhook?name=hooks").status == .seeOther)
        #expect(try await ada.get("/events/remove?name=hooks").text.contains("Remove this consumer of events?"))
        #expect(try await ada.post("/events/remove?name=hooks").status == .seeOther)
        #expect(try await site.admin.consumers().isEmpty)
        let logged = try await site.value(
            """
            SELECT string_agg(who || ' ' || action, ', ' ORDER BY id) FROM pushmta_engine.audit_log
            WHERE action LIKE 'consumer.%' OR action LIKE 'webhook.%'
            """
        )
        #expect(
            logged
                == "ada consumer.add, ada webhook.add, ada webhook.change, ada webhook.secret, oda webhook.disable, oda webhook.enable, oda webhook.resend, ada webhook.remove, ada consumer.remove"
        )
        await site.close()
    }
}
