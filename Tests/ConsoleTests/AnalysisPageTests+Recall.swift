import Foundation
import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// The recall of a delivery, and the delivery that replaces or removes its messages.
extension AnalysisPageTests {
    /// As if its messages were being sent.
    private func begin(_ site: ConsoleSite, _ id: Int64) async throws {
        try await site.sql(
            """
            UPDATE pushmta_engine.delivery SET state = 'in_progress', started_at = now(), log_day = coalesce(log_day, current_date)
            WHERE id = \(id)
            """
        )
    }

    @Test func aDeliveryIsRecalled() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await saleDraft(site)
        #expect(try await mia.get("\(draft)/content").text.contains(Catalogue.english[.keyReplaceable]))
        let id = try await analyse(mia, draft)
        try await prepare(site, AnalysisFindings())
        let path = "/deliveries/\(id)"
        #expect(try await !mia.get(path).text.contains("\(path)/recall"))
        _ = try await mia.post("\(path)/start")
        #expect(try await mia.get(path).text.contains("href=\"\(path)/recall\""))
        let question = try await mia.get("\(path)/recall").text
        #expect(question.contains("Recall this delivery?") && question.contains("7 messages have no outcome yet"))
        #expect(question.contains("0 messages were sent.") && question.contains("The messages cannot be replaced"))
        #expect(!question.contains(#"value="replace""#) && !question.contains(#"name="title""#))
        #expect(
            try await mia.post("\(path)/recall", form: ["reason": "", "mode": "stop"]).status == .unprocessableContent
        )
        let eve = try await site.session(.marketing, name: "eve")
        #expect(try await eve.post("\(path)/recall", form: ["reason": "x", "mode": "stop"]).status == .forbidden)
        let form = ["reason": "Wrong price", "mode": "remove", "title": "", "body": ""]
        let recalled = try await mia.post("\(path)/recall", form: form)
        #expect(recalled.headers[.location] == "\(path)?done=recall", "\(recalled.text)")
        let page = try await mia.get(path).text
        for words in ["recalled", "Wrong price", "user mia", "Delivery that replaces or removes it:", "Too late"] {
            #expect(page.contains(words), "\(words)")
        }
        // Each leads to the other, and neither is recalled again.
        #expect(!page.contains("href=\"\(path)/recall\""))
        #expect(try await mia.get("\(path)/recall").text.contains("already replaces or removes the messages"))
        let child = try #require(try await site.admin.recallReport(ofDelivery: id)?.child)
        let second = try await mia.get("/deliveries/\(child)").text
        #expect(second.contains("It replaces or removes the messages of delivery <a href=\"\(path)\">"))
        #expect(second.contains("people who got messages of delivery \(id)") && !second.contains("named by another"))
        #expect(!second.contains("/deliveries/\(child)/recall"))
        let stopping = try await mia.get("/deliveries/\(child)/stop").text
        #expect(stopping.contains("Delivery \(id) can be recalled again."), "\(stopping)")
        // Who may recall it may also stop that one.
        #expect(second.contains("href=\"/deliveries/\(child)/stop\""))
        #expect(try await !eve.get("/deliveries/\(child)").text.contains("/deliveries/\(child)/stop"))
        #expect(try await eve.post("/deliveries/\(child)/stop").status == .forbidden)
        #expect(try await mia.post("/deliveries/\(child)/stop").status == .seeOther)
        #expect(try await site.admin.deliveryProgress(child).state == .stopped)
        // As after a rejection: nobody edits it.
        let rejected = try await mia.get("/deliveries/\(child)?done=reject").text
        #expect(rejected.contains("so it is stopped. Its delivery can be recalled again."), "\(rejected)")
        #expect(!rejected.contains("edits it again"))
        #expect(rejected.contains("It was for the messages of delivery <a href=\"\(path)\">"))
        // The page of the other one says who gave it up.
        #expect(try await mia.get(path).text.contains("stopped by user mia"))
        #expect(try await site.session(.admin).get("/audit").text.contains("recalled a delivery"))
        // The second one goes out at any hour, and those who approve it read of no others.
        try await site.sql(
            """
            DO $$ BEGIN
                PERFORM pushmta.set_service_hours('shop', '{"hours": [{"weekdays": [1, 2, 3, 4, 5, 6, 7], "opens": "08:00",
                    "closes": "20:00"}], "days_off": [], "outside": "postpone", "time_zone": "UTC"}');
            END $$
            """
        )
        for (delivery, hasHours) in [(id, true), (child, false)] {
            let facts = try await DeliveryStartFacts(catalogue: .english).read(site.admin, delivery, start: nil).facts
            #expect(facts.contains { $0.name == Catalogue.english[.hoursTitle] } == hasHours, "\(facts)")
        }
        await site.close()
    }

    /// What becomes of a recall is seen as it happens.
    @Test(.timeLimit(.minutes(1))) func aRecallIsFollowedUntilItIsOver() async throws {
        let site = try await ConsoleSite.start()
        let (mia, _, id, path) = try await analysedSale(site)
        _ = try await mia.post("\(path)/start")
        let form = ["reason": "Wrong price", "mode": "remove", "title": "", "body": ""]
        _ = try await mia.post("\(path)/recall", form: form)
        let page = try await mia.get(path).text
        let live = String(try #require(page.firstMatch(of: /data-path="([^"]+)"/)).1).replacing("&amp;", with: "&")
        let part = try await site.responder.deliveries.part(id).part
        #expect(part.html.contains("Wrong price") && part.html.contains("Delivery that replaces or removes it:"))
        let child = try #require(try await site.admin.recallReport(ofDelivery: id)?.child)
        try await site.admin.stopDelivery(child)
        #expect(try await mia.live(live).hasSuffix(LiveEvent.changed.text))
        let over = try await mia.get(path).text
        #expect(over.contains("Wrong price") && !over.contains("data-path="))
        // It was given up before it began, so the delivery can be recalled again.
        #expect(over.contains("href=\"\(path)/recall\""))
        #expect(try await !mia.get("\(path)/recall").text.contains("already replaces or removes the messages"))
        #expect(try await mia.post("\(path)/recall", form: form).headers[.location] == "\(path)?done=recall")
        #expect(try await !mia.get(path).text.contains("href=\"\(path)/recall\""))
        // The second delivery goes on by itself, although it is still being edited.
        let second = try #require(try await site.admin.recallReport(ofDelivery: id)?.child)
        #expect(second != child)
        #expect(try await site.admin.deliveryProgress(second).state == .editing)
        #expect(try await mia.get("/deliveries/\(second)").text.contains("data-path="))
        await site.close()
    }

    /// Another recall can still reach those messages.
    @Test func whatAGivenUpRecallLeavesIsNotTooLate() async throws {
        let site = try await ConsoleSite.start()
        let (mia, _, id, path) = try await analysedSale(site)
        _ = try await mia.post("\(path)/start")
        try await site.sql(
            """
            UPDATE pushmta_engine.delivery_part SET state = 'done', finished_at = now(), sent = size WHERE delivery_id = \(id)
            """
        )
        let form = ["reason": "Wrong price", "mode": "remove", "title": "", "body": ""]
        _ = try await mia.post("\(path)/recall", form: form)
        let child = try #require(try await site.admin.recallReport(ofDelivery: id)?.child)
        try await site.admin.stopDelivery(child)
        let page = try await mia.get(path).text
        for words in ["Removal not requested</dt><dd><bdi>7<", "Too late, or not confirmed</dt><dd><bdi>0<"] {
            #expect(page.contains(words), "\(words): \(page)")
        }
        await site.close()
    }

    @Test func aReplacementNeedsATextAndAKey() async throws {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(7)
        let id = try await site.admin.createDelivery(
            NewDelivery(
                label: "Sale",
                applications: ["shop-ios"],
                content: #"{"ios": {"title": "a", "collapse_id": "sale"}}"#
            )
        )
        try await site.admin.startDelivery(id)
        let operate = try await site.session(.operate)
        let path = "/deliveries/\(id)/recall"
        let early = try await operate.get(path).text
        #expect(early.contains("so there is nothing to recall") && !early.contains(#"name="reason""#), "\(early)")
        let none = ["reason": "Wrong price", "mode": "stop"]
        #expect(try await operate.post(path, form: none).status == .conflict)
        try await begin(site, id)
        let question = try await operate.get(path).text
        #expect(question.contains("is replaced by a new text (iOS)") && question.contains(#"name="title""#))
        #expect(!question.contains("somebody else has approved it"))
        try await site.sql("SELECT pushmta.set_approval_rule(v.name, 1500) FROM pushmta_engine.service v")
        let note = "A replacement of more than 1,500 messages is sent only after somebody else has approved it."
        #expect(try await operate.get(path).text.contains(note))
        var form = ["reason": "Wrong price", "mode": "replace", "title": "", "body": " "]
        let refused = try await operate.post(path, form: form)
        #expect(refused.status == .unprocessableContent && refused.text.contains("Give a title or a text."))
        #expect(refused.text.contains("Wrong price"), "what was typed is lost")
        form["title"] = "Sorry"
        // A text that nobody would get is not thrown away.
        form["mode"] = "stop"
        let unused = try await operate.post(path, form: form)
        #expect(unused.status == .unprocessableContent && unused.text.contains("You typed a new text"))
        #expect(unused.text.contains(#"value="Sorry""#), "what was typed is lost")
        #expect(try await site.admin.recallReport(ofDelivery: id) == nil)
        form["mode"] = "replace"
        #expect(try await operate.post(path, form: form).status == .seeOther)
        // Nothing was sent, and nobody knows yet whom the second delivery reaches.
        let page = try await operate.get("/deliveries/\(id)").text
        #expect(page.contains("Not replaced yet") && !page.contains("Removal not requested"), "\(page)")
        await site.close()
    }

    /// A browser cuts what is pasted at a field's maximum length, without a word.
    @Test func aReplacementThatIsTooLongIsRefused() async throws {
        let site = try await ConsoleSite.start()
        let id = try await site.admin.createDelivery(
            NewDelivery(
                label: "Sale",
                applications: ["shop-ios"],
                content: #"{"ios": {"title": "a", "collapse_id": "sale"}}"#
            )
        )
        try await site.admin.startDelivery(id)
        try await begin(site, id)
        let operate = try await site.session(.operate)
        let path = "/deliveries/\(id)/recall"
        let page = try await operate.get(path).text
        #expect(page.firstMatch(of: /name="body"[^>]*maxlength/) == nil, "\(page)")
        #expect(page.contains("field-body-count") && page.contains("compose.js"), "\(page)")
        // The script asks before what a refused form shows is dropped, and puts back what was sent after the session's end.
        #expect(page.contains("id=\"typed-back\"") && !page.contains("data-answer"))
        var form = ["reason": "Wrong price", "mode": "replace", "title": "Sorry"]
        // Each of both fields fits, but not the whole message. The counters name the same limit.
        #expect(page.contains(#"data-limit="4096""#), "\(page)")
        form["title"] = String(repeating: "a", count: 2_500)
        form["body"] = String(repeating: "a", count: 2_500)
        let refused = try await operate.post(path, form: form)
        #expect(refused.status == .unprocessableContent && refused.text.contains("data-answer"))
        let problem = /<p class="field-problem">The payload has at least 5[0-9]+ bytes[^<]*limit is 4096/.ignoresCase()
        #expect(refused.text.firstMatch(of: problem) != nil, "\(refused.text)")
        #expect(try await site.admin.recallReport(ofDelivery: id) == nil)
        form["title"] = "Sorry"
        form["body"] = String(repeating: "a", count: 3_000)
        #expect(try await operate.post(path, form: form).status == .seeOther)
        let child = try #require(try await site.admin.recallReport(ofDelivery: id)?.child)
        #expect(try await site.admin.content(ofDelivery: child).contains(form["body"] ?? "-"), "nothing is cut")
        await site.close()
    }

    /// A replacement with a mistake is no dead end.
    @Test func aDeliveryIsRecalledAgainOnceItsReplacementHasEnded() async throws {
        let site = try await ConsoleSite.start()
        let id = try await site.admin.createDelivery(
            NewDelivery(
                label: "Sale",
                applications: ["shop-ios"],
                content: #"{"ios": {"title": "a", "collapse_id": "sale"}}"#
            )
        )
        try await site.admin.startDelivery(id)
        try await begin(site, id)
        let operate = try await site.session(.operate)
        let page = "/deliveries/\(id)"
        // Nobody fills in a form that is refused then.
        let carl = try await site.session(.marketing, name: "carl")
        let barred = try await carl.get("\(page)/recall").text
        #expect(barred.contains(Catalogue.english[.recallNotYours]) && !barred.contains(#"name="reason""#), "\(barred)")
        var form = ["reason": "Wrong price", "mode": "replace", "title": "Sorry", "body": ""]
        #expect(try await operate.post("\(page)/recall", form: form).status == .seeOther)
        let child = try #require(try await site.admin.recallReport(ofDelivery: id)?.child)
        let second = try await operate.get("/deliveries/\(child)").text
        #expect(second.contains("Reason: <bdi>Wrong price</bdi>"), "\(second)")
        let ofSecond = try await operate.get("/deliveries/\(child)/recall").text
        #expect(ofSecond.contains("so it is not recalled itself"), "\(ofSecond)")
        #expect(!ofSecond.contains(#"name="reason""#))
        #expect(ofSecond.contains(#"<a href="\#(page)">"#), "\(ofSecond)")
        #expect(try await operate.post("/deliveries/\(child)/recall", form: form).status == .conflict)
        // While it is under way, it is stopped first.
        try await begin(site, child)
        let early = try await operate.get("\(page)/recall").text
        #expect(early.contains(#"<a href="/deliveries/\#(child)/stop">"#), "\(early)")
        #expect(!early.contains(#"name="reason""#))
        try await site.sql(
            "UPDATE pushmta_engine.delivery SET state = 'finished', finished_at = now() WHERE id = \(child)"
        )
        #expect(try await operate.get(page).text.contains(#"href="\#(page)/recall">Recall again</a>"#))
        let ended = try await operate.get("/deliveries/\(child)").text
        #expect(ended.contains(#"<a href="\#(page)/recall">Recall delivery \#(id) again</a>"#), "\(ended)")
        let again = try await operate.get("\(page)/recall").text
        #expect(again.contains("Delivery \(child) has already replaced or removed messages."), "\(again)")
        #expect(again.contains(#"value="Sorry""#) && !again.contains(#"value="stop""#), "\(again)")
        form["title"] = "Truly sorry"
        form["reason"] = "Typo"
        #expect(try await operate.post("\(page)/recall", form: form).status == .seeOther)
        let corrected = try await operate.get(page).text
        #expect(corrected.contains("Typo") && !corrected.contains("Wrong price"), "\(corrected)")
        // The reason is that of the present recall, not of the first one.
        #expect(try await !operate.get("/deliveries/\(child)").text.contains("Reason: <bdi>"))
        await site.close()
    }

    @Test func aReplacementHasATextForEachLanguage() async throws {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(7)
        let content = """
            {"ios": {"title": "a", "collapse_id": "sale"},
                "locales": {"fr": {"ios": {"title": "b"}}, "it": {"ios": {"title": "c"}}}}
            """
        let id = try await site.admin.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: content)
        )
        try await site.admin.startDelivery(id)
        try await begin(site, id)
        let operate = try await site.session(.operate)
        let path = "/deliveries/\(id)/recall"
        let question = try await operate.get(path).text
        #expect(question.contains(#"name="title.fr""#) && question.contains("New text (it)"), "\(question)")
        let form = [
            "reason": "Wrong price", "mode": "replace", "title": "Sorry", "body": "", "title.fr": "Pardon",
            "body.fr": "", "title.it": "", "body.it": "",
        ]
        let partial = try await operate.post(path, form: form.merging(["title": ""]) { _, new in new })
        #expect(partial.status == .unprocessableContent)
        #expect(partial.text.contains(Catalogue.english[.recallMainMissing]), "\(partial.text)")
        #expect(try await operate.post(path, form: form).status == .seeOther)
        let child = try #require(try await site.admin.recallReport(ofDelivery: id)?.child)
        let page = try await operate.get("/deliveries/\(child)").text
        #expect(page.contains("Pardon") && page.contains("Content: <bdi>fr</bdi>"), "\(page)")
        #expect(!page.contains("<bdi>it</bdi>"), "its readers get the text of everybody else")
        // Once it is given up, the next one begins with what it said.
        try await site.admin.stopDelivery(child)
        let again = try await operate.get(path).text
        for value in ["Wrong price", "Sorry", "Pardon", #"replace" selected>"#] {
            #expect(again.contains("value=\"\(value)"), "\(value): \(again)")
        }
        // Where nothing replaces the messages, these are no texts that somebody has typed.
        let changed = form.merging(["mode": "remove", "title": "Sorry!"]) { _, new in new }
        #expect(try await operate.post(path, form: changed).status == .unprocessableContent)
        let removed = form.merging(["mode": "remove"]) { _, new in new }
        #expect(try await operate.post(path, form: removed).status == .seeOther)
        #expect(try await site.admin.recallReport(ofDelivery: id)?.mode == .remove)
        await site.close()
    }
}
