import HTTPTypes
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// The composer: writing a delivery in steps, previewing it and starting it, with the necessary rights.
@Suite struct ComposerTests {
    /// An application that can be sent to, with subscribers, a credential and a seed address.
    private func ready(_ site: ConsoleSite) async throws {
        let connection = try await site.database.connect()
        try await connection.run(
            script: """
                INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed) VALUES ('apns_key', 'c', 'k', 'x');
                UPDATE pushmta_engine.application SET credential_id = (SELECT max(id) FROM pushmta_engine.credential);
                INSERT INTO pushmta_engine.subscription (application_id, push_token, recipient, locale)
                    SELECT a.id, lpad(n::text, 64, 'a'), '{"name": "Ada"}', CASE WHEN n <= 3 THEN 'fr' ELSE 'de' END
                    FROM pushmta_engine.application a, generate_series(1, 7) n;
                """
        )
        await connection.close()
        try await site.admin.addSeed(
            NewSeed(name: "me", application: "shop-ios", address: .pushToken(String(repeating: "b", count: 64)))
        )
    }

    /// Gives each application without a credential one, so that a draft may go to it.
    private func credentials(_ site: ConsoleSite) async throws {
        try await site.sql(
            """
            INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed)
                SELECT 'apns_key', 'own', 'k', 'x' WHERE NOT EXISTS (SELECT FROM pushmta_engine.credential);
            UPDATE pushmta_engine.application SET credential_id = (SELECT max(id) FROM pushmta_engine.credential)
                WHERE credential_id IS NULL
            """
        )
    }

    /// Creates a draft; returns the path of its steps.
    private func begin(_ browser: ConsoleBrowser, _ label: String = "Sale") async throws -> String {
        let answer = try await browser.post("/compose", form: ["label": label])
        let location = answer.headers[.location] ?? ""
        #expect(answer.status == .seeOther && location.hasSuffix("/applications"))
        return String(location.dropLast("/applications".count))
    }

    /// Sends a step's form with the page's present values.
    private func save(_ browser: ConsoleBrowser, _ draft: String, _ step: String, _ form: [String: String]) async throws
        -> ConsoleAnswer
    {
        let page = try await browser.get("\(draft)/\(step)").text
        let version = page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        return try await browser.post("\(draft)/\(step)", form: form.merging(["version": version]) { own, _ in own })
    }

    /// A draft for one application, and its author's browser.
    private func saleDraft(_ site: ConsoleSite) async throws -> (mia: ConsoleBrowser, draft: String) {
        try await credentials(site)
        let mia = try await site.session(.marketing, name: "mia")
        let draft = try await begin(mia)
        _ = try await save(mia, draft, "applications", ["label": "Sale", "application.shop-ios": "on"])
        return (mia, draft)
    }

    @Test func aDeliveryIsWrittenInStepsAndStarted() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        let mia = try await site.session(.marketing, name: "mia")
        let draft = try await begin(mia)
        let first = try await save(
            mia,
            draft,
            "applications",
            ["label": "Sale", "application.shop-ios": "on", "go": "next"]
        )
        #expect(first.headers[.location] == "\(draft)/target")
        _ = try await save(mia, draft, "target", ["filter": "locale = 'fr'", "go": "next"])
        #expect(try await mia.get("\(draft)/target").text.contains(#"<p class="value">3</p>"#))
        _ = try await save(mia, draft, "content", ["ios.title": "Hello {{name}}", "ios.body": "Now", "go": "next"])
        let preview = try await mia.get("\(draft)/preview?who=seed:me").text
        #expect(preview.contains("class=\"phone iphone\"") && preview.contains("Hello"))
        let send = try await mia.get("\(draft)/send").text
        #expect(send.contains("seed.me") && send.contains(#"name="go" value="start""#))
        let confirm = try await mia.get("\(draft)/start?when=now").text
        #expect(confirm.contains("Start this delivery?") && confirm.contains(">3</strong> subscriptions of <bdi>"))
        let version = send.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        let proof = try await mia.post("\(draft)/proof", form: ["version": version, "seed.me": "on"])
        #expect(proof.headers[.location]?.hasPrefix("\(draft)/send?proof=") == true, "\(proof.status)")
        let sent = try #require(proof.headers[.location]?.firstMatch(of: /proof=(\d+)/)).1
        #expect(try await mia.get("/deliveries/\(sent)").text.contains("<bdi>seed addresses: it is a proof</bdi>"))
        let started = try await mia.post("\(draft)/start", form: ["version": version])
        let path = started.headers[.location] ?? ""
        let delivery = try #require(path.firstMatch(of: /^\/deliveries\/(\d+)\?done=start$/).flatMap { Int64($0.1) })
        #expect(try await site.admin.deliveryProgress(delivery).state == .pending)
        #expect(try await mia.get(path).text.contains("The delivery is started. This page updates automatically."))
        // The draft is gone, and the audit log has its history.
        for step in ["content", "send", "start"] {
            #expect(try await mia.get("\(draft)/\(step)").headers[.location] == "/deliveries/\(delivery)", "\(step)")
        }
        let late = try await mia.post("\(draft)/send", form: ["version": version, "go": "start"])
        #expect(late.headers[.location] == "/deliveries/\(delivery)?done=unsaved")
        let landed = try await mia.get("/deliveries/\(delivery)?done=unsaved").text
        #expect(landed.contains("<p class=\"notice fair\" role=\"status\">Nothing was saved: the draft has become"))
        // A second click on the start was not in vain.
        let again = try await mia.post("\(draft)/start", form: ["version": version])
        #expect(again.headers[.location] == "/deliveries/\(delivery)")
        #expect(try await mia.get("/compose/999/content").status == .notFound)
        let audit = try await site.session(.admin).get("/audit").text
        for words in ["began a draft", "changed a draft", "sent a proof", "started a delivery"] {
            #expect(audit.contains(words), "\(words)")
        }
        await site.close()
    }

    @Test func howItIsSentIsKeptShownAndHolds() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        let (mia, draft) = try await saleDraft(site)
        _ = try await save(mia, draft, "content", ["ios.title": "Hello"])
        // Empty fields show the defaults.
        let usual = try await mia.get("\(draft)/send").text
        #expect(usual.contains(#"name="settings.priority" value="" placeholder="0""#) && usual.contains("no limit"))
        let wrong = [
            "settings.validity_seconds": "3601",
            "settings.priority": "101", "settings.weight": "11", "settings.max_retries": "-1",
            "settings.retry_period_seconds": "0",
        ]
        let answer = try await save(mia, draft, "send", wrong.merging(["go": "start"]) { own, _ in own })
        #expect(answer.headers[.location] == "\(draft)/send?saved=1")
        let page = try await mia.get("\(draft)/send?saved=1").text
        for (field, text) in wrong {
            #expect(page.contains("name=\"\(field)\" value=\"\(text)\""), "\(field)")
            #expect(page.contains("“\(text)” is not a number"), "\(field)")
        }
        #expect(page.contains("A setting of how it is sent is invalid."))
        // The rate is a limit.
        _ = try await save(mia, draft, "limits", ["settings.messages_per_second": "10,000", "go": "next"])
        let limits = try await mia.get("\(draft)/limits").text
        #expect(limits.contains(#"name="settings.messages_per_second" value="10,000""#))
        #expect(limits.contains("“10,000” is not a number"))
        #expect(try await mia.get("\(draft)/send").text.contains("A value of the step “Limits” is invalid."))
        #expect(try await mia.get("\(draft)/start?when=now").text.contains("A setting of how it is sent is invalid."))
        let right = [
            "settings.messages_per_second": "0,5", "settings.validity_seconds": "36", "settings.validity_unit": "hours",
            "settings.priority": "\u{2212}7", "settings.weight": "3", "settings.max_retries": "2",
            "settings.retry_schedule": "exponential", "settings.retry_period_seconds": "30",
            "settings.ambiguity_policy": "report", "settings.one_per_user": "true", "settings.all_seeds": "true",
            "when": "now", "go": "start",
        ]
        let saved = try await save(mia, draft, "send", right)
        let confirm = try await mia.get(try #require(saved.headers[.location])).text
        for words in [
            "<bdi>0.5</bdi>", "36 hours", "<bdi>\u{2212}7</bdi>", "growing pauses", "count it as unknown",
            "on only one",
            "get the delivery, too",
            ">at most 7</strong> subscriptions of <bdi>", "If a person has several devices, one of them gets it",
        ] {
            #expect(confirm.contains(words), "\(words)")
        }
        let version = confirm.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        // A template is saved with the settings, and a draft that starts from it has them.
        let kept = try await mia.post("\(draft)/template", form: ["version": version, "keep": "slow"])
        #expect(kept.headers[.location]?.hasSuffix("?done=add") == true, "\(kept.text)")
        let other = try await mia.post("/compose", form: ["label": "Again", "template": "slow"])
        let again = try #require(other.headers[.location]).replacing("/applications", with: "/send")
        let copy = try await mia.get(again).text
        #expect(copy.contains(#"name="settings.validity_seconds" value="36""#) && copy.contains("<bdi>0.5</bdi>"))
        #expect(
            copy.contains(#"<option value="true" selected>get the delivery, too"#)
                && copy.contains(#"<option value="hours" selected>"#)
                && copy.contains(#"<option value="report" selected>"#)
        )
        let started = try await mia.post("\(draft)/start", form: ["version": version])
        let path = started.headers[.location] ?? ""
        let delivery = try #require(path.firstMatch(of: /^\/deliveries\/(\d+)/).flatMap { Int64($0.1) })
        let row = try await site.value(
            """
            SELECT concat_ws(' ', d.priority, d.weight, d.validity, d.max_retries, d.retry_schedule, d.retry_period_seconds,
                d.ambiguity_policy, d.one_per_user, r.messages_per_second, coalesce(d.seed_names::text, 'all'))
            FROM pushmta_engine.delivery d JOIN pushmta_engine.rate_limit r ON r.delivery_id = d.id WHERE d.id = \(delivery)
            """
        )
        #expect(row == "-7 3 36:00:00 2 exponential 30 report t 0.5 all")
        await site.close()
    }

    @Test func aCategoryIsChosenShownAndHolds() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        let (mia, draft) = try await saleDraft(site)
        _ = try await save(mia, draft, "content", ["ios.title": "Hello"])
        let usual = try await mia.get("\(draft)/limits").text
        #expect(usual.contains(#"<option value="" selected>marketing of the service"#))
        #expect(usual.contains(#"<option value="news">News"#) && usual.contains(#"<option value="transactional">"#))
        let saved = try await save(mia, draft, "send", ["settings.category": "news", "when": "now", "go": "start"])
        let confirm = try await mia.get(try #require(saved.headers[.location])).text
        #expect(confirm.contains("<bdi>News</bdi>"))
        let version = confirm.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        let started = try await mia.post("\(draft)/start", form: ["version": version])
        let path = started.headers[.location] ?? ""
        let delivery = try #require(path.firstMatch(of: /^\/deliveries\/(\d+)/).flatMap { Int64($0.1) })
        #expect(try await site.admin.deliveryProgress(delivery).category == "news")
        #expect(try await mia.get("/deliveries/\(delivery)").text.contains("<bdi>news</bdi>"))
        await site.close()
    }

    /// A category that the service of the applications does not have is shown and refused.
    @Test func anUnknownCategoryIsWrong() {
        let values = SettingsForm.values(json: #"{"category":"sport"}"#)
        let own = [CategoryRow(service: "shop", name: "news", label: "News", isTransactional: false)]
        let form = SettingsForm(values: values, catalogue: .english, categories: own)
        #expect(form.isWrong && "\(form.fields(SettingsForm.limits))".contains("sport"))
        let several = SettingsForm(values: values, catalogue: .english)
        #expect(!several.isWrong && several.json.filter { $0 != " " } == #"{"category":"sport"}"#)
        #expect(SettingsForm(values: ["settings.category": "No name"], catalogue: .english).isWrong)
    }

    /// A template's numbers stay the same when a draft reads them and saves them again.
    @Test func numbersOfTemplatesAreNumbers() throws {
        func json(_ settings: String) -> String {
            SettingsForm(values: SettingsForm.values(json: settings), catalogue: .english).json
        }
        for settings in [
            #"{"messages_per_second":100}"#, #"{"messages_per_second":1.125}"#, #"{"messages_per_second":1000}"#,
            #"{"priority":-7,"weight":3}"#, #"{"validity_seconds":5400}"#, #"{"one_time_code":true}"#,
            #"{"all_seeds":true}"#,
        ] {
            let form = SettingsForm(values: SettingsForm.values(json: settings), catalogue: .english)
            #expect(!form.isWrong && form.json.filter { $0 != " " } == settings, "\(settings): \(form.json)")
        }
        let again = SettingsForm.values(
            json: #"{"messages_per_second": 100.0, "priority": 7.0, "validity_seconds": 86400.0}"#
        )
        #expect(again["settings.messages_per_second"] == "100" && again["settings.priority"] == "7")
        #expect(again["settings.validity_seconds"] == "1" && again["settings.validity_unit"] == "days")
        #expect(json(#"{"messages_per_second": 100.0}"#).contains("100}"))
        func problems(_ values: [String: String]) -> String {
            "\(SettingsForm(values: values, catalogue: .english).fields(SettingsForm.Setting.allCases))"
        }
        #expect(problems(["settings.validity_seconds": "soon"]).contains("is not a number from 1 to 3,600 days"))
        let separator = Catalogue.english[.settingSeparator]
        #expect(problems(["settings.messages_per_second": "1.125"]).contains(separator))
        #expect(problems(["settings.max_retries": "1,000"]).contains(separator))
        let small = problems(["settings.messages_per_second": "0.0001"])
        #expect(small.contains("“0.0001” is not a number from 0.001") && !small.contains(separator))
        // The minus sign of the hint is accepted, and shown in the error.
        let minus = SettingsForm(values: ["settings.priority": "\u{2212}100"], catalogue: .english)
        #expect(minus.json.contains("-100") && !minus.isWrong)
        for language in Language.allCases {
            Language.$current.withValue(language) {
                let form = SettingsForm(values: [:], catalogue: Catalogue.current)
                let fields = "\(form.fields(SettingsForm.Setting.allCases))"
                #expect(fields.contains("\u{2212}100") && !fields.contains("{0}"), "\(language)")
            }
        }
        #expect(problems(["settings.priority": "-101"]).contains("from \u{2212}100 to 100"))
    }

    /// Hints and defaults come from the table of settings.
    @Test func theFormTellsRangesAndDefaults() throws {
        let fields = "\(SettingsForm(values: [:], catalogue: .english).fields(SettingsForm.Setting.allCases))"
        for words in [
            "Empty: 5 days.", "From \u{2212}100 to 100; higher priorities are sent first. Empty: 0.",
            "From 1 to 10: its share among deliveries of the same priority. Empty: 1.",
            "from 0 to 1,000. Empty: 5.", "Empty: 3,600 seconds if daily, 10 if growing.",
        ] { #expect(fields.contains(words), "\(words)") }
        for setting in SettingsForm.Setting.allCases where !setting.choices.isEmpty {
            let usual = setting.choices.filter { $0.value == setting.usualChoice }
            #expect(usual.count == 1, "\(setting)")
            var form = FormParameters()
            try form.read(Array("\(setting.field)=\(setting.usualChoice ?? "")".utf8))
            var values = [setting.field: "x"]
            SettingsForm.take(form, into: &values)
            #expect(values.isEmpty, "an empty field means the default of \(setting)")
        }
        let names = SettingsForm.Setting.allCases.compactMap(\.definition)
        #expect(Set(names) == Set(DeliverySetting.allCases).subtracting([.explicitTargets]))
    }

    @Test func anExclusionListThatIsGoneIsSaidAndStays() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        try await site.sql(
            """
            INSERT INTO pushmta_engine.exclusion_list (name, label) SELECT 'a' || n, '' FROM generate_series(1, 200) n;
            INSERT INTO pushmta_engine.exclusion_list (name, label) VALUES ('staff', 'Our own'), ('zoo', 'Zoo')
            """
        )
        try await site.admin.addTemplate(
            name: "sale",
            label: "",
            content: #"{"ios": {"title": "Hello"}}"#,
            target: TemplateTarget(applications: ["shop-ios"], excludedLists: ["staff", "zoo"])
        )
        let mia = try await site.session(.marketing, name: "mia")
        let begun = try await mia.post("/compose", form: ["label": "Sale", "template": "sale"])
        let draft = try #require(begun.headers[.location]).replacing("/applications", with: "")
        func version() async throws -> String {
            let page = try await mia.get("\(draft)/send").text
            return page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        }
        // The draft's lists are shown in addition to the maximum number of lists on offer.
        let before = try await mia.get("\(draft)/target").text
        #expect(before.contains(#"name="list.zoo" checked"#) && before.contains("Our own"))
        // The lists have not been looked up yet.
        #expect(
            before.contains(#"<p class="value">at most 7</p>"#) && before.contains("does not consider exclusion lists")
        )
        #expect(!before.contains("no longer exists"))
        try await site.sql("DELETE FROM pushmta_engine.exclusion_list WHERE name = 'staff'")
        let target = try await mia.get("\(draft)/target").text
        #expect(target.contains(#"name="list.staff" checked"#) && target.contains("no longer exists"))
        let words = "The exclusion list “staff” no longer exists"
        let send = try await mia.get("\(draft)/send").text
        #expect(send.contains(words) && !send.contains(#"name="go" value="start""#))
        #expect(try await mia.get("\(draft)/start?when=now").text.contains(words))
        // Saving the unchanged target keeps both lists.
        let both = ["list.staff": "on", "list.zoo": "on", "go": "stay"]
        _ = try await save(mia, draft, "target", both)
        #expect(try await mia.get("\(draft)/send").text.contains(words))
        let refused = try await mia.post("\(draft)/start", form: ["version": try await version()])
        #expect(refused.status == .conflict && refused.text.contains("Untick it in the target"), "\(refused.text)")
        #expect(!refused.text.contains("ushmta exclusion"))
        _ = try await save(mia, draft, "target", ["list.zoo": "on", "go": "stay"])
        let last = try await mia.get("\(draft)/send").text
        #expect(
            !last.contains("no longer exists") && last.contains("<bdi>zoo</bdi>") && last.contains(#"value="start""#)
        )
        // An unknown seed address leads to the page of seed addresses.
        let proof = try await mia.post("\(draft)/proof", form: ["version": try await version(), "seed.nobody": "on"])
        #expect(proof.text.contains("the page of seed addresses lists them"), "\(proof.text)")
        #expect(!proof.text.contains("ushmta seed"))
        await site.close()
    }

    @Test func aTemplateForSystemsMakesNoDraft() async throws {
        let site = try await ConsoleSite.start()
        try await site.admin.addTemplate(
            name: "order",
            label: "",
            content: #"{"ios": {"title": "Hello"}}"#,
            settings: #"{"explicit_targets": true}"#,
            target: TemplateTarget(applications: ["shop-ios"])
        )
        let id = try await site.admin.template(named: "order").id
        let mia = try await site.session(.marketing, name: "mia")
        #expect(try await !mia.get("/compose?template=order").text.contains(#"value="order""#))
        let page = try await mia.get("/templates/\(id)").text
        #expect(page.contains("for systems that name the addressees") && !page.contains("/compose?"))
        let refused = try await mia.post("/compose", form: ["label": "Sale", "template": "order"])
        #expect(refused.status == .conflict && refused.text.contains("for systems that name the addressees"))
        #expect(try await !mia.get("/compose").text.contains("Sale"))
        await site.close()
    }

    @Test func aPreviewHasTheValuesOfAUserAndTheLookIsOnRecord() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        try await site.sql("UPDATE pushmta_engine.subscription SET user_key = 'customer-4711' WHERE id IN (2, 3)")
        let (mia, draft) = try await saleDraft(site)
        _ = try await save(mia, draft, "content", ["ios.title": "Hello {{name}}"])
        let found = try await mia.post("\(draft)/reader", form: ["key": " customer-4711 ", "locale": ""])
        // The user key is in no URL.
        #expect(found.headers[.location] == "\(draft)/preview?number=3")
        let page = try await mia.get("\(draft)/preview?number=3").text
        #expect(page.contains("Hello Ada") && !page.contains("customer-4711"))
        let nobody = try await mia.post("\(draft)/reader", form: ["key": "nobody", "who": "seed:me"])
        #expect(nobody.headers[.location] == "\(draft)/preview?nobody=1")
        #expect(try await mia.get("\(draft)/preview?nobody=1").text.contains("No one with this user key"))
        let seed = try await mia.post("\(draft)/reader", form: ["key": "", "who": "seed:me", "number": ""])
        #expect(seed.headers[.location] == "\(draft)/preview?who=seed%3Ame")
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("looked up a subscriber") && audit.contains("looked at a subscription’s values"))
        #expect(!audit.contains("customer-4711"))
        await site.close()
    }

    /// A view with a person who has the user key of subscription 2, mapped for the service's applications.
    private func mapped(_ site: ConsoleSite) async throws {
        try await site.sql(
            """
            UPDATE pushmta_engine.subscription SET user_key = 'user-' || id WHERE id IN (2, 3);
            CREATE TABLE person (key text PRIMARY KEY, city text);
            INSERT INTO person VALUES ('user-2', 'Oslo'), ('user-3', 'Bergen');
            """
        )
        try await site.admin.createMapping(name: "m", label: "", view: "person", keyColumn: "key")
        try await site.admin.setService(name: "shop", mapping: "m")
    }

    @Test func aPreviewSaysWhatTheMappingsViewSays() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        try await mapped(site)
        let (mia, draft) = try await saleDraft(site)
        _ = try await save(mia, draft, "content", ["ios.title": "Sale in {{mapping.city}}"])
        #expect(try await mia.get("\(draft)/preview?number=2").text.contains("Sale in Oslo"))
        let found = try await mia.post("\(draft)/reader", form: ["key": "user-3", "locale": "fr"])
        #expect(found.headers[.location] == "\(draft)/preview?number=3")
        #expect(try await mia.get("\(draft)/preview?number=3").text.contains("Sale in Bergen"))
        // It has a sample value, like any other field.
        #expect(try await mia.get("\(draft)/preview").text.contains(#"name="sample.mapping.city""#))
        _ = try await save(mia, draft, "preview", ["sample.mapping.city": "Tromsø"])
        #expect(try await mia.get("\(draft)/preview").text.contains("Sale in Tromsø"))
        // An unreadable view must not look like an empty value.
        try await site.sql("ALTER TABLE person RENAME TO people")
        let broken = try await mia.get("\(draft)/preview?number=2")
        #expect(broken.status == .conflict && broken.text.contains("the view of the target mapping cannot be read"))
        #expect(broken.text.contains("public.person") && !broken.text.contains(#"class="phone iphone""#))
        await site.close()
    }

    @Test func aReaderSeesTheVariantOfTheirLanguage() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        try await site.sql("UPDATE pushmta_engine.subscription SET locale = 'fr-CA', opted_out = true WHERE id = 2")
        let (mia, draft) = try await saleDraft(site)
        let texts = [
            "ios.title": "Hello", "ios.badge": "7", "locales": "fr, it, es", "locales.fr.ios.title": "Salut",
            "locales.it.ios.title": "Ciao",
        ]
        _ = try await save(mia, draft, "content", texts)
        let content = try await mia.get("\(draft)/content?saved=1").text
        #expect(content.contains("“es” has no text of its own") && !content.contains("“it” has no text"))
        let page = try await mia.get("\(draft)/preview?number=2").text
        #expect(
            page.contains("Salut") && page.contains(#"<option value="fr" selected>"#) && page.contains("<bdi>fr</bdi>")
        )
        #expect(page.contains("</span>7</span>") && page.contains("Nothing is sent to this subscription:"))
        // A reader without a variant gets the main content.
        let other = try await mia.get("\(draft)/preview?number=5").text
        #expect(!other.contains("Salut") && !other.contains(#"<option value="fr" selected>"#))
        #expect(!other.contains("Nothing is sent to this subscription"))
        #expect(try await mia.get("\(draft)/preview?locale=it").text.contains("Ciao"))
        await site.close()
    }

    @Test func soundsAreOfferedOnceByTheirLabels() async throws {
        let site = try await ConsoleSite.start()
        try await site.admin.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-ipad",
                platform: .ios,
                integrationKey: "ipad-key",
                bundleID: "com.shop.pad",
                account: "apns"
            )
        )
        try await site.sql(
            """
            UPDATE pushmta_engine.application SET sounds = CASE name
                WHEN 'shop-ios' THEN '[{"name": "chime.caf"}, {"name": "till.caf", "label": "Cash till"}]'::jsonb
                ELSE '[{"name": "chime.caf", "label": "Door chime"}, {"name": "Glass", "label": "Glass", "system": true}]'::jsonb END
            """
        )
        try await credentials(site)
        let mia = try await site.session(.marketing, name: "mia")
        let draft = try await begin(mia)
        _ = try await save(
            mia,
            draft,
            "applications",
            ["label": "Sale", "application.shop-ios": "on", "application.shop-ipad": "on"]
        )
        let page = try await mia.get("\(draft)/content").text
        let list = page.firstMatch(of: /<datalist id="ios\.sound-options">(.*?)<\/datalist>/).map { String($0.1) } ?? ""
        let options = list.matches(of: /<option value="([^"]*)">([^<]*)<\/option>/).map { "\($0.1)=\($0.2)" }
        #expect(
            options == ["default=The system’s sound", "chime.caf=Door chime", "till.caf=Cash till", "Glass=Glass"],
            "\(list)"
        )
        await site.close()
    }

    @Test func theVariablesOfAnApplicationAreAskedFor() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        try await site.sql(
            """
            UPDATE pushmta_engine.application SET variables = '[{"name": "screen", "type": "text", "label": "First page", "default": "home"},
                {"name": "offer", "type": "integer"}]' WHERE name = 'shop-ios'
            """
        )
        let mia = try await site.session(.marketing, name: "mia")
        let draft = try await begin(mia)
        let fields = ["label": "Sale", "application.shop-ios": "on"]
        _ = try await save(mia, draft, "applications", fields)
        let asked = try await mia.get("\(draft)/content").text
        #expect(asked.contains("First page (screen)") && asked.contains(#"placeholder="home""#))
        let given = ["ios.title": "Sale", "ios.variables.screen": "sale", "ios.variables.offer": "17", "go": "send"]
        _ = try await save(mia, draft, "content", given)
        let filled = try await mia.get("\(draft)/content").text
        #expect(filled.contains(#"name="ios.variables.screen" value="sale""#))
        let confirm = try await mia.get("\(draft)/start?when=now").text
        let version = confirm.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        let started = try await mia.post("\(draft)/start", form: ["version": version])
        #expect(started.status == .seeOther)
        let content = try await site.value("SELECT content -> 'ios' -> 'variables' FROM pushmta_engine.delivery")
        #expect(content == #"{"offer": 17, "screen": "sale"}"#)
        await site.close()
    }

    @Test func anIconIsOnBothPhonesAndInTheLists() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
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
        try await credentials(site)
        let mia = try await site.session(.marketing, name: "mia")
        let draft = try await begin(mia)
        let both = ["label": "Sale", "application.shop-ios": "on", "application.shop-android": "on"]
        _ = try await save(mia, draft, "applications", both)
        _ = try await save(mia, draft, "content", ["ios.title": "Hello", "android.title": "Hello"])
        // What one platform says is copied to the other, and what cannot be is named.
        let copied = try await save(
            mia,
            draft,
            "content",
            ["ios.title": "Hello", "ios.body": "Now", "ios.subtitle": "Sub", "android.title": "Hi", "go": "copy.ios"]
        )
        #expect(copied.headers[.location] == "\(draft)/content?saved=1&copied=ios")
        let content = try await mia.get("\(draft)/content?saved=1&copied=ios").text
        #expect(content.contains(#"name="android.title" value="Hi""#) && content.contains(">Copy to iOS<"))
        #expect(content.contains("works differently: Subtitle</li>"), "\(content)")
        #expect(content.contains("Kept on Android, where it says something else: Title</li>"), "\(content)")
        #expect(content.contains(#"value="overwrite.ios">Overwrite on Android<"#), "\(content)")
        let same = ["ios.title": "Hello", "ios.body": "Now", "android.title": "Hi", "go": "overwrite.ios"]
        _ = try await save(mia, draft, "content", same)
        let over = try await mia.get("\(draft)/content?saved=1&copied=ios").text
        #expect(over.contains(#"name="android.title" value="Hello""#) && !over.contains("Kept on Android"), "\(over)")
        func icons(_ path: String) async throws -> [String] {
            let page = try await mia.get(path).text
            return page.matches(of: /src="(\/services\/applications\/\d+\/icon\?v=\d+)"/).map { String($0.1) }
        }
        // Without icons, the phones show a letter.
        #expect(try await icons("\(draft)/preview") == [])
        try await site.sql("UPDATE pushmta_engine.application SET icon = '\\x89504e47'")
        let shown = try await icons("\(draft)/preview")
        #expect(shown.count == 4 && Set(shown).count == 2, "\(shown)")
        #expect(try await Set(icons("/services")) == Set(shown))
        #expect(try await Set(icons("\(draft)/applications")) == Set(shown))
        _ = try await site.delivery()
        #expect(try await icons("/deliveries") == [shown[0]])
        let icon = try await mia.get(shown[0])
        #expect(icon.headers[.contentType] == "image/png" && icon.headers[.cacheControl] == "private, max-age=86400")
        await site.close()
    }

    @Test func problemsStandAtTheirFieldsAndNobodyGoesOn() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        let answer = try await save(mia, draft, "content", ["ios.title": "Hi", "ios.badge": "many", "go": "next"])
        #expect(answer.headers[.location] == "\(draft)/content?saved=1")
        let page = try await mia.get("\(draft)/content?saved=1").text
        let field = page.firstMatch(of: /id="ios\.badge"(.|\n)*?<\/div>/).map { String($0.0) } ?? ""
        #expect(field.contains("aria-invalid") && field.contains("field-problem"))
        let title = page.firstMatch(of: /<input id="ios\.title"[^>]*>/).map { String($0.0) } ?? ""
        #expect(title.contains(#"value="Hi""#) && !title.contains("aria-invalid"))
        let wrong = try await save(mia, draft, "target", ["filter": "locale = ", "go": "next"])
        #expect(wrong.headers[.location] == "\(draft)/target?saved=1")
        #expect(try await mia.get("\(draft)/target?saved=1").text.contains("field-problem"))
        let send = try await mia.get("\(draft)/send").text
        #expect(send.contains("The filter of the target is wrong.") && send.contains("cannot be sent yet"))
        #expect(!send.contains(#"name="go" value="start""#))
        await site.close()
    }

    @Test func soundsAndTemplatesAreWrittenInFields() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        func field(_ page: String, _ name: String) -> String {
            let start = page.firstRange(of: "id=\"\(name)\"")?.lowerBound ?? page.endIndex
            let end = page[start...].firstRange(of: "</div>")?.upperBound ?? page.endIndex
            return String(page[start..<end])
        }
        let basic = [
            "ios.title": "Hi", "ios.body": "B", "ios.sound": "siren.caf", "ios.sound.critical": "true",
            "ios.sound.volume": "180", "ios.relevance_percent": "70", "tracking": "false",
        ]
        let template = ["ios.template.type": "carousel", "go": "next"]
        // A template's fields appear once it is chosen, so the draft stays at this step.
        let first = try await save(mia, draft, "content", basic.merging(template) { $1 })
        #expect(first.headers[.location] == "\(draft)/content?saved=1")
        var page = try await mia.get("\(draft)/content?saved=1").text
        #expect(field(page, "ios.sound.volume").contains("180 is out of range"))
        #expect(field(page, "ios.sound.critical").contains(#"<option value="true" selected>"#))
        #expect(field(page, "ios.relevance_percent").contains(#"value="70""#))
        #expect(field(page, "ios.template.type").contains(#"<option value="carousel" selected>"#))
        #expect(field(page, "ios.template.items[4].image").contains("Required."))
        #expect(page.contains("<p class=\"field-problem\">it is missing") && page.contains("The images. (2 to 5)"))
        #expect(field(page, "tracking").contains(#"<option value="false" selected>"#))
        let rows = [
            "ios.sound.volume": "80", "ios.template.mode": "manual", "ios.template.items[0].image": "https://e/1.png",
            "ios.template.items[1].text": "Two",
        ]
        _ = try await save(mia, draft, "content", basic.merging(template) { $1 }.merging(rows) { $1 })
        page = try await mia.get("\(draft)/content?saved=1").text
        #expect(field(page, "ios.template.items[1].image").contains("aria-invalid"))
        #expect(!field(page, "ios.template.items[0].image").contains("aria-invalid"))
        let right = rows.merging(["ios.template.items[1].image": "https://e/2.png"]) { $1 }
        let last = try await save(mia, draft, "content", basic.merging(template) { $1 }.merging(right) { $1 })
        #expect(last.headers[.location] == "\(draft)/preview")
        let preview = try await mia.get("\(draft)/preview").text.replacing("&quot;", with: "\"")
        for words in [
            #""sound":{"critical":1,"name":"siren.caf","volume":0.8}"#, #""relevance-score":0.7"#,
            #""category":"AEPNotification""#, #""adb_template_type":"car""#, #""adb_car_mode":"manual""#,
            #""adb_items":[{"img":"https://e/1.png"},{"img":"https://e/2.png","txt":"Two"}]"#,
        ] {
            #expect(preview.contains(words), "\(words)")
        }
        #expect(!preview.contains("_mId"))
        // A locale has the template's fields, with the main content's values as placeholders.
        _ = try await save(
            mia,
            draft,
            "content",
            basic.merging(template) { $1 }.merging(right) { $1 }.merging(["locales": "fr"]) { $1 }
        )
        page = try await mia.get("\(draft)/content").text
        #expect(field(page, "locales.fr.ios.template.items[1].text").contains(#"placeholder="Two""#))
        #expect(!page.contains("locales.fr.ios.template.type"))
        await site.close()
    }

    @Test func aFilterIsMadeOfRows() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        try await site.sql(
            """
            UPDATE pushmta_engine.application SET subscription_parameters = '[{"name": "tier", "column": "parameters.tier"}]'
            """
        )
        let (mia, draft) = try await saleDraft(site)
        func filter() async throws -> String {
            let page = try await mia.get("\(draft)/target").text
            return page.firstMatch(of: /<textarea id="filter"[^>]*>([^<]*)</).map { String($0.1) } ?? "none"
        }
        func rows(_ rows: [(String, String, String)], _ more: [String: String]) async throws -> ConsoleAnswer {
            var form = ["join": "and", "filter": "", "made": "", "go": "stay"]
            for (place, row) in rows.enumerated() {
                form["row.\(place).field"] = row.0
                form["row.\(place).is"] = row.1
                form["row.\(place).value"] = row.2
            }
            return try await save(mia, draft, "target", form.merging(more) { _, new in new })
        }
        // An empty filter has one empty row, with all fields to choose from.
        let page = try await mia.get("\(draft)/target").text
        #expect(page.contains(#"name="row.0.field" value="""#) && page.contains(#"<option value="parameters.tier">"#))
        #expect(page.contains(#"<option value="registered_at">"#) && page.contains(#"value="add""#))
        // A row is added without a script; an empty row is not a test.
        _ = try await rows([("locale", "=", "fr")], ["go": "add"])
        #expect(try await mia.get("\(draft)/target").text.contains(#"name="row.1.field" value="""#))
        let made = "locale = &#39;fr&#39;"
        #expect(try await filter() == made)
        let both = [("locale", "=", "fr"), ("parameters.tier", "in", "gold, silver")]
        _ = try await rows(both, ["join": "or", "filter": "locale = 'fr'", "made": "locale = 'fr'"])
        #expect(try await filter() == made + " or parameters.tier in (&#39;gold&#39;, &#39;silver&#39;)")
        // The problem of a wrong row is shown at the row, and the draft stays at this step.
        let text = "locale = 'fr' or parameters.tier in ('gold', 'silver')"
        let wrong = [both[0], ("registered_at", "<", "soon")]
        let answer = try await rows(wrong, ["filter": text, "made": text, "go": "next"])
        #expect(answer.headers[.location] == "\(draft)/target?saved=1")
        let shown = try await mia.get("\(draft)/target?saved=1").text
        #expect(shown.contains(#"id="rule-2-problem" role="alert">registered_at is a time"#), "\(shown)")
        #expect(shown.contains(#"value="soon""#) && !shown.contains(#"id="rule-1-problem""#))
        #expect(try await mia.get("\(draft)/send").text.contains("The filter of the target is wrong."))
        // A row is removed. A text that the user changed is used, and may express more than rows can.
        let now = "locale = 'fr' and registered_at < 'soon'"
        _ = try await rows(wrong, ["filter": now, "made": now, "go": "remove.1"])
        #expect(try await filter() == made)
        let nested = "locale = 'fr' and (user_key is null or enabled = true)"
        _ = try await rows([both[0]], ["filter": nested, "made": "locale = 'fr'"])
        #expect(try await filter() == "locale = &#39;fr&#39; and (user_key is null or enabled = true)")
        let byHand = try await mia.get("\(draft)/target").text
        #expect(byHand.contains("written as text") && !byHand.contains("row.0.field"))
        // If the form has no rows, the text stays.
        _ = try await save(mia, draft, "target", ["filter": nested, "go": "stay"])
        #expect(try await mia.get("\(draft)/send").text.contains("user_key is null"))
        await site.close()
    }

    @Test func draftsAreTheirWritersOwn() async throws {
        let site = try await ConsoleSite.start()
        let mia = try await site.session(.marketing, name: "mia")
        let max = try await site.session(.marketing, name: "max")
        let oda = try await site.session(.operate, name: "oda")
        let draft = try await begin(mia, "Secret sale")
        #expect(try await max.get("\(draft)/content").status == .notFound)
        #expect(try await !max.get("/compose").text.contains("Secret sale"))
        #expect(try await max.post("\(draft)/remove").status == .notFound)
        #expect(try await oda.get("/compose").text.contains("Secret sale"))
        // Saving an older version is refused, and nothing is lost.
        _ = try await save(oda, draft, "applications", ["label": "Changed"])
        let late = try await mia.post("\(draft)/applications", form: ["label": "Late", "version": "1"])
        #expect(late.status == .conflict && late.text.contains("href=\"\(draft)/applications\">Open the draft again"))
        #expect(try await mia.get("\(draft)/applications").text.contains("Changed"))
        #expect(try await max.get("\(draft)/remove").status == .notFound)
        #expect(try await mia.get("\(draft)/remove").text.contains("Remove this draft?"))
        #expect(try await mia.post("\(draft)/remove").headers[.location] == "/compose?done=remove")
        await site.close()
    }

    @Test func countingEndsInTime() async throws {
        let site = try await ConsoleSite.start()
        let connection = try await site.database.connect()
        try await connection.run(
            script: """
                INSERT INTO pushmta_engine.subscription (application_id, push_token, locale)
                    SELECT a.id, lpad(n::text, 64, 'a'), CASE WHEN n % 2 = 0 THEN 'fr' ELSE 'de' END
                    FROM pushmta_engine.application a, generate_series(1, 12000) n
                """
        )
        await connection.close()
        let applications = try await site.admin.applications().map(\.id)
        let all = try await site.admin.countAudience(nil, applications: applications, within: .seconds(600))
        #expect(all.count == 12_000 && all.error == nil && all.excluded == 0)
        let some = try await site.admin.countAudience(
            site.admin.parseFilter("locale = 'fr'").get(),
            applications: applications,
            within: .seconds(600)
        )
        #expect(some.count == 6_000)
        // Without any time for counting, the number is estimated, with its error.
        let hasty = try await site.admin.countAudience(nil, applications: applications, within: .zero)
        let error = try #require(hasty.error)
        #expect(abs(hasty.count - 12_000) <= 3 * error, "\(hasty)")
        await site.close()
    }

    /// The author of a delivery is the first to notice a mistake in it.
    @Test func anAuthorPausesAndStopsWhatHeHasStarted() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        let (mia, draft) = try await saleDraft(site)
        _ = try await save(mia, draft, "content", ["ios.title": "Hello"])
        let send = try await mia.get("\(draft)/send").text
        let version = send.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        // A past time is refused both before and after the confirmation.
        let past = "2026-01-02T03:04"
        #expect(try await mia.get("\(draft)/start?when=later&at=\(past)").text.contains("is in the past: it is"))
        let late = try await mia.post("\(draft)/start", form: ["version": version, "at": past])
        #expect(late.text.contains("the database") && late.text.contains("that is in the past"))
        // A time that does not exist is refused.
        for none in ["2036-11-29T99:00", "2036-11-29T23:61", "2036-02-31T10:00", "2036-11-29T24:00"] {
            let words = "Give a start time."
            #expect(try await mia.get("\(draft)/start?when=later&at=\(none)").text.contains(words), "\(none)")
            #expect(try await mia.post("\(draft)/start", form: ["version": version, "at": none]).status == .conflict)
        }
        #expect(try await mia.get("\(draft)/start?when=now").text.contains("Counted just now."))
        let started = try await mia.post("\(draft)/start", form: ["version": version])
        let delivery = try #require(
            started.headers[.location]?.firstMatch(of: /^\/deliveries\/(\d+)/).flatMap { Int64($0.1) }
        )
        let page = "/deliveries/\(delivery)"
        let eve = try await site.session(.marketing, name: "eve")
        let theirs = try await eve.get(page).text
        #expect(!theirs.contains("\(page)/pause") && !theirs.contains("\(page)/stop"))
        for action in ["pause", "stop"] { #expect(try await eve.post("\(page)/\(action)").status == .forbidden) }
        let own = try await mia.get(page).text
        #expect(own.contains("\(page)/pause") && own.contains("\(page)/stop"))
        #expect(try await mia.post("\(page)/pause").status == .seeOther)
        #expect(try await site.admin.deliveryProgress(delivery).state == .paused)
        // She can resume what she paused herself, or edit it as it has not begun, but not what an operator paused.
        let paused = try await mia.get(page).text
        #expect(paused.contains("\(page)/resume") && paused.contains("\(page)/edit"))
        #expect(!paused.contains("\(page)/recall"), "nothing has left")
        #expect(try await mia.post("\(page)/resume").status == .seeOther)
        let operate = try await site.session(.operate)
        #expect(try await operate.post("\(page)/pause").status == .seeOther)
        #expect(try await mia.post("\(page)/pause").status == .seeOther)
        #expect(try await !mia.get(page).text.contains("\(page)/edit"))
        #expect(try await mia.post("\(page)/resume").status == .forbidden)
        #expect(try await mia.post("\(page)/edit").status == .forbidden)
        #expect(try await mia.post("\(page)/stop").status == .seeOther)
        #expect(try await site.admin.deliveryProgress(delivery).state == .stopped)
        await site.close()
    }

    /// A problem found by the preparation is corrected in the composer.
    @Test func aDeliveryThatComesBackIsADraftAgain() async throws {
        let site = try await ConsoleSite.start()
        try await ready(site)
        let (mia, draft) = try await saleDraft(site)
        _ = try await save(mia, draft, "content", ["ios.title": "Hello"])
        func start() async throws -> Int64 {
            let page = try await mia.get("\(draft)/send").text
            let version = page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
            let answer = try await mia.post("\(draft)/start", form: ["version": version])
            let path = answer.headers[.location] ?? ""
            return try #require(path.firstMatch(of: /^\/deliveries\/(\d+)/).flatMap { Int64($0.1) }, "\(answer.text)")
        }
        let first = try await start()
        #expect(try await mia.get("\(draft)/content").headers[.location] == "/deliveries/\(first)")
        #expect(try await site.admin.returnDelivery(first, reason: "the content is too long") == .editing)
        #expect(try await mia.get("/deliveries/\(first)").text.contains("the content is too long"))
        #expect(try await mia.get("\(draft)/content").text.contains("Hello"))
        // Unchanged or changed, the draft starts the same delivery.
        #expect(try await start() == first)
        #expect(try await site.admin.returnDelivery(first, reason: "still") == .editing)
        _ = try await save(mia, draft, "content", ["ios.title": "Hi"])
        #expect(try await start() == first)
        #expect(try await site.admin.deliveryProgress(first).state == .pending)
        await site.close()
    }

    @Test func draftsAreDatedInTheZoneOfTheService() async throws {
        let site = try await ConsoleSite.start()
        try await site.sql("UPDATE pushmta_engine.service SET time_zone = 'Asia/Kolkata'")
        let (mia, draft) = try await saleDraft(site)
        let row = try #require(try await mia.get("/compose").text.split(separator: "<tr>").first { $0.contains(draft) })
        #expect(row.contains(/\d\d:\d\d Asia\/Kolkata/) && !row.contains("UTC"), "\(row)")
        await site.close()
    }

    @Test func marketingMayNotOperate() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        let mia = try await site.session(.marketing, name: "mia")
        #expect(try await mia.post("/deliveries/\(delivery)/stop").status == .forbidden)
        #expect(try await !mia.get("/deliveries/\(delivery)").text.contains("/pause"))
        let reader = try await site.session(.read)
        #expect(try await !reader.get("/").text.contains("/compose"))
        #expect(try await mia.get("/").text.contains("/compose"))
        await site.close()
    }

    @Test func phonesShowWhatThePayloadSays() throws {
        let ios = try JSONValue(
            parsing: #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"badge":2,"category":"C"}}"#.utf8
        )
        let phone = PhoneMessage(ios, .ios)
        #expect(phone.title == "T" && phone.subtitle == "S" && phone.body == "B" && phone.badge == "2")
        #expect(phone.category == "C" && phone.isShown)
        let silent = try JSONValue(parsing: #"{"aps":{"content-available":1}}"#.utf8)
        #expect(!PhoneMessage(silent, .ios).isShown)
        let android = try JSONValue(
            parsing: #"{"message":{"android":{"notification":{"title":"T","body":"B","image":"https://e/i.png"}}}}"#
                .utf8
        )
        let other = PhoneMessage(android, .android)
        #expect(other.title == "T" && other.body == "B" && other.image == "https://e/i.png")
    }
}
