import Foundation
import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// A delivery that is analysed before its start, whose start is moved, that is edited again, and that is duplicated.
@Suite struct AnalysisPageTests {
    /// A draft to seven subscribers that could be started, and its author's browser.
    func saleDraft(_ site: ConsoleSite) async throws -> (mia: ConsoleBrowser, draft: String) {
        try await site.sql(
            """
            INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed) VALUES ('apns_key', 'c', 'k', 'x');
            UPDATE pushmta_engine.application SET credential_id = (SELECT max(id) FROM pushmta_engine.credential);
            INSERT INTO pushmta_engine.subscription (application_id, push_token, locale, time_zone)
                SELECT a.id, lpad(n::text, 64, 'a'), CASE WHEN n <= 3 THEN 'fr' ELSE 'de' END, 'Europe/Paris'
                FROM pushmta_engine.application a, generate_series(1, 7) n
            """
        )
        try await site.admin.addTemplate(
            name: "sale",
            label: "",
            content: #"{"ios": {"title": "Hello"}}"#,
            settings: #"{"messages_per_second": 0.5}"#,
            target: TemplateTarget(applications: ["shop-ios"])
        )
        let mia = try await site.session(.marketing, name: "mia")
        let begun = try await mia.post("/compose", form: ["label": "Sale", "template": "sale"])
        return (mia, try #require(begun.headers[.location]).replacing("/applications", with: ""))
    }

    /// The same draft, analysed; its delivery, and the path of that.
    func analysedSale(_ site: ConsoleSite) async throws
        -> (mia: ConsoleBrowser, draft: String, id: Int64, path: String)
    {
        let (mia, draft) = try await saleDraft(site)
        let id = try await analyse(mia, draft)
        try await prepare(site, AnalysisFindings())
        return (mia, draft, id, "/deliveries/\(id)")
    }

    /// A delivery whose approval is requested for a day to come, and its author's browser.
    private func requestedSale(_ site: ConsoleSite) async throws -> (mia: ConsoleBrowser, id: Int64, path: String) {
        let (mia, draft) = try await saleDraft(site)
        try await site.sql("SELECT pushmta.set_approval_rule(v.name, 3) FROM pushmta_engine.service v")
        let id = try await analyse(mia, draft)
        try await prepare(site, AnalysisFindings())
        let path = "/deliveries/\(id)"
        let asked = try await mia.post("\(path)/request", form: ["at": "2036-01-02T03:04"])
        #expect(asked.headers[.location] == "\(path)?done=request", "\(asked.text)")
        return (mia, id, path)
    }

    func version(_ browser: ConsoleBrowser, _ draft: String) async throws -> String {
        let page = try await browser.get("\(draft)/send").text
        return page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
    }

    /// Has a draft analysed; returns its delivery.
    func analyse(_ browser: ConsoleBrowser, _ draft: String) async throws -> Int64 {
        let form = ["version": try await version(browser, draft)]
        let answer = try await browser.post("\(draft)/analyse", form: form)
        let path = answer.headers[.location] ?? ""
        return try #require(path.firstMatch(of: /^\/deliveries\/(\d+)$/).flatMap { Int64($0.1) }, "\(answer.text)")
    }

    /// Prepares a delivery as a supervisor does, and ends its analysis.
    func prepare(_ site: ConsoleSite, _ findings: AnalysisFindings) async throws {
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !site.admin.prepareChunk(job).done {}
        _ = try await site.admin.endAnalysis(of: job, findings)
    }

    @Test func theListFindsWhatSomebodyHasToApprove() async throws {
        let site = try await ConsoleSite.start()
        let other = try await site.delivery("Other")
        try await site.sql("UPDATE pushmta_engine.delivery SET start_at = now() + interval '1 day' WHERE id = \(other)")
        let (mia, draft) = try await saleDraft(site)
        try await site.sql("SELECT pushmta.set_approval_rule(v.name, 3) FROM pushmta_engine.service v")
        let id = try await analyse(mia, draft)
        try await prepare(site, AnalysisFindings())
        func listed() async throws -> [Bool] {
            var listed: [Bool] = []
            for state in ["needs_approval", "awaits_approval"] {
                let page = try await mia.get("/deliveries?state=\(state)").text
                #expect(page.contains(#"<option value="\#(state)" selected>"#), "\(page)")
                #expect(!page.contains("href=\"/deliveries/\(other)\""))
                listed.append(page.contains("href=\"/deliveries/\(id)\""))
            }
            return listed
        }
        #expect(try await listed() == [true, false])
        _ = try await mia.post("/deliveries/\(id)/request", form: ["at": "2036-01-02T03:04"])
        #expect(try await listed() == [false, true])
        await site.close()
    }

    @Test func aDraftIsAnalysedAndThenStarted() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        #expect(try await mia.get("\(draft)/send").text.contains("formaction=\"\(draft)/analyse\""))
        let id = try await analyse(mia, draft)
        let path = "/deliveries/\(id)"
        let running = try await mia.get(path).text
        #expect(running.contains("being made and counted") && running.contains("\(path)/live?state=analysing"))
        #expect(try await mia.get("\(draft)/content").headers[.location] == path)
        var findings = AnalysisFindings()
        findings.add(bytes: 120)
        findings.add(bytes: 340)
        findings.samples = [
            AnalysisFindings.Sample(
                application: "shop-ios",
                subscriptionID: 3,
                locale: "fr",
                bytes: 120,
                limit: 4_096,
                payload: #"{"aps": "Ada"}"#
            )
        ]
        try await prepare(site, findings)
        #expect(try await mia.live("\(path)/live?state=analysing") == LiveEvent.changed.text)
        let ready = try await mia.get(path).text
        for words in [
            "<bdi>2 for 7 messages</bdi>", "<bdi>120 to 340 bytes</bdi>", "<bdi>14 s</bdi>",
            "<bdi>delivery: 0.5 messages a second</bdi>",
            #"<bdi>Europe/Paris</bdi></th><td class="right number">7</td>"#,
            #"<bdi>de</bdi></th><td class="right number">4</td>"#, "\(path)/start", "\(path)/edit",
        ] {
            #expect(ready.contains(words), "\(words)")
        }
        // Samples have values of people.
        let operate = try await site.session(.operate)
        let samples = try await operate.get(path).text
        #expect(!ready.contains("&quot;Ada&quot;"))
        #expect(samples.contains("&quot;Ada&quot;") && samples.contains("/subscribers/3"), "\(samples)")
        let reader = try await site.session(.read).get(path).text
        #expect(reader.contains("120 to 340") && !reader.contains("&quot;Ada&quot;"))
        #expect(!reader.contains("\(path)/start"))
        let eve = try await site.session(.marketing, name: "eve")
        #expect(try await !eve.get(path).text.contains("\(path)/start"))
        #expect(try await eve.post("\(path)/start").status == .forbidden)
        let question = try await mia.get("\(path)/start").text
        #expect(question.contains("Start this delivery?") && question.contains("7 messages are prepared."))
        #expect(try await mia.post("\(path)/start").headers[.location] == "\(path)?done=start")
        #expect(try await site.admin.deliveryProgress(id).state == .preparing)
        #expect(try await mia.get(path).text.contains("\(path)/pause"))
        let audit = try await site.session(.admin).get("/audit").text
        for words in ["had a delivery analysed", "looked at samples of a delivery", "started a delivery"] {
            #expect(audit.contains(words), "\(words)")
        }
        await site.close()
    }

    @Test func theTimeThatSendingTakesIncludesThePlan() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        let version = try await version(mia, draft)
        let waves = ["version": version, "plan.wave.0.size": "50 %", "plan.rest.begins": "1h", "go": "next"]
        _ = try await mia.post("\(draft)/when", form: waves)
        let id = try await analyse(mia, draft)
        var findings = AnalysisFindings()
        findings.add(bytes: 120)
        try await prepare(site, findings)
        let ready = try await mia.get("/deliveries/\(id)").text
        for words in [
            "Minimum sending time", "<bdi>1 h 0 min</bdi>", "Last message leaves no earlier than",
            "Wave 2 begins at ",
        ] {
            #expect(ready.contains(words), "\(words)")
        }
        let question = try await mia.get("/deliveries/\(id)/start").text
        for words in ["50 % · The rest", "7 messages are prepared. Its plan says when messages leave."] {
            #expect(question.contains(words), "\(words)")
        }
        // The rate says nothing about the second wave.
        try await site.admin.startDelivery(id)
        while let job = try await site.admin.claimDeliveriesToPrepare(host: "a").first {
            while try await !site.admin.prepareChunk(job).done {}
        }
        let facts = try await DeliveryFacts.read(site.admin, id, daysBelow: .max)
        let view = DeliveryView(facts: facts, rate: 5, isLater: false, catalogue: .english, meanings: { _ in nil })
        let left = try #require(view.timeLeft(5))
        #expect(left.contains(/^at least (59 min|1 h) .*: \d messages wait for their time$/), "\(left)")
        await site.close()
    }

    @Test func aStartThatThePlanForbidsIsRefusedBeforeItIsConfirmed() async throws {
        let site = try await ConsoleSite.start()
        try await site.sql("UPDATE pushmta_engine.service SET time_zone = 'Asia/Kolkata'")
        let (mia, draft) = try await saleDraft(site)
        var form = ["plan.wave.0.size": "50 %", "plan.rest.begins": "2h", "go": "next"]
        form["version"] = try await version(mia, draft)
        _ = try await mia.post("\(draft)/when", form: form)
        form = ["settings.validity_seconds": "1", "settings.validity_unit": "hours", "go": "stay"]
        form["version"] = try await version(mia, draft)
        _ = try await mia.post("\(draft)/send", form: form)
        let words = "before its wave 2 begins"
        let tomorrow = Date(timeIntervalSinceNow: 86_400).formatted(.iso8601).prefix(10)
        let later = "at=\(tomorrow)T18:00&zone=Asia/Kolkata"
        let ends = "ends at \(tomorrow) 19:00:00 Asia/Kolkata, before"
        for (time, expected) in [("when=now", words), ("when=later&\(later)", ends)] {
            let refused = try await mia.get("\(draft)/start?\(time)")
            #expect(refused.status == .conflict && refused.text.contains(expected), "\(refused.text)")
            #expect(!refused.text.contains("confirm-title"), "\(time)")
            // At the field that is wrong, without the number of a delivery that there is not.
            let field = refused.text.firstRange(of: #"id="settings.validity_seconds-hint""#)
            let rest = field.map { refused.text[$0.upperBound...] } ?? ""
            #expect(rest.prefix(300).contains("field-problem") && rest.prefix(300).contains("The delivery ends at"))
            #expect(refused.text.contains(Catalogue.english[.startRemedy]))
            #expect(refused.text.contains("\(Catalogue.english[.planUnfit]) <a href=\"\(draft)/when\">"))
            #expect(!refused.text.contains("Give it a longer"))
        }
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.delivery") == "0", "it was only asked")
        #expect(try await mia.get("\(draft)/send").status == .ok)
        // The same on the page of the delivery, at the field with its start if that was typed.
        let id = try await analyse(mia, draft)
        try await prepare(site, AnalysisFindings())
        for (query, expected) in [("", "Asia/Kolkata, \(words)"), ("?\(later)", ends)] {
            let refused = try await mia.get("/deliveries/\(id)/start\(query)")
            #expect(refused.status == .conflict && refused.text.contains(expected), "\(refused.text)")
            #expect(refused.text.contains(#"id="at-problem""#) == !query.isEmpty, "\(query)")
            #expect(refused.text.contains(#"<p class="notice bad" role="alert">"#) == query.isEmpty, "\(query)")
            #expect(!refused.text.contains("Start this delivery?"))
        }
        try await site.sql("UPDATE pushmta_engine.delivery SET validity = '1 day' WHERE id = \(id)")
        #expect(try await mia.get("/deliveries/\(id)/start").text.contains("Start this delivery?"))
        await site.close()
    }

    @Test func whatIsWrongLeadsBackToTheDraft() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        let first = try await analyse(mia, draft)
        var findings = AnalysisFindings()
        findings.problems = [
            DeliveryProblem(subject: "content", pointer: "/ios/title", problem: "it is too long", remedy: "shorten it")
        ]
        try await prepare(site, findings)
        let page = try await mia.get("/deliveries/\(first)").text
        for words in ["/ios/title", "It is too long", "Shorten it", "href=\"\(draft)/send\""] {
            #expect(page.contains(words), "\(words)")
        }
        #expect(!page.contains(Catalogue.english[.stateBecause]), "the problems are told twice")
        // Unchanged or changed, the draft is the same delivery.
        #expect(try await analyse(mia, draft) == first)
        try await prepare(site, findings)
        let form = ["version": try await version(mia, draft), "ios.title": "Hi"]
        _ = try await mia.post("\(draft)/content", form: form)
        #expect(try await analyse(mia, draft) == first)
        let changed = try await mia.get("/deliveries/\(first)").text
        #expect(changed.contains("An earlier version came back:"))
        #expect(changed.ranges(of: "shorten it").count == 1, "the problems of an earlier version stay: \(changed)")
        await site.close()
    }

    @Test func aStartIsMovedAndTakenBack() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft, id, path) = try await analysedSale(site)
        let (first, second) = ("2036-11-29T10:00", "2036-11-30T11:30")
        let question = try await mia.get("\(path)/start?at=\(first)").text
        #expect(question.contains("name=\"at\" value=\"\(first)\"") && question.contains("It starts on"))
        #expect(try await mia.post("\(path)/start", form: ["at": first]).headers[.location] == path)
        #expect(try await site.admin.deliveryProgress(id).state == .pending)
        let pending = try await mia.get(path).text
        for words in [
            "value=\"\(first)\"", "\(path)/reschedule", "\(path)/pause", "\(path)/stop",
            "\(path)/rate", "<dt>Scheduled by</dt><dd><bdi>user mia</bdi>",
            "Counted on ", "The messages are made and counted again shortly before the start.", "By locale",
            #"<bdi>de</bdi></th><td class="right number">4</td>"#,
        ] {
            #expect(pending.contains(words), "\(words): \(pending)")
        }
        #expect(!pending.contains("An earlier analysis no longer counts"), "the note says it")
        #expect(!pending.contains("it would be "), "it is in English only")
        for none in ["", "2036-02-31T10:00", "2026-01-02T03:04"] {
            #expect(try await mia.get("\(path)/reschedule?at=\(none)").status == .conflict, "\(none)")
            #expect(try await mia.post("\(path)/reschedule", form: ["at": none]).status == .conflict, "\(none)")
        }
        let moved = try await mia.post("\(path)/reschedule", form: ["at": second])
        #expect(moved.headers[.location] == "\(path)?done=reschedule")
        #expect(try await site.admin.deliveryProgress(id).startAt?.internetText.prefix(16) == second.prefix(16))
        let editing = try await mia.get("\(path)/edit").text
        #expect(editing.contains("Edit this delivery again?") && editing.contains("and its approval, if it has one"))
        #expect(try await mia.post("\(path)/edit").headers[.location] == "\(draft)/send")
        #expect(try await mia.get("\(draft)/content").text.contains("Hello"))
        #expect(try await site.admin.deliveryProgress(id).state == .editing)
        let edited = try await mia.get(path).text
        #expect(edited.contains("href=\"\(draft)/send\"") && !edited.contains("\(path)/rate"))
        #expect(try await mia.post("\(path)/reschedule", form: ["at": second]).status == .conflict)
        await site.close()
    }

    @Test(.timeLimit(.minutes(1))) func somebodyElseApprovesALargeDelivery() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        try await site.sql("SELECT pushmta.set_approval_rule(v.name, 3) FROM pushmta_engine.service v")
        let id = try await analyse(mia, draft)
        try await prepare(site, AnalysisFindings())
        let path = "/deliveries/\(id)"
        let own = try await mia.get(path).text
        #expect(own.contains("It needs the approval of a colleague, which nobody has requested yet."))
        #expect(own.contains("user mia"))
        // Its author says when it starts, instead of starting it.
        #expect(own.contains("Nobody has said when it starts.") && own.contains("href=\"\(path)/request\""))
        #expect(own.contains("action=\"\(path)/request\""))
        #expect(own.contains(">needs approval<") && !own.contains("its 7 messages need"), "it says it once")
        #expect(try await mia.get("/deliveries").text.contains(">needs approval<"))
        await site.responder.approvals.forget()
        #expect(!own.contains("\(path)/approve") && !own.contains("\(path)/start"))
        // Its author takes it back instead of rejecting it.
        #expect(!own.contains("\(path)/reject") && own.contains("href=\"\(path)/edit\""))
        #expect(try await mia.post("\(path)/approve").status == .conflict)
        #expect(try await mia.post("\(path)/start").status == .conflict)
        let reader = try await site.session(.read)
        #expect(try await !reader.get(path).text.contains("\(path)/reject"))
        #expect(try await reader.post("\(path)/approve").status == .forbidden)
        let eve = try await site.session(.marketing, name: "eve")
        let asked = try await eve.get(path).text
        #expect(asked.contains("formaction=\"\(path)/approve\"") && !asked.contains("\(path)/request"))
        #expect(asked.contains("has to approve it before it leaves."))
        #expect(asked.contains("id=\"page-changed\" role=\"status\" hidden>This delivery has changed."))
        // Its author has not asked for it yet.
        #expect(!asked.contains("One delivery waits for an approval"))
        #expect(try await !eve.get("/").text.contains("waits for an approval"))
        #expect(try await !mia.get("/").text.contains("One of your deliveries waits"))
        #expect(try await eve.post("\(path)/approve", form: ["words": "Checked"]).status == .conflict)
        let version = try await site.admin.approval(ofDelivery: id).version
        #expect(asked.contains("name=\"version\" value=\"\(version)\""))
        let old = try await eve.post("\(path)/approve", form: ["words": "Checked", "version": "0"])
        #expect(old.status == .conflict && old.text.contains("changed since you looked"), "\(old.text)")
        #expect(old.text.contains(">Checked</textarea>") && old.text.contains("value=\"\(version)\""), "\(old.text)")
        let live = String(try #require(own.firstMatch(of: /data-path="([^"]+)"/)).1).replacing("&amp;", with: "&")
        let approved = try await eve.post("\(path)/approve", form: ["words": "Checked", "version": version])
        #expect(approved.headers[.location] == "\(path)?done=approve", "\(approved.text)")
        // The author's page has other buttons and another state now, although the delivery is still ready.
        #expect(try await mia.live(live) == LiveEvent.changed.text)
        let page = try await mia.get(path).text
        for words in ["user eve", "Checked", "\(path)/withdraw", "\(path)/start", ">approved<"] {
            #expect(page.contains(words), "\(words)")
        }
        #expect(try await eve.get("/deliveries").text.contains(">approved<"))
        #expect(try await mia.post("\(path)/start").headers[.location] == "\(path)?done=start")
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("approved a delivery") && audit.contains("eve"))
        await site.close()
    }

    @Test func aRequestForAnApprovalNamesTheStart() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        try await site.sql("SELECT pushmta.set_approval_rule(v.name, 3) FROM pushmta_engine.service v")
        let send = try await mia.get("\(draft)/send").text
        #expect(send.contains(#"name="go" value="request""#) && send.contains("As soon as it is approved"))
        var form = ["version": try await version(mia, draft), "go": "request", "when": "now"]
        let question = try #require(try await mia.post("\(draft)/send", form: form).headers[.location])
        let confirmation = try await mia.get(question).text
        for words in ["Request the approval of this delivery?", "it starts without one.", #"name="ask" value="1""#] {
            #expect(confirmation.contains(words), "\(words)")
        }
        form = ["version": try await version(mia, draft), "at": "", "ask": "1"]
        let asked = try await mia.post("\(draft)/start", form: form).headers[.location] ?? ""
        let found = asked.firstMatch(of: /^\/deliveries\/(\d+)\?done=request$/)
        let id = try #require(found.flatMap { Int64($0.1) }, "\(asked)")
        let path = "/deliveries/\(id)"
        let early = try await mia.get(path).text
        #expect(early.contains("It starts as soon as it is approved.") && !early.contains("\(path)/start"))
        try await prepare(site, AnalysisFindings())
        await site.responder.approvals.forget()
        let own = try await mia.get(path).text
        for words in [">waits for approval<", "Approval requested by", "It starts as soon as it is approved."] {
            #expect(own.contains(words), "\(words)")
        }
        #expect(!own.contains("\(path)/start") && !own.contains("\(path)/request"))
        // Who types the address reads what it waits for.
        let typed = try await mia.get("\(path)/start")
        #expect(typed.status == .conflict && typed.text.contains("State of the delivery: waits for approval."))
        let sent = try await mia.post("\(path)/start")
        #expect(sent.status == .conflict && sent.text.contains("it waits for an approval"), "\(sent.text)")
        let waits = "<strong>\(Catalogue.english[.waitsBecause])</strong>"
        #expect(own.contains(waits) && own.contains("It waits for the approval of a colleague."))
        let now = try await mia.get("/").text
        #expect(now.contains("One of your deliveries waits for the approval of a colleague"))
        #expect(now.contains(">waits for approval</span>"), "as the list and the page say")
        let eve = try await site.session(.marketing, name: "eve")
        #expect(try await eve.get("/").text.contains(">One delivery waits for an approval</a>"))
        #expect(try await eve.get("/approvals").text.contains("As soon as it is approved"))
        #expect(try await !site.session(.read).get("/").text.contains("waits for an approval"))
        #expect(try await eve.get(path).text.contains("It starts as soon as it is approved."))
        let shown = try await site.admin.approval(ofDelivery: id).version
        _ = try await eve.post("\(path)/approve", form: ["words": "Checked", "version": shown])
        let given = try await eve.get(path).text
        #expect(given.contains("Checked") && !given.contains(waits), "\(given)")
        // The number in the menu is read again.
        #expect(!given.contains("One delivery waits for an approval"))
        #expect(try await site.admin.claimDeliveriesToPrepare(host: "a").map(\.deliveryID) == [id])
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("requested the approval of a delivery") && audit.contains("approved a delivery"))
        await site.close()
    }

    /// It stays where those who approve look for it.
    @Test func aPausedDeliveryIsStillApprovedMovedAndRejected() async throws {
        let site = try await ConsoleSite.start()
        let (mia, id, path) = try await requestedSale(site)
        #expect(try await mia.post("\(path)/pause").status == .seeOther)
        let eve = try await site.session(.marketing, name: "eve")
        let note = "it starts only once it is resumed."
        #expect(try await eve.get("/approvals").text.contains(note))
        let page = try await eve.get(path).text
        for words in [note, "\(path)/approve", "\(path)/reject", "Approval requested by"] {
            #expect(page.contains(words), "\(words): \(page)")
        }
        let own = try await mia.get(path).text
        #expect(own.contains("action=\"\(path)/reschedule\"") && own.contains("\(path)/resume"), "\(own)")
        #expect(try await mia.post("\(path)/reschedule", form: ["at": "2036-01-03T03:04"]).status == .seeOther)
        #expect(try await site.admin.deliveryProgress(id).state == .paused)
        let version = try await site.admin.approval(ofDelivery: id).version
        let approved = try await eve.post("\(path)/approve", form: ["words": "Checked", "version": version])
        #expect(approved.headers[.location] == "\(path)?done=approve", "\(approved.text)")
        // Another rate ends it, and there is nothing to withdraw then.
        #expect(try await eve.get(path).text.contains("\(path)/withdraw"))
        try await site.admin.setDeliveryRate(id, messagesPerSecond: 5)
        let outdated = try await eve.get(path).text
        #expect(outdated.contains("Its approval no longer holds") && !outdated.contains("\(path)/withdraw"))
        try await site.admin.setDeliveryRate(id, messagesPerSecond: nil)
        #expect(try await eve.post("\(path)/withdraw", form: ["words": "The price is old"]).status == .seeOther)
        // Who ended the last approval, and why, stays on the page.
        #expect(try await mia.get(path).text.contains("user eve withdrew it: The price is old"))
        let long = try await eve.post("\(path)/reject", form: ["words": String(repeating: "a", count: 2_001)])
        #expect(long.status == .conflict && long.text.contains("longer than 2000 characters"), "\(long.text)")
        #expect(try await eve.post("\(path)/reject", form: ["words": "Too loud"]).status == .seeOther)
        #expect(try await site.admin.deliveryProgress(id).state == .editing)
        await site.close()
    }

    @Test func aStartAtATimeBecomesTheMomentOfItsApproval() async throws {
        let site = try await ConsoleSite.start()
        let (mia, id, path) = try await requestedSale(site)
        let page = try await mia.get(path).text
        #expect(page.contains("href=\"\(path)/reschedule\">As soon as it is approved<"), "\(page)")
        let question = try await mia.get("\(path)/reschedule").text
        #expect(question.contains(Catalogue.english[.requestNow]), "\(question)")
        // It cannot be started at once.
        let past = try await mia.get("\(path)/reschedule?at=2020-01-02T03:04").text
        #expect(past.contains("is in the past: it is now") && !past.contains("start it at once"), "\(past)")
        #expect(try await mia.post("\(path)/reschedule").headers[.location] == "\(path)?done=reschedule")
        let moved = try await site.admin.approval(ofDelivery: id)
        #expect(moved.startsApproved && moved.startsAt == nil && moved.isAwaited)
        #expect(try await !mia.get(path).text.contains("href=\"\(path)/reschedule\""))
        await site.close()
    }

    @Test func whoDecidesTooLateReadsWhatHasBecomeOfIt() async throws {
        let site = try await ConsoleSite.start()
        let (mia, id, path) = try await requestedSale(site)
        let eve = try await site.session(.marketing, name: "eve")
        let version = try await site.admin.approval(ofDelivery: id).version
        _ = try await mia.post("\(path)/edit")
        let late = try await eve.post("\(path)/approve", form: ["words": "Checked", "version": version])
        #expect(late.status == .conflict && late.text.contains("no longer waits for a decision"), "\(late.text)")
        #expect(late.text.contains("id=\"delivery-state\""), "it is the page of the delivery")
        // Nothing has left, and nothing is in flight.
        let stopping = try await mia.get("\(path)/stop").text
        #expect(!stopping.contains("in flight"), "\(stopping)")
        _ = try await mia.post("\(path)/stop")
        #expect(try await !mia.get(path).text.contains("\(path)/recall"))
        _ = try await mia.post("\(path)/archive")
        let archived = try await mia.get(path).text
        #expect(archived.contains("This delivery is archived") && archived.contains("\(path)/archive"), "\(archived)")
        await site.close()
    }

    @Test func limitsAreNamedForPeopleWithoutACommandLine() async throws {
        let site = try await ConsoleSite.start()
        let (mia, _, path) = try await requestedSale(site)
        let page = try await mia.get(path).text
        #expect(page.contains("The buttons on its page") && !page.contains("pushmta delivery"), "\(page)")
        await site.close()
    }

    @Test func thatNobodyGetsAnythingIsSaidBeforeTheApproval() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        try await site.sql("SELECT pushmta.set_approval_rule(v.name, 3) FROM pushmta_engine.service v")
        let over = "2020-01-02T09:00"
        let plan = [
            "version": try await version(mia, draft), "plan.local_time": over, "plan.on_past": "skip", "go": "next",
        ]
        _ = try await mia.post("\(draft)/when", form: plan)
        let question = try await mia.get("\(draft)/start?when=now").text
        #expect(question.contains("gets anything."), "\(question)")
        let id = try await analyse(mia, draft)
        try await prepare(site, AnalysisFindings())
        let path = "/deliveries/\(id)"
        let nobody = "Nobody gets anything: at the start, the local time is over for every recipient"
        let asking = try await mia.get("\(path)/request").text
        #expect(asking.contains(nobody) && asking.contains("Never sent: local time over"), "\(asking)")
        _ = try await mia.post("\(path)/request")
        let eve = try await site.session(.marketing, name: "eve")
        let page = try await eve.get(path).text
        #expect(page.contains(nobody), "\(page)")
        // In its analysis, and with what is approved.
        #expect(page.ranges(of: "<dt>Never sent: local time over</dt><dd><bdi>7</bdi>").count == 2, "\(page)")
        #expect(try await eve.get("/approvals").text.contains("7 of them are never sent"))
        await site.close()
    }

    @Test func aSmallDeliveryIsCountedAndThenStartsByItself() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        try await site.sql("SELECT pushmta.set_approval_rule(v.name, 1000) FROM pushmta_engine.service v")
        let send = try await mia.get("\(draft)/send").text
        #expect(send.contains(#"name="go" value="count""#) && send.contains(#"id="when-later""#), "\(send)")
        var form = ["version": try await version(mia, draft), "go": "count", "when": "now"]
        let question = try #require(try await mia.post("\(draft)/send", form: form).headers[.location])
        let confirmation = try await mia.get(question).text
        for words in ["Its messages are counted first", ">Analyse and start<", #"name="ask" value="small""#] {
            #expect(confirmation.contains(words), "\(words)")
        }
        form = ["version": try await version(mia, draft), "at": "", "ask": "small"]
        let begun = try await mia.post("\(draft)/start", form: form).headers[.location] ?? ""
        let id = try #require(begun.firstMatch(of: /^\/deliveries\/(\d+)$/).flatMap { Int64($0.1) }, "\(begun)")
        #expect(try await mia.get("/deliveries/\(id)").text.contains("it starts without one."))
        try await prepare(site, AnalysisFindings())
        let started = try await site.admin.deliveryProgress(id).state
        #expect(![.editing, .analysing, .ready].contains(started), "\(started)")
        await site.close()
    }

    @Test func aRequestAtATimeIsMadeOnThePageOfADelivery() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        try await site.admin.setFrequencyCap(
            FrequencyCapRow(service: "shop", name: "daily", maxMessages: 2, unit: .days)
        )
        let cap = "daily: at most 2 per person"
        #expect(try await mia.get("\(draft)/start?when=now").text.contains(cap))
        try await site.sql("SELECT pushmta.set_approval_rule(v.name, 3) FROM pushmta_engine.service v")
        let id = try await analyse(mia, draft)
        try await prepare(site, AnalysisFindings())
        let path = "/deliveries/\(id)"
        let question = try await mia.get("\(path)/request?at=2036-01-02T03:04").text
        #expect(question.contains(cap), "\(question)")
        #expect(question.contains("Then it starts on 2036-01-02 03:04 UTC, or at once if the approval comes later."))
        let eve = try await site.session(.marketing, name: "eve")
        #expect(try await eve.post("\(path)/request", form: ["at": "2036-01-02T03:04"]).status == .forbidden)
        let asked = try await mia.post("\(path)/request", form: ["at": "2036-01-02T03:04"])
        #expect(asked.headers[.location] == "\(path)?done=request", "\(asked.text)")
        let page = try await eve.get(path).text
        #expect(page.contains("Once approved, it starts on 2036-01-02 03:04 UTC."), "\(page)")
        // What its author confirmed, and what was counted before the messages were dropped.
        for words in [cap, "Counted on ", "By application"] { #expect(page.contains(words), "\(words): \(page)") }
        let moving = try await mia.get("\(path)/reschedule?at=2036-01-03T03:04").text
        #expect(moving.contains("Then it starts on 2036-01-03 03:04 UTC"), "\(moving)")
        try await site.sql("UPDATE pushmta_engine.delivery SET start_at = now() - interval '1 minute'")
        #expect(try await eve.get(path).text.contains("it starts at once when it is approved"))
        await site.close()
    }

    @Test func aRejectedDeliveryIsADraftAgain() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        try await site.sql("SELECT pushmta.set_approval_rule(v.name, 3) FROM pushmta_engine.service v")
        let id = try await analyse(mia, draft)
        try await prepare(site, AnalysisFindings())
        let eve = try await site.session(.marketing, name: "eve")
        let refused = try await eve.post("/deliveries/\(id)/reject", form: ["words": " "])
        #expect(refused.status == .conflict && refused.text.contains("Say what its author should change."))
        #expect(refused.text.contains(#"aria-describedby="words-problem""#) && refused.text.contains("/reject\""))
        let rejected = try await eve.post("/deliveries/\(id)/reject", form: ["words": "Too loud"])
        #expect(rejected.headers[.location] == "/deliveries/\(id)?done=reject", "\(rejected.text)")
        let page = try await mia.get("/deliveries/\(id)").text
        #expect(page.contains(Catalogue.english[.rejectRemedy]) && page.contains(">Approval</th>"))
        #expect(page.contains("User eve rejected it: Too loud") && page.contains("href=\"\(draft)/send\""))
        for path in ["/deliveries/\(id)", "/deliveries", "/deliveries?state=editing"] {
            #expect(try await mia.get(path).text.contains(">rejected by user eve</span>"), "\(path)")
        }
        // Changed, it keeps its number, and says what became of its earlier version.
        for title in ["Quiet", "Quieter"] {
            let form = ["version": try await version(mia, draft), "ios.title": title]
            _ = try await mia.post("\(draft)/content", form: form)
            #expect(try await analyse(mia, draft) == id)
            try await prepare(site, AnalysisFindings())
            if title == "Quiet" { _ = try await mia.post("/deliveries/\(id)/edit") }
        }
        let changed = try await eve.get("/deliveries/\(id)").text
        #expect(changed.contains("An earlier version came back:"), "\(changed)")
        #expect(changed.contains("user eve rejected it: Too loud"), "\(changed)")
        #expect(try await mia.get("/deliveries/999999").status == .notFound)
        await site.close()
    }

    /// Nobody could edit or start it any more, and its alarm would stay.
    @Test(arguments: [true, false]) func aRejectedDeliveryIsGivenUp(byRemovingItsDraft: Bool) async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        try await site.sql("SELECT pushmta.set_approval_rule(v.name, 3) FROM pushmta_engine.service v")
        let id = try await analyse(mia, draft)
        try await prepare(site, AnalysisFindings())
        let eve = try await site.session(.marketing, name: "eve")
        _ = try await eve.post("/deliveries/\(id)/reject", form: ["words": "Too loud"])
        #expect(try await site.admin.alarms(delivery: id).map(\.code) == ["delivery_returned"])
        for page in ["/compose", "\(draft)/send"] {
            let words = "<a href=\"/deliveries/\(id)\"><bdi>Delivery \(id) came back: user eve rejected it: Too loud"
            #expect(try await mia.get(page).text.contains(words), "\(page)")
        }
        #expect(try await !eve.get("/deliveries/\(id)").text.contains("/deliveries/\(id)/stop"))
        #expect(try await mia.get("/deliveries/\(id)").text.contains("href=\"/deliveries/\(id)/stop\""))
        let path = byRemovingItsDraft ? "\(draft)/remove" : "/deliveries/\(id)/stop"
        let question = try await mia.get(path).text
        let words = byRemovingItsDraft ? "Delivery \(id), which came back to its author" : "It is being edited"
        #expect(question.contains(words), "\(question)")
        #expect(try await mia.post(path).status == .seeOther)
        #expect(try await site.admin.deliveryProgress(id).state == .stopped)
        #expect(try await site.admin.alarms(delivery: id).isEmpty)
        let left: HTTPResponse.Status = byRemovingItsDraft ? .notFound : .ok
        #expect(try await mia.get("\(draft)/content").status == left)
        #expect(try await !mia.get("/deliveries").text.contains("rejected by user eve"))
        await site.close()
    }

    @Test func theMainButtonAsksForTheApproval() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        let start = #"name="go" value="start""#
        let free = try await mia.get("\(draft)/send").text
        #expect(free.contains(start) && !free.contains("asks for approvals"))
        for (above, label) in [(3, ">Analyse and ask for approval<"), (1_000, ">Analyse and start<")] {
            try await site.sql("SELECT pushmta.set_approval_rule(v.name, \(above)) FROM pushmta_engine.service v")
            let page = try await mia.get("\(draft)/send").text
            #expect(page.contains(label) && page.contains("asks for approvals") && !page.contains(start), "\(page)")
        }
        // An old page still has the other button.
        let form = ["version": try await version(mia, draft), "at": ""]
        let refused = try await mia.post("\(draft)/start", form: form).text
        #expect(refused.contains("asks for approvals") && !refused.contains("size is not known"), "\(refused)")
        await site.close()
    }

    @Test func aDeliveryIsDuplicatedAsADraft() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        let mia = try await site.session(.marketing, name: "mia")
        let path = "/deliveries/\(delivery)/duplicate"
        #expect(try await mia.get("/deliveries/\(delivery)").text.contains("action=\"\(path)\""))
        #expect(try await !site.session(.read).get("/deliveries/\(delivery)").text.contains(path))
        let draft = try #require(try await mia.post(path).headers[.location])
        #expect(draft.hasPrefix("/compose/") && draft.hasSuffix("/applications"))
        let first = try await mia.get(draft).text
        #expect(first.contains("Autumn sale") && first.contains(#"name="application.shop-ios" checked"#))
        let origin = "Copied from delivery <a href=\"/deliveries/\(delivery)\">\(delivery)</a>"
        #expect(first.contains(origin))
        let content = try await mia.get(draft.replacing("/applications", with: "/content")).text
        #expect(content.contains(#"name="ios.title" value="a""#), "\(content)")
        // It says which audience its filter is from, and the signal in place of a rate.
        try await site.admin.saveAudience("german", ofService: "shop", filter: "locale = 'de'")
        let other = try await site.admin.createDelivery(
            NewDelivery(label: "Other", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await site.admin.setTarget(ofDelivery: other, DeliveryTarget(audience: "german"))
        try await site.sql(
            """
            DO $$ BEGIN
                PERFORM pushmta.set_health_signal('load', 'http', 'http://localhost/load');
                PERFORM pushmta.follow_signal(\(other), 'load', 0.8, 5, 50);
            END $$
            """
        )
        let copy = try #require(try await mia.post("/deliveries/\(other)/duplicate").headers[.location])
        let target = try await mia.get(copy.replacing("/applications", with: "/target")).text
        #expect(target.contains("copied from the saved audience german"), "\(target)")
        let limits = try await mia.get(copy.replacing("/applications", with: "/limits")).text
        for words in [#"<option value="load" selected"#, #"value="0.8""#] {
            #expect(limits.contains(words), "\(limits)")
        }
        let second = try await site.admin.copyDelivery(delivery)
        #expect(try await mia.get("/deliveries/\(second)").text.contains(origin))
        // A draft cannot say whom a system has named: it would go to everyone.
        try await site.sql("UPDATE pushmta_engine.delivery SET target_kind = 'explicit'")
        #expect(try await !mia.get("/deliveries/\(delivery)").text.contains(path))
        #expect(try await mia.post(path).status == .conflict)
        await site.close()
    }
}
