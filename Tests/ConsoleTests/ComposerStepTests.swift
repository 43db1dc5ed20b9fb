import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// The optional steps of the composer, and which applications a draft may go to.
@Suite struct ComposerStepTests {
    private func version(_ browser: ConsoleBrowser, _ path: String) async throws -> String {
        let page = try await browser.get(path).text
        return page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
    }

    @Test func stepsMayBeSkipped() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        let steps = ["preview", "when", "experiment", "limits", "approval", "send"]
        for (step, next) in zip(steps, steps.dropFirst()) {
            let page = try await mia.get("\(draft)/\(step)").text
            #expect(page.contains("href=\"\(draft)/\(next)\""), "\(step)")
            #expect(page.contains("Skip this step") == (step != "approval"), "\(step)")
        }
        #expect(try await !mia.get("\(draft)/content").text.contains("Skip this step"))
        let started = try await mia.post("\(draft)/start", form: ["version": try await version(mia, "\(draft)/send")])
        #expect(started.status == .seeOther, "\(started.text)")
        await site.close()
    }

    /// A browser that goes back after a conflict would otherwise put the old texts beside the new version.
    @Test func aFormOfADraftIsNotRestoredAndAsksBeforeItIsLost() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        for step in ["applications", "target", "content", "preview", "when", "experiment", "limits", "send"] {
            let page = try await mia.get("\(draft)/\(step)").text
            let form = /<form method="post" action="[^"]*\/compose\/[^"]*"[^>]*autocomplete="off">/
            #expect(page.contains(form), "\(step)")
            #expect(page.matches(of: /src="[^"]*compose\.js"/).count == 1, "\(step)")
        }
        let page = try await mia.get("\(draft)/when").text
        let script = try #require(page.firstMatch(of: /src="([^"]*console\.js)"/).map { String($0.1) })
        #expect(try await mia.get(script).text.contains("beforeunload"))
        await site.close()
    }

    /// No later step can do without one.
    @Test func theFirstStepNeedsAnApplication() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        let path = "\(draft)/applications"
        let words = Catalogue.english[.missingApplications]
        #expect(try await !mia.get(path).text.contains(words))
        let form = ["version": try await version(mia, path), "label": "Sale", "go": "next"]
        #expect(try await mia.post(path, form: form).headers[.location] == "\(path)?saved=1")
        let page = try await mia.get("\(path)?saved=1").text
        #expect(page.contains("<p class=\"field-problem\" role=\"alert\">\(words)</p>"), "\(page)")
        for step in ["content", "experiment"] {
            #expect(try await mia.get("\(draft)/\(step)").text.contains("class=\"button\" href=\"\(path)\""), "\(step)")
        }
        await site.close()
    }

    @Test func limitsSayWhichCapsApply() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        #expect(try await mia.get("\(draft)/limits").text.contains("The service has no frequency cap."))
        try await site.admin.setFrequencyCap(
            FrequencyCapRow(service: "shop", name: "weekly", maxMessages: 3, unit: .days, length: 7)
        )
        try await site.admin.setFrequencyCap(
            FrequencyCapRow(
                service: "shop",
                name: "receipts",
                maxMessages: 9,
                unit: .hours,
                categories: ["transactional"]
            )
        )
        func applies(_ name: String) async throws -> Bool {
            let page = try await mia.get("\(draft)/limits").text
            let rest = page.firstRange(of: "shop · \(name)").map { page[$0.upperBound...] } ?? ""
            let row = rest.firstRange(of: "</tr>").map { rest[..<$0.lowerBound] } ?? ""
            #expect(row.contains("at most"), "\(name)")
            return !row.contains("does not apply")
        }
        #expect(try await applies("weekly"))
        #expect(try await !applies("receipts"))
        let summary = try await mia.get("\(draft)/send").text
        #expect(summary.contains("weekly: at most 3 per person in 7 days"))
        let saved = try await mia.post(
            "\(draft)/limits",
            form: [
                "version": try await version(mia, "\(draft)/limits"), "settings.category": "transactional",
                "settings.messages_per_second": "100", "go": "next",
            ]
        )
        #expect(saved.headers[.location] == "\(draft)/approval")
        #expect(try await !applies("weekly"))
        #expect(try await applies("receipts"))
        #expect(try await mia.get("\(draft)/send").text.contains("<bdi>100</bdi>"))
        await site.close()
    }

    @Test func aCountSaysWhoIsLeftOutLater() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        let words = Catalogue.english[.countLeftOut]
        func isAtMost(_ form: [String: String] = [:]) async throws -> Bool {
            if !form.isEmpty {
                let version = ["version": try await version(mia, "\(draft)/limits"), "go": "stay"]
                _ = try await mia.post("\(draft)/limits", form: form.merging(version) { old, _ in old })
            }
            let page = try await mia.get("\(draft)/target").text
            #expect(page.contains(words) == page.contains(">at most 7<"), "\(page)")
            return page.contains(words)
        }
        #expect(try await !isAtMost())
        try await site.admin.setControlGroup(ofService: "shop", percent: 10, categories: nil)
        #expect(try await isAtMost())
        #expect(try await !isAtMost(["settings.category": "transactional"]))
        #expect(try await isAtMost(["settings.category": "news"]))
        // The delivery's page shows the same number as its draft.
        let id = try await site.admin.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        #expect(try await mia.get("/deliveries/\(id)").text.contains("<bdi>at most 7</bdi>"))
        try await site.admin.setControlGroup(ofService: "shop", percent: 0, categories: nil)
        #expect(try await !isAtMost())
        #expect(try await !mia.get("/deliveries/\(id)").text.contains("at most 7"))
        try await site.admin.setFrequencyCap(
            FrequencyCapRow(service: "shop", name: "weekly", maxMessages: 3, unit: .days, length: 7)
        )
        #expect(try await isAtMost())
        // If fewer are left, nobody has to approve it.
        for (above, needed) in [(Int64(6), ">depends on the size<"), (7, ">not required<")] {
            try await site.admin.setApprovalRule(service: "shop", above: above)
            let page = try await mia.get("\(draft)/approval").text
            #expect(page.contains(needed) && page.contains("at most 7"), "\(above): \(page)")
        }
        await site.close()
    }

    @Test func theRateOfADraftFollowsASignal() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        try await site.sql(
            "DO $$ BEGIN PERFORM pushmta.set_health_signal('load', 'http', 'http://localhost/load'); END $$"
        )
        let path = "\(draft)/limits"
        var form = [
            "version": try await version(mia, path), "follow.signal": "load", "follow.target": "0", "follow.floor": "5",
            "follow.ceiling": "50", "go": "next",
        ]
        #expect(try await mia.post(path, form: form).headers[.location] == "\(path)?saved=1", "it stays")
        let wrong = try await mia.get(path).text
        #expect(wrong.contains(Catalogue.english[.followTargetWrong]) && wrong.contains(#"value="50""#))
        #expect(try await mia.get("\(draft)/send").text.contains("A value of the step “Limits” is invalid."))
        form["follow.target"] = "0,8"
        form["follow.floor"] = "50,5"
        form["version"] = try await version(mia, path)
        #expect(try await mia.post(path, form: form).headers[.location] == "\(path)?saved=1", "it stays")
        let low = Catalogue.english.text(.followCeilingLow, "50.5")
        #expect(try await mia.get(path).text.contains(#"<p class="field-problem">\#(low)"#))
        form["version"] = try await version(mia, path)
        form["follow.floor"] = "5"
        #expect(try await mia.post(path, form: form).headers[.location] == "\(draft)/approval")
        #expect(try await mia.get("\(draft)/start?when=now").text.contains("<bdi>load</bdi>"))
        func start() async throws -> Int64 {
            let form = ["version": try await version(mia, "\(draft)/send"), "at": "2036-01-02T03:04"]
            let started = try await mia.post("\(draft)/start", form: form)
            let words = started.headers[.location]?.firstMatch(of: /^\/deliveries\/(\d+)/)
            return try #require(words.flatMap { Int64($0.1) }, "\(started.text)")
        }
        let id = try await start()
        let followed = try #require(try await site.admin.signal(ofDelivery: id))
        #expect(followed.signal == "load" && followed.target == 0.8 && followed.floor == 5 && followed.ceiling == 50)
        // Edited again, the draft says what was changed on the delivery's page, and may follow none.
        let page = ["signal": "load", "target": "0,9", "floor": "5", "ceiling": "50"]
        _ = try await mia.post("/deliveries/\(id)/follow", form: page)
        #expect(try await mia.post("/deliveries/\(id)/edit").headers[.location] == "\(draft)/send")
        let again = try await mia.get(path).text
        #expect(again.contains(#"value="0.9""#))
        form = ["version": try await version(mia, path), "follow.signal": "", "go": "next"]
        #expect(try await mia.post(path, form: form).headers[.location] == "\(draft)/approval")
        #expect(try await site.admin.signal(ofDelivery: try await start()) == nil)
        await site.close()
    }

    @Test func aDraftSaysWhetherSomebodyHasToApproveIt() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        #expect(try await mia.get("\(draft)/approval").text.contains("requires approval"))
        for (above, words) in [(Int64(6), ">required<"), (7, ">not required<")] {
            try await site.admin.setApprovalRule(service: "shop", above: above)
            #expect(try await mia.get("\(draft)/approval").text.contains(words), "\(above)")
        }
        #expect(try await mia.get("\(draft)/send").text.contains("not required (shop: above 7 messages)"))
        await site.close()
    }

    @Test func onlyApplicationsThatCanSendAreChosen() async throws {
        let site = try await ConsoleSite.start()
        let mia = try await site.session(.marketing, name: "mia")
        let begun = try await mia.post("/compose", form: ["label": "Sale"])
        let path = try #require(begun.headers[.location])
        func choose() async throws -> String {
            let form = ["version": try await version(mia, path), "label": "Sale", "application.shop-ios": "on"]
            _ = try await mia.post(path, form: form)
            return try await mia.get(path).text
        }
        let barred = try await choose()
        #expect(barred.contains("It has no credential, so it cannot send."))
        #expect(barred.contains(#"name="application.shop-ios" disabled aria-describedby="application-0-why""#))
        #expect(barred.contains(/href="\/services\/applications\/\d+"/))
        try await site.sql(
            """
            INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed) VALUES ('apns_key', 'c', 'k', 'x');
            UPDATE pushmta_engine.application SET credential_id = (SELECT max(id) FROM pushmta_engine.credential)
            """
        )
        #expect(try await choose().contains(#"name="application.shop-ios" checked>"#))
        // What was chosen stays, and says what is wrong.
        try await site.sql("UPDATE pushmta_engine.credential SET expires_at = now() - interval '1 day'")
        let expired = try await choose()
        #expect(expired.contains("Its credential has expired") && !expired.contains("checked disabled"))
        #expect(expired.contains(#"name="application.shop-ios" checked"#))
        try await site.sql("UPDATE pushmta_engine.external_account SET active = false")
        #expect(try await mia.get(path).text.contains("Its external account is switched off"))
        await site.close()
    }

    /// After the start nobody can give it to the messages.
    @Test func theConfirmationSaysWhatARecallCannotReplace() async throws {
        let site = try await ConsoleSite.start()
        let words = "has no collapse_id (iOS)."
        let (mia, draft) = try await site.saleDraft()
        #expect(try await mia.get("\(draft)/start?when=now").text.contains(words))
        // It has a field, and may be among the keys that are written as JSON.
        for (name, text) in [("ios.more", #"{"collapse_id": "sale"}"#), ("ios.more", ""), ("ios.collapse_id", "sale")] {
            let form = [
                "version": try await version(mia, "\(draft)/content"), "go": "stay", "ios.title": "Hello",
                "locales": "fr",
                "locales.fr.ios.title": "Bonjour", name: text,
            ]
            _ = try await mia.post("\(draft)/content", form: form)
            let page = try await mia.get("\(draft)/start?when=now").text
            #expect(page.contains("confirm-title") && page.contains(words) == text.isEmpty, "\(name): \(page)")
        }
        // A key of one platform is enough for that one.
        try await site.admin.createAccount(name: "fcm", connector: .androidV1, host: "localhost", port: 443)
        try await site.admin.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-android",
                platform: .android,
                integrationKey: "android-key",
                bundleID: "com.shop",
                account: "fcm"
            )
        )
        try await site.sql(
            """
            WITH made AS (INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed)
                VALUES ('fcm_service_account', 'google', 'k', 'x') RETURNING id)
            UPDATE pushmta_engine.application SET credential_id = (SELECT id FROM made) WHERE name = 'shop-android'
            """
        )
        let both = ["label": "Sale", "application.shop-ios": "on", "application.shop-android": "on"]
        let chosen = both.merging(["version": try await version(mia, "\(draft)/applications")]) { _, new in new }
        _ = try await mia.post("\(draft)/applications", form: chosen)
        let form = [
            "version": try await version(mia, "\(draft)/content"), "go": "stay", "ios.title": "Hello",
            "ios.collapse_id": "sale", "android.title": "Hello",
        ]
        _ = try await mia.post("\(draft)/content", form: form)
        let page = try await mia.get("\(draft)/start?when=now").text
        #expect(page.contains("It can replace the messages on iOS, not on Android: "), "\(page)")
        #expect(page.contains("has no tag (Android)."))
        await site.close()
    }

    /// A content that is too long has no field that is wrong, and the page does not send people to look for one.
    @Test func aProblemOfNoFieldIsToldWithoutOne() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        let form = [
            "version": try await version(mia, "\(draft)/content"), "ios.title": "Hello",
            "ios.body": String(repeating: "a", count: 4_900), "go": "stay",
        ]
        _ = try await mia.post("\(draft)/content", form: form)
        let page = try await mia.get("\(draft)/content?saved=1").text
        #expect(page.contains("bytes even with empty fields") && page.contains(Catalogue.english[.contentWrongAll]))
        #expect(!page.contains(Catalogue.english[.contentWrong]))
        await site.close()
    }

    /// At its field or its platform, without the names of keys.
    @Test func problemsOfTheContentAreToldWhereTheyAre() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        let form = [
            "version": try await version(mia, "\(draft)/content"), "ios.title": "", "locales": "french", "go": "stay",
        ]
        _ = try await mia.post("\(draft)/content", form: form)
        let page = try await mia.get("\(draft)/content?saved=1").text
        #expect(page.contains(#"id="locales-hint"><p class="field-problem">no device has the locale"#), "\(page)")
        #expect(!page.contains("locales: no device"))
        let empty = "<h2 id=\"ios-title\">iOS</h2>\n<p class=\"field-problem\">\(Catalogue.english[.contentEmpty])</p>"
        #expect(page.contains(empty) && !page.contains("nothing to show"), "\(page)")
        let filter = ["version": try await version(mia, "\(draft)/target"), "filter": "locale =", "go": "stay"]
        _ = try await mia.post("\(draft)/target", form: filter)
        let target = try await mia.get("\(draft)/target").text
        #expect(target.contains("At character 9: the filter ends where a value is expected"), "\(target)")
        await site.close()
    }

    @Test func textsAreCountedForTheTightestGateway() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        let page = try await mia.get("\(draft)/content").text
        let counter = #"data-of="ios.title" data-limit="4096" data-words="{0} characters, {1} of 4,096 bytes""#
        #expect(page.contains(counter))
        #expect(page.contains(#"aria-describedby="ios.title-hint ios.title-count""#))
        #expect(!page.contains(#"data-of="ios.badge""#))
        let script = try #require(page.firstMatch(of: /src="([^"]*compose\.js)"/).map { String($0.1) })
        #expect(try await mia.get(script).text.contains("TextEncoder"))
        try await site.sql("UPDATE pushmta_engine.external_account SET connector = 'ios-binary'")
        #expect(try await mia.get("\(draft)/content").text.contains(#"data-limit="2048""#))
        await site.close()
    }
}
