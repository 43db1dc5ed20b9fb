import HTTPTypes
import PushCore
import Store
import Testing

@testable import Console

/// A recurring delivery that is edited, approved, rejected and given up, while its runs go on.
@Suite struct RecurringEditTests {
    private func version(_ browser: ConsoleBrowser, _ draft: String) async throws -> String {
        let page = try await browser.get("\(draft)/content").text
        return page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
    }

    /// A delivery of mia's that is analysed and recurs from 2092 on, and the path of its draft.
    private func recurring(_ site: ConsoleSite) async throws
        -> (mia: ConsoleBrowser, draft: String, id: Int64, path: String)
    {
        let (mia, draft) = try await site.saleDraft()
        let form = ["version": try await version(mia, draft)]
        let path = try #require(try await mia.post("\(draft)/analyse", form: form).headers[.location])
        let id = try #require(Int64(path.dropFirst("/deliveries/".count)), "\(path)")
        let rule = [
            "every": "1", "unit": "days", "times": "09:00", "time_zone": "UTC", "starts_on": "2092-01-01",
            "month_days": "", "ends_on": "", "except_dates": "", "missed": "skip",
        ]
        #expect(try await mia.post("\(path)/recurrence", form: rule).status == .seeOther)
        #expect(try await mia.post("\(path)/recurrence/start").status == .seeOther)
        return (mia, draft, id, path)
    }

    private func title(_ site: ConsoleSite, _ id: Int64) async throws -> String {
        try await site.value("SELECT content -> 'ios' ->> 'title' FROM pushmta_engine.delivery WHERE id = \(id)")
    }

    /// Writes a title into a draft.
    private func write(_ browser: ConsoleBrowser, _ draft: String, _ title: String) async throws {
        let form = ["version": try await version(browser, draft), "ios.title": title]
        #expect(try await browser.post("\(draft)/content", form: form).status == .seeOther)
    }

    /// Puts a draft into force, as its last step leads there; returns where that leads.
    private func force(_ browser: ConsoleBrowser, _ draft: String) async throws -> String {
        let chosen = ["version": try await version(browser, draft), "go": "force"]
        let asked = try #require(try await browser.post("\(draft)/send", form: chosen).headers[.location])
        let question = try await browser.get(asked).text
        #expect(question.contains("Put this draft into force?") && question.contains("planned for"), "\(question)")
        #expect(question.contains(#"name="ask" value="force""#), "\(question)")
        let form = ["version": try await version(browser, draft), "ask": "force"]
        let answer = try await browser.post("\(draft)/start", form: form)
        return try #require(answer.headers[.location], "\(answer.text)")
    }

    private func state(_ site: ConsoleSite, _ id: Int64) async throws -> RecurrenceRow.State? {
        try await site.admin.recurrence(ofDelivery: id)?.state
    }

    @Test func runsGoOnUntilItsDraftIsPutIntoForce() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft, id, path) = try await recurring(site)
        #expect(try await mia.get(path).text.contains(">Edit its content</a>"))
        let question = try await mia.get("\(path)/edit").text
        #expect(question.contains("Its runs go on with what it says now") && question.contains("planned for"))
        #expect(!question.contains("Nothing has left yet"))
        #expect(try await mia.post("\(path)/edit").headers[.location] == "\(draft)/send")
        try await write(mia, draft, "Second edition")
        let send = try await mia.get("\(draft)/send").text
        #expect(send.contains("This draft changes recurring delivery \(id)"), "\(send)")
        #expect(send.contains(#"name="go" value="force""#) && !send.contains(#"name="go" value="start""#))
        #expect(!send.contains("\(draft)/analyse"))
        #expect(try await mia.get("/compose").text.contains("This draft changes recurring delivery \(id)"))
        #expect(try await title(site, id) == "Hello")
        #expect(try await force(mia, draft) == "\(path)?done=recurrence-force")
        #expect(try await title(site, id) == "Second edition")
        #expect(try await state(site, id) == .active)
        #expect(try await mia.get("\(path)?done=recurrence-force").text.contains("The draft is in force"))
        await site.close()
    }

    @Test func aProofOfItsDraftChangesNoRun() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft, id, path) = try await recurring(site)
        try await site.sql(
            "INSERT INTO pushmta_engine.seed (name, subscription_id) SELECT 's1', min(id) FROM pushmta_engine.subscription"
        )
        _ = try await mia.post("\(path)/edit")
        try await write(mia, draft, "Second edition")
        let form = ["version": try await version(mia, draft), "seed.s1": "on"]
        let sent = try await mia.post("\(draft)/proof", form: form)
        let proof = try #require(sent.headers[.location]?.firstMatch(of: /proof=(\d+)/).flatMap { Int64($0.1) })
        #expect(try await title(site, proof) == "Second edition")
        #expect(try await title(site, id) == "Hello")
        #expect(try await force(mia, draft) == "\(path)?done=recurrence-force")
        await site.close()
    }

    /// A new delivery would leave the runs as they are.
    @Test func itsDraftChangesItAlsoIfItWasAnalysedElsewhere() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft, id, path) = try await recurring(site)
        _ = try await mia.post("\(path)/edit")
        try await write(mia, draft, "Second edition")
        try await site.admin.analyzeDelivery(id)
        #expect(try await force(mia, draft) == "\(path)?done=recurrence-force")
        #expect(try await title(site, id) == "Second edition")
        await site.close()
    }

    @Test func itGoesOnWithoutItsDraftAndGetsAnother() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft, id, path) = try await recurring(site)
        _ = try await mia.post("\(path)/edit")
        #expect(try await mia.get(path).text.contains("href=\"\(draft)/send\""))
        #expect(try await !mia.get(path).text.contains("action=\"\(path)/edit\""))
        let question = try await mia.get("\(draft)/remove").text
        #expect(question.contains("Recurring delivery \(id) is not stopped") && question.contains("planned for"))
        #expect(try await mia.post("\(draft)/remove").status == .seeOther)
        #expect(try await state(site, id) == .active)
        #expect(try await mia.get(path).text.contains("action=\"\(path)/edit\""))
        let begun = try #require(try await mia.post("\(path)/edit").headers[.location])
        let again = begun.replacing("/applications", with: "")
        #expect(again != draft && begun != again, "\(begun)")
        #expect(try await !mia.get("\(again)/send").text.contains("Copied from"))
        try await write(mia, again, "Second edition")
        #expect(try await title(site, id) == "Hello")
        let leo = try await site.session(.marketing, name: "leo")
        #expect(try await leo.post("\(path)/edit").status != .seeOther)
        #expect(try await force(mia, again) == "\(path)?done=recurrence-force")
        #expect(try await title(site, id) == "Second edition")
        _ = try await mia.post("\(path)/edit")
        #expect(try await mia.get("\(path)/stop").text.contains("no further run is made"))
        _ = try await mia.post("\(path)/stop")
        #expect(try await !mia.get("\(again)/send").text.contains("This draft changes recurring delivery"))
        await site.close()
    }

    @Test func itsApprovalIsForItsRuns() async throws {
        let site = try await ConsoleSite.start()
        try await site.sql("SELECT pushmta.set_approval_rule(v.name, 3) FROM pushmta_engine.service v")
        let (mia, _, id, path) = try await recurring(site)
        try await AnalysisPageTests().prepare(site, AnalysisFindings())
        let waiting = try #require(try await site.admin.deliveriesAwaitingApproval(limit: 5).first)
        #expect(waiting.deliveryID == id && waiting.isRequested)
        let own = try await mia.get(path).text
        #expect(own.contains("It waits for the approval of a colleague.") && !own.contains("nobody has requested"))
        let eve = try await site.session(.marketing, name: "eve")
        #expect(try await eve.get("/approvals").text.contains("Its next run is planned for"))
        #expect(try await mia.get("\(path)/recurrence/run").text.contains("more than 3 messages"))
        #expect(try await mia.post("\(path)/recurrence/run").status == .seeOther)
        try await AnalysisPageTests().prepare(site, AnalysisFindings())
        let run = try #require(try await site.admin.recurrenceRuns(ofDelivery: id).first?.runID)
        let page = try await eve.get(path).text
        #expect(page.contains("the approval covers its runs") && !page.contains("somebody has to start it"))
        #expect(page.contains("Run \(run) waits for this approval"), "\(page)")
        let seen = page.firstMatch(of: /name="version" value="([0-9a-f]{20})"/).map { String($0.1) } ?? ""
        let answer = try await eve.post("\(path)/approve", form: ["words": "", "version": seen])
        #expect(answer.headers[.location] == "\(path)?done=approve", "\(answer.text)")
        #expect(try await eve.get("\(path)?done=approve").text.contains("that covers its runs"))
        #expect(try await mia.get("\(path)/recurrence/run").text.contains("The approval by user eve covers it"))
        await site.close()
    }

    @Test func aRejectedRunPausesTheRecurrence() async throws {
        let site = try await ConsoleSite.start()
        let (mia, _, id, path) = try await recurring(site)
        try await AnalysisPageTests().prepare(site, AnalysisFindings())
        try await site.sql("SELECT pushmta.set_approval_rule(v.name, 3) FROM pushmta_engine.service v")
        _ = try await mia.post("\(path)/recurrence/run")
        try await AnalysisPageTests().prepare(site, AnalysisFindings())
        let run = try #require(try await site.admin.recurrenceRuns(ofDelivery: id).first?.runID)
        let eve = try await site.session(.marketing, name: "eve")
        let answer = try await eve.post("/deliveries/\(run)/reject", form: ["words": "Too loud"])
        let place = try #require(answer.headers[.location], "\(answer.text)")
        #expect(try await eve.get(place).text.contains("The run is rejected and stops"))
        _ = try await site.admin.makeRuns()
        let row = try #require(try await site.admin.recurrence(ofDelivery: id))
        #expect(row.state == .paused && row.reason == "run \(run) was not sent: user eve rejected it: Too loud")
        let page = try await mia.get(path).text
        #expect(page.contains("Next runs, if it were started now") && page.contains("was not sent"), "\(page)")
        await site.close()
    }
}
