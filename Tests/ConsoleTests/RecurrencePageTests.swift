import HTTPTypes
import PushCore
import Store
import Testing

@testable import Console

/// A delivery that recurs, on its page.
@Suite struct RecurrencePageTests {
    private func delivery(_ site: ConsoleSite) async throws -> Int64 {
        try await site.admin.createDelivery(
            NewDelivery(label: "News", applications: ["shop-ios"], content: #"{"ios": {"title": "Hi"}}"#)
        )
    }

    /// What the form says: on Mondays and Thursdays, from 2092 on.
    private let form = [
        "every": "2", "unit": "weeks", "times": "09:00, 18:30", "time_zone": "Europe/Berlin", "weekday1": "yes",
        "weekday4": "yes", "month_days": "", "starts_on": "2092-01-01", "ends_on": "", "except_dates": "2092-01-03",
        "missed": "once",
    ]

    @Test func aDeliveryRecurs() async throws {
        let site = try await ConsoleSite.start()
        let id = try await delivery(site)
        let path = "/deliveries/\(id)"
        let op = try await site.session(.operate, name: "op")
        #expect(try await op.get(path).text.contains("href=\"\(path)/recurrence\""))
        #expect(try await op.get("\(path)/recurrence").text.contains("<option value=\"UTC\" selected>"))
        let saved = try await op.post("\(path)/recurrence", form: form)
        #expect(saved.headers[.location] == "\(path)?done=recurrence", "\(saved.text)")
        let page = try await op.get("\(path)?done=recurrence").text
        for words in [
            "2 × week", "09:00, 18:30", "Europe/Berlin", "Monday, Thursday", "not started", "The recurrence is saved",
            "\(path)/recurrence/start", "\(path)/recurrence/run", "\(path)/recurrence/remove",
            "is made once, as soon as possible",
        ] {
            #expect(page.contains(words), "\(words)")
        }
        #expect(!page.contains("\(path)/recurrence/pause"))
        // 1 January 2092 is a Tuesday, 3 January is excepted, and the next week is left out.
        #expect(page.matches(of: /<li>[^<]*2092[^<]*09:00 Europe\/Berlin<\/li>/).count >= 2, "\(page)")
        // The form shows what was saved.
        let again = try await op.get("\(path)/recurrence").text
        #expect(again.contains("value=\"09:00, 18:30\"") && again.contains("name=\"weekday4\" value=\"yes\" checked"))
        let started = try await op.post("\(path)/recurrence/start")
        #expect(started.headers[.location] == "\(path)?done=recurrence-start")
        let active = try await op.get(path).text
        #expect(active.contains("\(path)/recurrence/pause") && !active.contains("\(path)/recurrence/start"))
        // It would go to everybody, so a page asks first.
        let question = try await op.get("\(path)/recurrence/run").text
        #expect(question.contains("Make a run now?") && question.contains("<dt>Target</dt>"), "\(question)")
        let run = try await op.post("\(path)/recurrence/run")
        #expect(run.headers[.location] == "\(path)?done=recurrence-run", "\(run.text)")
        let made = try #require(try await site.admin.recurrenceRuns(ofDelivery: id).first?.runID)
        #expect(try await op.get(path).text.contains("href=\"/deliveries/\(made)\""))
        let ofRun = try await op.get("/deliveries/\(made)").text
        #expect(ofRun.contains("It is a run of the recurring delivery") && ofRun.contains("href=\"\(path)\""))
        #expect(!ofRun.contains("/deliveries/\(made)/recurrence\""))
        // The run before has not ended.
        #expect(try await op.post("\(path)/recurrence/run").status == .conflict)
        _ = try await op.post("\(path)/recurrence/pause")
        #expect(try await site.admin.recurrence(ofDelivery: id)?.state == .paused)
        #expect(try await op.get("\(path)/recurrence/remove").text.contains("Remove the recurrence?"))
        _ = try await op.post("\(path)/recurrence/remove")
        #expect(try await site.admin.recurrence(ofDelivery: id) == nil)
        let log = """
            SELECT string_agg(who || ' ' || action, ', ' ORDER BY id) FROM pushmta_engine.audit_log
            WHERE subject = '\(id)' AND action LIKE 'recurrence.%'
            """
        let verbs = ["set", "start", "run", "pause", "remove"]
        #expect(try await site.value(log) == verbs.map { "op recurrence.\($0)" }.joined(separator: ", "))
        await site.close()
    }

    @Test func aFaultyFormIsShownAgain() async throws {
        let site = try await ConsoleSite.start()
        let id = try await delivery(site)
        let op = try await site.session(.operate, name: "op")
        let wrong = [
            ("every", "0"), ("times", "9"), ("times", ""), ("starts_on", "2027-02-29"), ("except_dates", "soon"),
            ("time_zone", "Mars/Base"), ("ends_on", "2091-01-01"),
        ]
        for (name, value) in wrong {
            var changed = form
            changed[name] = value
            let answer = try await op.post("/deliveries/\(id)/recurrence", form: changed)
            #expect(answer.status == .unprocessableContent, "\(name) \(value)")
            // What was typed is still there.
            #expect(answer.text.contains("name=\"weekday4\" value=\"yes\" checked"), "\(name)")
        }
        #expect(try await site.admin.recurrence(ofDelivery: id) == nil)
        await site.close()
    }

    @Test func onlyWhoMayStartADeliveryChangesItsRecurrence() async throws {
        let site = try await ConsoleSite.start()
        let id = try await delivery(site)
        let mia = try await site.session(.marketing, name: "mia")
        #expect(try await !mia.get("/deliveries/\(id)").text.contains("/recurrence"))
        #expect(try await mia.post("/deliveries/\(id)/recurrence", form: form).status != .seeOther)
        #expect(try await site.admin.recurrence(ofDelivery: id) == nil)
        try await site.sql("UPDATE pushmta_engine.delivery SET started_by = 'mia' WHERE id = \(id)")
        #expect(try await mia.post("/deliveries/\(id)/recurrence", form: form).status == .seeOther)
        let reader = try await site.session(.read)
        let page = try await reader.get("/deliveries/\(id)").text
        #expect(page.contains("2 × week") && !page.contains("/deliveries/\(id)/recurrence"))
        await site.close()
    }
}
