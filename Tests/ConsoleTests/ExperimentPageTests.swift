import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// A draft gets variants, and a person chooses which of them the rest gets.
@Suite struct ExperimentPageTests {
    private static let content =
        #"{"ios": {"title": "Hello", "body": "All day"}, "locales": {"fr": {"ios": {"title": "Bonjour"}}}}"#

    private func version(_ browser: ConsoleBrowser, _ path: String) async throws -> String {
        let page = try await browser.get(path).text
        return page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
    }

    @Test func aVariantIsLookedAtAndProved() async throws {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(1)
        let id = try await site.admin.createDelivery(
            NewDelivery(
                label: "Sale",
                applications: ["shop-ios"],
                content: #"{"ios": {"title": "Plain {{nickname|you}}"}}"#
            )
        )
        try await site.sql(
            """
            SELECT pushmta.set_experiment(\(id), '[{"percent": 50}, {"percent": 50, "label": "emoji",
                "content": {"ios": {"title": "Party"}}}]')
            """
        )
        try await site.admin.addSeed(NewSeed(name: "lab", application: "shop-ios", address: .subscription(1)))
        let oda = try await site.session(.operate, name: "oda")
        let path = "/deliveries/\(id)/variants"
        #expect(try await oda.get("/deliveries/\(id)").text.contains("\(path)/2"))
        let second = try await oda.get("\(path)/2").text
        #expect(second.contains("Party") && second.contains("seed.lab") && second.contains("emoji"), "\(second)")
        #expect(try await oda.get("\(path)/1").text.contains("Plain you"))
        #expect(try await oda.get("\(path)/3").status == .notFound)
        let nobody = try await oda.post("\(path)/2", form: [:])
        #expect(nobody.status == .unprocessableContent && nobody.text.contains("Choose a seed address."))
        let proved = try await oda.post("\(path)/2", form: ["seed.lab": "on"])
        let place = try #require(proved.headers[.location], "\(proved.text)")
        let proof = try #require(place.firstMatch(of: /^\/deliveries\/(\d+)\?/).flatMap { Int64($0.1) }, "\(place)")
        #expect(try await oda.get(place).text.contains(#"<a href="\#(path)/2">Back to the page"#))
        #expect(try await !oda.get("/deliveries/\(proof)?back=//evil.example").text.contains("href=\"//evil"))
        let progress = try await site.admin.deliveryProgress(proof)
        #expect(progress.label == "Proof: Sale, emoji")
        #expect(try await site.admin.deliveryForPreview(proof).content.contains("Party"))
        // No seed address can get one now: the page says why, and where that changes.
        #expect(try await oda.get("\(path)/2").text.contains(">Send proof<"))
        try await site.sql("UPDATE pushmta_engine.subscription SET quarantine_status = 2 WHERE id = 1")
        let barred = try await oda.get("\(path)/2").text
        #expect(!barred.contains(">Send proof<") && barred.contains(Catalogue.english[.noSeedReady]), "\(barred)")
        #expect(barred.contains(#"href="/quarantine""#) && barred.contains(#"href="/seeds?back=\#(path)/2""#))
        // Somebody else's delivery.
        let mia = try await site.session(.marketing, name: "mia")
        #expect(try await mia.post("\(path)/2", form: ["seed.lab": "on"]).status == .forbidden)
        await site.close()
    }

    /// Nothing can be learnt from such variants, but they are not refused.
    @Test func variantsThatSayTheSameAreTold() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(content: Self.content)
        let path = "\(draft)/experiment"
        let texts = ["experiment.2.title": "Hi", "experiment.2.title.fr": "Salut"]
        let cases: [([String], String?)] = [
            ([], "Variants A and B say the same: nothing"), (["experiment.2.title"], "A and B say the same to: fr."),
            (["experiment.2.title", "experiment.2.title.fr"], nil),
        ]
        for (named, words) in cases {
            var form = ["experiment.1.percent": "50", "experiment.2.percent": "50"]
            form["version"] = try await version(mia, path)
            form.merge(texts.filter { named.contains($0.key) }) { _, new in new }
            #expect(try await mia.post(path, form: form).headers[.location] == "\(path)?saved=1")
            for place in [path, "\(draft)/send", "\(draft)/start?when=now"] {
                let page = try await mia.get(place).text
                #expect(words.map { page.contains($0) } ?? !page.contains("say the same"), "\(place): \(named)")
            }
        }
        await site.close()
    }

    /// Browsers would cut such a text without a word.
    @Test func aVariantsTextThatIsTooLongIsRefused() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(content: Self.content)
        let path = "\(draft)/experiment"
        let page = try await mia.get(path).text
        #expect(!page.contains(#"maxlength="4000""#))
        var form = ["experiment.1.percent": "50", "experiment.2.percent": "50"]
        form["version"] = try await version(mia, path)
        form["experiment.2.body"] = String(repeating: "a", count: 4_100)
        let refused = try await mia.post(path, form: form)
        #expect(refused.status == .unprocessableContent)
        #expect(refused.text.contains("A text has at most 4,000 characters, and this one has 4,100."))
        form["experiment.2.body"] = String(repeating: "a", count: 4_000)
        #expect(try await mia.post(path, form: form).headers[.location] == "\(path)?saved=1")
        await site.close()
    }

    @Test func theTextsOfVariantsAreCountedAsThoseOfTheContent() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(content: Self.content)
        let page = try await mia.get("\(draft)/experiment").text
        for name in ["experiment.2.title", "experiment.2.body", "experiment.2.title.fr"] {
            let counter =
                #"data-of="field-\#(name)" data-limit="4096" data-words="{0} characters, {1} of 4,096 bytes""#
            #expect(page.contains(counter), "\(name)")
            #expect(page.contains(#"id="field-\#(name)" name="\#(name)""#), "\(name)")
            #expect(page.contains(#"aria-describedby="hint-\#(name) field-\#(name)-count""#), "\(name)")
        }
        #expect(!page.contains(#"data-of="field-experiment.hours""#))
        #expect(page.contains(/src="[^"]*compose\.js"/))
        await site.close()
    }

    /// With a local time the decision has to wait for the last time zone.
    @Test func theDecisionSaysWhenALocalTimeHasComeEverywhere() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(content: Self.content)
        let words = "after it has come everywhere: at 2036-12-01 21:00 UTC."
        #expect(try await !mia.get("\(draft)/experiment").text.contains("has come everywhere"))
        let form = ["plan.local_time": "2036-12-01T09:00", "plan.on_past": "now", "go": "next"]
        let version = ["version": try await version(mia, "\(draft)/when")]
        _ = try await mia.post("\(draft)/when", form: form.merging(version) { own, _ in own })
        #expect(try await mia.get("\(draft)/experiment").text.contains(words))
        await site.close()
    }

    /// The refusal is told where its cause is, and earlier if the start is known.
    @Test func aDecisionBeforeTheLocalTimeIsToldAtTheExperiment() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(content: Self.content)
        func save(_ step: String, _ form: [String: String]) async throws -> ConsoleAnswer {
            let form = form.merging(["version": try await version(mia, "\(draft)/\(step)")]) { own, _ in own }
            return try await mia.post("\(draft)/\(step)", form: form)
        }
        let experiment = [
            "experiment.1.percent": "30", "experiment.2.percent": "30", "experiment.2.title": "Hi",
            "experiment.hours": "4", "go": "next",
        ]
        _ = try await save("when", ["plan.local_time": "2036-12-01T09:00", "plan.on_past": "now"])
        #expect(try await save("experiment", experiment).headers[.location] == "\(draft)/limits")
        let words = "before the local time has come everywhere at 2036-12-01 21:00 UTC."
        for step in ["experiment", "send"] {
            #expect(try await mia.get("\(draft)/\(step)").text.contains(words), "\(step)")
        }
        let later = ["when": "later", "at": "2036-12-01T08:00", "zone": "UTC", "go": "start"]
        let question = try #require(try await save("send", later).headers[.location])
        let refused = try await mia.get(question)
        let link = "<a href=\"\(draft)/experiment\">\(Catalogue.english[.experimentChange])</a></p>"
        #expect(refused.status == .conflict && refused.text.contains("The winner of") && refused.text.contains(link))
        let late = try await save("experiment", experiment)
        #expect(late.status == .unprocessableContent && late.text.contains("decided at 2036-12-01 12:00 UTC, \(words)"))
        let right = experiment.merging(["experiment.hours": "14"]) { $1 }
        #expect(try await save("experiment", right).headers[.location] == "\(draft)/limits")
        #expect(try await mia.get(question).text.contains("confirm-title"))
        await site.close()
    }

    /// The winner is decided when the local time is over everywhere.
    @Test func aRestIsNotSkippedBecauseOfTheLocalTime() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(content: Self.content)
        let (when, path) = ("\(draft)/when", "\(draft)/experiment")
        let (words, wrong) = (Catalogue.english[.pastSkipsRest], Catalogue.english[.missingPlan])
        func save(_ page: String, _ form: [String: String]) async throws -> String? {
            let form = form.merging(["version": try await version(mia, page), "go": "next"]) { own, _ in own }
            return try await mia.post(page, form: form).headers[.location]
        }
        func plan(_ past: String) async throws -> String? {
            try await save(when, ["plan.local_time": "2036-12-01T09:00", "plan.on_past": past])
        }
        var form = ["experiment.1.percent": "50", "experiment.2.percent": "50", "experiment.2.title": "Hi"]
        #expect(try await save(path, form) == "\(draft)/limits")
        #expect(try await plan("skip") == path, "nobody is left")
        form["experiment.2.percent"] = "30"
        form["experiment.hours"] = "100"
        #expect(try await save(path, form) == "\(path)?saved=1", "it stays")
        #expect(try await mia.get(path).text.contains("\(words) <a href=\"\(when)\">When</a>"))
        #expect(try await mia.get("\(draft)/send").text.contains(wrong))
        #expect(try await plan("skip") == "\(when)?saved=1", "it stays")
        #expect(try await mia.get(when).text.contains("<p class=\"field-problem\">\(words)"))
        #expect(try await plan("next_day") == path)
        #expect(try await !mia.get(path).text.contains(words))
        #expect(try await !mia.get("\(draft)/send").text.contains(wrong))
        await site.close()
    }

    @Test func aDraftGetsVariants() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(content: Self.content)
        let path = "\(draft)/experiment"
        let before = try await mia.get("\(draft)/send").text
        #expect(before.contains("href=\"\(path)\"") && before.contains("Try variants"))
        let empty = try await mia.get(path).text
        #expect(empty.contains("experiment.2.title.fr") && !empty.contains("experiment.3.percent"))
        var form = [
            "version": try await version(mia, path), "experiment.1.percent": "30", "experiment.metric": "receipts",
            "experiment.undecided": "wait", "experiment.early": "yes",
        ]
        func refused(_ words: Phrase) async throws -> Bool {
            let answer = try await mia.post(path, form: form)
            return answer.status == .unprocessableContent && answer.text.contains(Catalogue.english[words])
        }
        #expect(try await refused(.experimentTwoWrong))
        form["experiment.2.percent"] = "30,5"
        #expect(try await refused(.experimentHoursMissing))
        form["experiment.hours"] = "4"
        form["experiment.hold_out"] = "45"
        #expect(try await refused(.experimentSumWrong))
        form["experiment.hold_out"] = "many"
        #expect(try await mia.post(path, form: form).text.contains("A number from 0 to 99 is expected here."))
        form["experiment.hold_out"] = ""
        form["experiment.2.title"] = "Hi"
        form["experiment.2.title.fr"] = "Salut"
        #expect(try await mia.post(path, form: form).headers[.location] == "\(path)?saved=1")
        #expect(try await mia.post(path, form: form).status == .conflict, "Another window has changed the draft")
        let summary = try await mia.get("\(draft)/send").text
        for words in [
            "2 variants, best by receipts: A 30 %, B 30.5 %, rest 39.5 %, decided after 4 h 0 min at the latest",
            "Change the experiment",
        ] {
            #expect(summary.contains(words), "\(words)")
        }
        #expect(!summary.contains("Try variants"))
        #expect(try await mia.get(path).text.contains("experiment.3.percent"))
        // There are seven subscribers.
        let doubt = "No variant can win: each needs 1,000 messages, and A gets 3 at most. Choose larger shares"
        for place in [path, "\(draft)/send", "\(draft)/start?when=now"] {
            #expect(try await mia.get(place).text.contains(doubt), "\(place)")
        }
        form["version"] = try await version(mia, path)
        form["experiment.sample"] = "3"
        #expect(try await mia.post(path, form: form).headers[.location] == "\(path)?saved=1")
        let different = try await mia.get(path).text
        #expect(!different.contains("No variant can win") && !different.contains("say the same"))
        let analysed = try await mia.post(
            "\(draft)/analyse",
            form: ["version": try await version(mia, "\(draft)/send")]
        )
        let delivery = analysed.headers[.location] ?? ""
        let id = try #require(delivery.split(separator: "/").last.flatMap { Int64($0) }, "\(analysed.text)")
        let row = try #require(try await site.admin.experiment(ofDelivery: id))
        #expect(row.decideAfterSeconds == 14_400 && row.ifUndecided == .wait && row.isEarly && row.metric == .receipts)
        let variants = try await site.admin.experimentVariants(ofDelivery: id)
        #expect(variants.map(\.label) == ["A", "B", "rest"] && variants.map(\.percent) == [30, 30.5, 39.5])
        let content = try #require(variants[1].content)
        #expect(variants[0].content == nil && content.contains("Hi") && content.contains("Salut"))
        #expect(content.contains("All day"), "A text that is empty is that of the content")
        let page = try await mia.get(delivery).text
        #expect(page.contains("not started") && !page.contains("/winner/"))
        await site.close()
    }

    @Test func withoutSharesThereIsNoExperiment() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(content: Self.content)
        let path = "\(draft)/experiment"
        for (shares, words) in [("50", true), ("", false)] {
            let form = [
                "version": try await version(mia, path), "experiment.1.percent": shares, "experiment.2.percent": shares,
            ]
            #expect(try await mia.post(path, form: form).headers[.location] == "\(path)?saved=1")
            #expect(try await mia.get("\(draft)/send").text.contains("2 variants, best by clicks") == words)
        }
        await site.close()
    }

    /// To clear the shares ends the experiment, and loses nothing.
    @Test func withoutSharesTheTextsStay() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(content: Self.content)
        let path = "\(draft)/experiment"
        func save(_ form: [String: String]) async throws -> String {
            let all = form.merging(["version": try await version(mia, path)]) { own, _ in own }
            #expect(try await mia.post(path, form: all).headers[.location] == "\(path)?saved=1")
            return try await mia.get("\(path)?saved=1").text
        }
        let texts = [
            "experiment.2.title": "Hi", "experiment.3.title.fr": "Salut", "experiment.sample": "30",
            "experiment.metric": "clicks", "experiment.undecided": "first", "experiment.early": "yes",
        ]
        let on = try await save(texts.merging(["experiment.1.percent": "50", "experiment.2.percent": "50"]) { $1 })
        let words = Catalogue.english[.experimentOff]
        #expect(!on.contains(words))
        let off = try await save(texts.merging(["experiment.1.percent": "", "experiment.2.percent": ""]) { $1 })
        for text in [words, #"value="Hi""#, #"value="Salut""#, #"value="30""#] {
            #expect(off.contains(text), "\(text): \(off)")
        }
        #expect(try await mia.get("\(draft)/send").text.contains("Try variants"))
        // Nothing is left of an empty form.
        #expect(try await !save(texts.mapValues { _ in "" }).contains(words))
        await site.close()
    }

    @Test func withoutARestNothingIsChosen() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(content: Self.content)
        let path = "\(draft)/experiment"
        let form = [
            "version": try await version(mia, path), "experiment.1.percent": "50", "experiment.2.percent": "50",
            "experiment.2.title": "Hi",
        ]
        #expect(try await mia.post(path, form: form).headers[.location] == "\(path)?saved=1")
        let start = try await mia.post("\(draft)/start", form: ["version": try await version(mia, "\(draft)/send")])
        let delivery = (start.headers[.location] ?? "").replacing("?done=start", with: "")
        let id = try #require(delivery.split(separator: "/").last.flatMap { Int64($0) }, "\(start.text)")
        #expect(try await !mia.get(delivery).text.contains("too few results"), "it has not begun")
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !site.admin.prepareChunk(job).done {}
        let page = try await mia.get(delivery).text
        #expect(page.contains("running") && !page.contains("/winner/"))
        // Its results are not counted yet.
        let sent = #/data-label="Sent" class="right number">([^<]*)</#
        #expect(page.matches(of: sent).map { String($0.1) } == ["–", "–"], "\(page)")
        try await site.sql("UPDATE pushmta_engine.experiment SET counted_at = '2026-03-01 10:00:07Z'")
        let counted = try await mia.get(delivery).text
        #expect(counted.matches(of: sent).map { String($0.1) } == ["0", "0"])
        #expect(counted.contains("Results as of 2026-03-01 10:00:07"), "\(counted)")
        #expect(try await mia.get("\(delivery)/winner/1").status == .notFound)
        #expect(try await mia.post("\(delivery)/winner/1").status == .conflict)
        // Stopped before it was decided.
        try await site.admin.stopDelivery(id)
        let over = try await mia.get(delivery).text
        #expect(over.contains(">ended</span>") && !over.contains(">running</span>"))
        await site.close()
    }

    /// Shares are not the reason if a frequency cap leaves nobody.
    @Test func sizesAreNotDoubtedIfThereIsNoMessage() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(content: Self.content)
        try await site.sql("UPDATE pushmta_engine.subscription SET opted_out = true")
        let path = "\(draft)/experiment"
        let form = [
            "version": try await version(mia, path), "experiment.1.percent": "50", "experiment.2.percent": "50",
            "experiment.2.title": "Hi",
        ]
        _ = try await mia.post(path, form: form)
        let analysed = try await mia.post(
            "\(draft)/analyse",
            form: ["version": try await version(mia, "\(draft)/send")]
        )
        let delivery = analysed.headers[.location] ?? ""
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !site.admin.prepareChunk(job).done {}
        _ = try await site.admin.endAnalysis(of: job, AnalysisFindings())
        let page = try await mia.get(delivery).text
        #expect(page.contains("experiment-variants") && !page.contains("No variant can win"), "\(page)")
        await site.close()
    }

    @Test func theAuthorChoosesTheWinner() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(subscribers: 60, content: Self.content)
        let path = "\(draft)/experiment"
        let form = [
            "version": try await version(mia, path), "experiment.1.percent": "30", "experiment.2.percent": "30",
            "experiment.2.title": "Hi", "experiment.hours": "1",
        ]
        _ = try await mia.post(path, form: form)
        let start = try await mia.post("\(draft)/start", form: ["version": try await version(mia, "\(draft)/send")])
        let delivery = (start.headers[.location] ?? "").replacing("?done=start", with: "")
        let id = try #require(delivery.split(separator: "/").last.flatMap { Int64($0) }, "\(start.text)")
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !site.admin.prepareChunk(job).done {}
        let page = try await mia.get(delivery).text
        #expect(page.contains("running") && page.contains("\(delivery)/winner/2") && !page.contains("/winner/9"))
        #expect(page.contains("No variant can win: each needs 1,000 messages, and ") && !page.contains("Choose larger"))
        #expect(page.contains("Share (clicks)") && page.contains("95 % interval"))
        let live = String(try #require(page.firstMatch(of: /data-path="([^"]+)"/)).1).replacing("&amp;", with: "&")
        let question = try await mia.get("\(delivery)/winner/2").text
        #expect(question.contains("Variant B goes to the rest"))
        #expect(try await mia.get("\(delivery)/winner/3").status == .notFound)
        // Its time is over without a sure winner, so it waits for a person.
        try await site.sql("UPDATE pushmta_engine.experiment SET decided_at = now(), decision = 'too few results'")
        let undecided = try await mia.get(delivery).text
        #expect(undecided.contains("Its experiment has no sure winner."))
        #expect(undecided.contains("Ended without a winner"))
        #expect(try await mia.get("/alarms").text.contains("Choose the variant for the rest on its page."))
        let eve = try await site.session(.marketing, name: "eve")
        #expect(try await !eve.get(delivery).text.contains("/winner/"))
        #expect(try await eve.post("\(delivery)/winner/2").status == .forbidden)
        #expect(try await mia.post("\(delivery)/winner/2").headers[.location] == "\(delivery)?done=winner")
        #expect(try await site.admin.experiment(ofDelivery: id)?.winner == 2)
        // The page has other buttons now, although the delivery is in the same state.
        #expect(try await mia.live(live) == LiveEvent.changed.text)
        let decided = try await mia.get("\(delivery)?done=winner").text
        #expect(decided.contains("The rest gets this variant.") && decided.contains("chosen by a person"))
        #expect(!decided.contains("/winner/"))
        let late = try await mia.get("\(delivery)/winner/1")
        #expect(late.status == .conflict && late.text.contains("The rest already gets variant B."), "\(late.text)")
        #expect(try await mia.post("\(delivery)/winner/1").status == .conflict)
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("chose the winner of an experiment"))
        await site.close()
    }
}
