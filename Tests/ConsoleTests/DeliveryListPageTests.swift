import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// The list of deliveries: its links, what is done to several rows, the comparison, and the approvals.
@Suite struct DeliveryListPageTests {
    /// A delivery that has ended.
    private func ended(_ site: ConsoleSite, _ label: String, sent: Int64 = 100, clicked: Int64 = 0) async throws
        -> Int64
    {
        let id = try await site.delivery(label)
        try await site.sql(
            """
            UPDATE pushmta_engine.delivery SET state = 'finished', finished_at = now(), started_at = now(), prepared = true,
                target = 200 WHERE id = \(id);
            INSERT INTO pushmta_engine.delivery_sum (delivery_id, parts, made, sent) VALUES (\(id), 1, 200, \(sent));
            INSERT INTO pushmta_engine.delivery_statistic
                (delivery_id, hour, n, application_id, measure, failure, app_version, locale, reason)
            SELECT \(id), now(), v.n, 1, v.measure, -1, '', '', ''
            FROM (VALUES (\(sent), 1), (\(clicked), 21)) v(n, measure) WHERE v.n > 0
            """
        )
        return id
    }

    private func shown(_ browser: ConsoleBrowser, _ path: String) async throws -> [Int64] {
        try await browser.get(path).text.matches(of: /<th scope="row"><a href="\/deliveries\/(\d+)"/)
            .compactMap { Int64($0.1) }
    }

    @Test func aLinkKeepsFilterOrderAndPlace() async throws {
        let site = try await ConsoleSite.start()
        var ids: [Int64] = []
        for number in 0..<27 { ids.append(try await ended(site, "Sale \(number)", clicked: Int64(number))) }
        let reader = try await site.session(.read)
        let sorted = "/deliveries?text=sale&service=shop&sort=click_rate"
        let first = try await reader.get(sorted).text
        #expect(try await shown(reader, sorted) == Array(ids.reversed().prefix(25)))
        #expect(first.contains(#"value="click_rate""#) && first.contains("26 %") && first.contains("UTC"))
        #expect(first.contains(#"<option value="shop" selected>"#))
        let next = String(try #require(first.firstMatch(of: /href="(\/deliveries\?[^"]*after=[^"]+)"/)).1)
        #expect(next.contains("text=sale") && next.contains("service=shop") && next.contains("sort=click_rate"))
        #expect(try await shown(reader, next.replacing("&amp;", with: "&")) == [ids[1], ids[0]])
        // What cannot be read is left out, and said.
        let wrong = try await reader.get("/deliveries?since=yesterday&after=x~y&sort=size&state=none&archived=x")
        #expect(wrong.status == .ok && wrong.text.contains(Catalogue.english[.recurrenceDateWrong]))
        #expect(try await shown(reader, "/deliveries?since=2036-01-01") == [])
        #expect(try await shown(reader, "/deliveries?until=9999-12-31&after=9999999999999999999~1").count == 25)
        await site.close()
    }

    @Test func aTargetThatIsNotCountedIsADash() async throws {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(7)
        let id = try await site.admin.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        let reader = try await site.session(.read)
        func target() async throws -> String {
            let page = try await reader.get("/deliveries").text
            return page.firstMatch(of: /data-label="Target">([^<]*)</).map { String($0.1) } ?? ""
        }
        #expect(try await target() == "–")
        try await site.admin.analyzeDelivery(id)
        #expect(try await target() == "–", "it is being counted")
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !site.admin.prepareChunk(job).done {}
        _ = try await site.admin.endAnalysis(of: job, AnalysisFindings())
        #expect(try await target() == "7")
        try await site.sql("DO $$ BEGIN PERFORM pushmta.start_delivery(\(id), now() + interval '2 days'); END $$")
        #expect(try await site.value("SELECT target FROM pushmta_engine.delivery WHERE id = \(id)") == "0")
        #expect(try await target() == "7", "its messages are made again, and its approval is for so many")
        try await site.admin.rescheduleDelivery(id, to: nil)
        #expect(try await target() == "–", "it was taken back")
        await site.close()
    }

    @Test func severalAreArchivedAndShownAgain() async throws {
        let site = try await ConsoleSite.start()
        let open = try await site.delivery("Open")
        let over = [try await ended(site, "a"), try await ended(site, "b")]
        let mia = try await site.session(.marketing, name: "mia")
        let page = try await mia.get("/deliveries?text=&sort=sent").text
        #expect(page.contains(#"name="chosen.\#(open)""#) && page.contains(#"value="archive""#))
        let reader = try await site.session(.read)
        #expect(try await !reader.get("/deliveries").text.contains(#"value="archive""#))
        var form = ["go": "archive", "query": "text=&state=finished&after=1~1"]
        for id in over + [open] { form["chosen.\(id)"] = "yes" }
        #expect(try await reader.post("/deliveries/several", form: form).status == .forbidden)
        let done = try #require(try await mia.post("/deliveries/several", form: form).headers[.location])
        #expect(done == "/deliveries?state=finished&done=archive&n=2&of=3")
        #expect(try await mia.get(done).text.contains("Archived: 2 of 3"))
        #expect(try await shown(mia, "/deliveries") == [open])
        #expect(try await shown(mia, "/deliveries?state=archived") == Array(over.reversed()))
        form["go"] = "unarchive"
        // A query that leads elsewhere is dropped.
        form["query"] = "//evil.example/?state=archived\r\nX: y"
        let back = try #require(try await mia.post("/deliveries/several", form: form).headers[.location])
        #expect(back.hasPrefix("/deliveries?") && !back.contains("evil") && !back.contains("\r"))
        #expect(try await shown(mia, "/deliveries").count == 3)
        // The page of one asks first.
        let path = "/deliveries/\(over[0])/archive"
        #expect(try await mia.get("/deliveries/\(over[0])").text.contains("href=\"\(path)\""))
        #expect(try await mia.get(path).text.contains("Archive this delivery?"))
        let result = try #require(try await mia.post(path).headers[.location])
        #expect(result == "/deliveries/\(over[0])?done=archive")
        #expect(try await mia.get(result).text.contains("The delivery is archived."))
        #expect(try await mia.get(path).text.contains("Show this delivery in lists again?"))
        #expect(try await mia.post("/deliveries/\(open)/archive").status == .conflict)
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("archived a delivery") && audit.contains("showed an archived delivery"))
        await site.close()
    }

    @Test func twoAreComparedInWords() async throws {
        let site = try await ConsoleSite.start()
        let first = try await ended(site, "Morning", sent: 80, clicked: 48)
        let second = try await ended(site, "Evening", sent: 70, clicked: 56)
        let reader = try await site.session(.read)
        let chosen = ["go": "compare", "chosen.\(first)": "yes"]
        // Too few rows: the list says it, as it was.
        let alone = chosen.merging(["query": "text=Morn&after=253402300800000000~9"]) { _, new in new }
        let refused = try #require(try await reader.post("/deliveries/several", form: alone).headers[.location])
        #expect(refused == "/deliveries?text=Morn&after=253402300800000000~9&refused=compare&rows=\(first)")
        let list = try await reader.get(refused).text
        #expect(list.contains(Catalogue.english[.chooseTwo]), "\(list)")
        #expect(list.contains(#"name="chosen.\#(first)" value="yes" checked>"#), "\(list)")
        let both = chosen.merging(["chosen.\(second)": "yes"]) { _, new in new }
        let path = try #require(try await reader.post("/deliveries/several", form: both).headers[.location])
        #expect(path == "/deliveries/compare?a=\(first)&b=\(second)")
        let page = try await reader.get(path).text
        for words in [
            "Morning", "Evening", "60 %", "80 %", "20.0 points higher (95 % interval: 5.2 to 33.4)",
            "no clear difference: −5.0 points",
            "ios.title", "the same",
        ] {
            #expect(page.contains(words), "\(words)")
        }
        let turned = try await reader.get("/deliveries/compare?a=\(second)&b=\(first)").text
        #expect(turned.contains("20.0 points lower (95 % interval: 5.2 to 33.4)"))
        #expect(!page.contains("has not ended"))
        let open = try await site.delivery()
        let early = try await reader.get("/deliveries/compare?a=\(first)&b=\(open)").text
        #expect(early.contains("Delivery \(open) (") && early.contains("has not ended"), "\(early)")
        #expect(turned.contains("no clear difference: 5.0 points"))
        let asked = try await reader.get("/deliveries/compare?a=\(first)").text
        #expect(asked.contains("href=\"\(path.replacing("&", with: "&amp;"))\""), "\(asked)")
        #expect(try await reader.get("/deliveries/\(first)").text.contains("/deliveries/compare?a=\(first)\""))
        let typed = try await reader.get("/deliveries/compare?a=\(first)&b=abc")
        #expect(typed.status == .unprocessableContent && typed.text.contains(#"value="abc""#))
        #expect(typed.text.contains(Catalogue.english[.compareNumberWrong]))
        // As on their pages.
        try await site.sql("UPDATE pushmta_engine.service SET time_zone = 'Asia/Kolkata'")
        let zoned = try await reader.get(path).text
        #expect(zoned.contains(" Asia/Kolkata</bdi>") && !zoned.contains(" UTC</bdi>"), "\(zoned)")
        for wrong in ["", "?a=x", "?a=\(first)&b=999", "?a=999"] {
            #expect(try await reader.get("/deliveries/compare\(wrong)").status == .notFound, "\(wrong)")
        }
        await site.close()
    }

    @Test func aDuplicateHasTheSeedsAndTheExperimentOfItsOriginal() async throws {
        let site = try await ConsoleSite.start()
        try await site.sql(
            "SELECT pushmta.add_seed(name => 'ada', application => 'shop-ios', push_token => repeat('ab', 32))"
        )
        let id = try await site.admin.createDelivery(
            NewDelivery(
                label: "Sale",
                applications: ["shop-ios"],
                content: #"{"ios": {"title": "Hi", "body": "All day"}, "locales": {"fr": {"ios": {"title": "Salut"}}}}"#
            )
        )
        func experiment(_ other: String) -> String {
            """
            SELECT pushmta.set_experiment(\(id), '[{"percent": 10}, {"percent": 33.333, "content": \(other)}]',
                decide_after => interval '90 minutes', hold_out_percent => 5, early => false)
            """
        }
        try await site.sql("SELECT pushmta.set_seeds(\(id), '{ada}')")
        try await site.sql(
            experiment(#"{"ios": {"title": "Yo", "body": "All day"}, "locales": {"fr": {"ios": {"title": "Coucou"}}}}"#)
        )
        let mia = try await site.session(.marketing, name: "mia")
        let form = ["go": "duplicate", "chosen.\(id)": "yes"]
        let made = try await mia.post("/deliveries/several", form: form)
        let draft = try #require(made.headers[.location], "\(made.text)").replacing("/applications", with: "")
        let page = try await mia.get("\(draft)/experiment").text
        for (name, value) in [
            ("1.percent", "10"), ("2.percent", "33.3330"), ("2.title", "Yo"), ("2.title.fr", "Coucou"),
            ("hours", "1.5"),
            ("hold_out", "5"), ("sample", "1000"),
        ] {
            #expect(page.contains(#"name="experiment.\#(name)" type="text" value="\#(value)""#), "\(name): \(page)")
        }
        #expect(!page.contains(#"name="experiment.2.body" type="text" value="All day""#))
        let send = try await mia.get("\(draft)/send").text
        #expect(send.contains("get the delivery, too, but only: ada") && send.contains("2 variants"))
        // What a draft cannot say is not lost without a question.
        try await site.sql(experiment(#"{"ios": {"title": "Yo", "body": "All day", "badge": 3}}"#))
        let question = try await mia.post("/deliveries/several", form: form)
        let plain = "/deliveries/\(id)/duplicate?variants=none"
        #expect(question.status == .conflict && question.text.contains(#"action="\#(plain)""#), "\(question.text)")
        let copy = try #require(try await mia.post(plain).headers[.location]).replacing("/applications", with: "")
        #expect(try await mia.get("\(copy)/content").text.contains(#"name="ios.title" value="Hi""#))
        #expect(try await !mia.get("\(copy)/send").text.contains("2 variants"))
        await site.close()
    }

    @Test func theNamedSeedAddressesBecomeThoseOfTheNewDelivery() {
        let settings = #"{"seeds": ["ada", "bob"], "all_seeds": false, "priority": 3}"#
        let values = SettingsForm.values(json: settings)
        let form = SettingsForm(values: values, catalogue: .english)
        #expect(!form.isWrong && form.json.contains(#""seeds":["ada","bob"]"#), "\(form.json)")
        #expect(form.json.contains(#""all_seeds":false"#) && form.json.contains(#""priority":3"#))
        var none = values
        none["settings.all_seeds"] = nil
        #expect(!SettingsForm(values: none, catalogue: .english).json.contains("seeds"))
        none["settings.all_seeds"] = "true"
        #expect(SettingsForm(values: none, catalogue: .english).json == #"{"priority":3,"all_seeds":true}"#)
    }

    @Test func whatWaitsForAnApprovalIsListedAndCounted() async throws {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(7)
        try await site.admin.setApprovalRule(service: "shop", above: 3)
        let mia = try await site.session(.marketing, name: "mia")
        #expect(try await mia.get("/approvals").text.contains("No delivery waits for an approval."))
        let id = try await site.admin.createDelivery(
            NewDelivery(label: "Big sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await site.sql(
            "INSERT INTO pushmta_engine.delivery_maker (delivery_id, kind, name) VALUES (\(id), 'console', 'mia')"
        )
        try await site.admin.analyzeDelivery(id)
        while let job = try await site.admin.claimDeliveriesToPrepare(host: "a").first {
            while try await !site.admin.prepareChunk(job).done {}
            _ = try await site.admin.endAnalysis(of: job, AnalysisFindings())
        }
        // The number in the menu may be five seconds old.
        await site.responder.approvals.forget()
        let page = try await mia.get("/approvals").text
        for words in [
            "Big sale", ">needs approval<", "Somebody else has to approve it",
            "href=\"/deliveries/\(id)#approval-title\"",
        ] {
            #expect(page.contains(words), "\(words)")
        }
        #expect(!page.contains("need the approval"), "the list is about nothing else")
        // Who approves a replacement reads why.
        let recalled = try await site.admin.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await site.sql(
            """
            INSERT INTO pushmta_engine.recall (delivery_id, mode, reason, kind, name, child_id)
            VALUES (\(recalled), 'replace', 'Wrong price', 'login', 'a', \(id))
            """
        )
        let why = "<span>Recall of delivery \(recalled): Wrong price</span>"
        #expect(try await mia.get("/approvals").text.contains(why))
        try await site.sql("DELETE FROM pushmta_engine.recall")
        // Its start, in the zone of its service, and the time of its plan.
        try await site.sql(
            """
            UPDATE pushmta_engine.delivery SET validity = '10 days' WHERE id = \(id);
            DO $$ BEGIN
                PERFORM pushmta.set_service_hours('shop', '{"time_zone": "Europe/Berlin"}');
                PERFORM pushmta.set_local_time(\(id), current_date + interval '40 days 9 hours', 'next_day');
                PERFORM pushmta.analyze_delivery(\(id));
            END $$
            """
        )
        while let job = try await site.admin.claimDeliveriesToPrepare(host: "a").first {
            while try await !site.admin.prepareChunk(job).done {}
            _ = try await site.admin.endAnalysis(of: job, AnalysisFindings())
        }
        let begins = try await site.admin.databaseClock().advanced(byMilliseconds: 38 * 86_400_000)
        try await site.admin.requestApproval(ofDelivery: id, startAt: begins.internetText)
        await site.responder.approvals.forget()
        let shown = try #require(try await site.admin.clock(ofZone: "Europe/Berlin")?.text(at: begins))
        let planned = try await mia.get("/approvals").text
        let start = "\(shown.prefix(10)) \(shown.dropFirst(11).prefix(5)) Europe/Berlin · "
        #expect(planned.contains(start) && planned.contains(" 09:00 (Local time)"), "\(planned)")
        let eve = try await site.session(.marketing, name: "eve")
        let others = try await eve.get("/approvals").text
        #expect(!others.contains("Somebody else has to approve it"))
        // One's own wait for somebody else.
        #expect(others.contains("One delivery waits for an approval"))
        #expect(!page.contains("One delivery waits for an approval"))
        let reader = try await site.session(.read)
        #expect(try await reader.get("/approvals").status == .forbidden)
        #expect(try await !reader.get("/").text.contains("/approvals"))
        await site.close()
    }

    @Test func listsAndSeedsLeadToTheirDeliveries() async throws {
        let site = try await ConsoleSite.start()
        try await site.sql(
            "SELECT pushmta.add_seed(name => 'ada b', application => 'shop-ios', push_token => repeat('ab', 32))"
        )
        try await site.sql("SELECT pushmta.create_exclusion_list('com plaints')")
        let plain = try await site.delivery("Plain")
        let id = try await site.admin.createDelivery(
            NewDelivery(label: "Rich", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await site.sql("SELECT pushmta.set_target(\(id), exclude => '{com plaints}')")
        try await site.sql("SELECT pushmta.set_seeds(\(id), '{ada b}')")
        let mia = try await site.session(.marketing, name: "mia")
        let list = try #require(Int64(try await site.value("SELECT max(id) FROM pushmta_engine.exclusion_list")))
        for (page, path) in [
            ("/seeds", "/deliveries?seed=ada%20b"), ("/exclusions/\(list)", "/deliveries?list=com%20plaints"),
        ] {
            #expect(try await mia.get(page).text.contains("href=\"\(path)\""), "\(page)")
            #expect(try await shown(mia, path) == [id])
            #expect(try await mia.get(path).text.contains("Only deliveries that"))
        }
        #expect(try await shown(mia, "/deliveries") == [id, plain])
        await site.close()
    }
}
