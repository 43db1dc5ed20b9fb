import Foundation
import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// The step When, the plan on a delivery's page, and the sending hours of a service.
@Suite struct PlanPageTests {
    private func save(_ browser: ConsoleBrowser, _ draft: String, _ form: [String: String]) async throws
        -> ConsoleAnswer
    {
        let page = try await browser.get("\(draft)/when").text
        let version = page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        return try await browser.post("\(draft)/when", form: form.merging(["version": version]) { own, _ in own })
    }

    private func start(_ browser: ConsoleBrowser, _ draft: String) async throws -> ConsoleAnswer {
        let page = try await browser.get("\(draft)/send").text
        let version = page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        return try await browser.post("\(draft)/start", form: ["version": version, "at": ""])
    }

    @Test func aPlanIsTypedAndStarted() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(subscribers: 40)
        let wrong = try await save(
            mia,
            draft,
            ["plan.wave.0.size": "many", "plan.wave.0.begins": "1h", "plan.wave.2.failed": "200", "go": "next"]
        )
        #expect(wrong.headers[.location] == "\(draft)/when?saved=1", "it stays")
        let page = try await mia.get("\(draft)/when").text
        for words in ["such as 5 %", "has none before it", "from 0 to 100", #"value="many""#] {
            #expect(page.contains(words), "\(words)")
        }
        #expect(try await mia.get("\(draft)/send").text.contains("of the step “When” is invalid"))
        let right = try await save(
            mia,
            draft,
            [
                "plan.wave.0.size": "25 %", "plan.wave.0.failed": "2", "plan.wave.3.size": "5",
                "plan.wave.3.begins": "30 min",
                "plan.rest.begins": "1d", "plan.hours": "drop", "go": "next",
            ]
        )
        #expect(right.headers[.location] == "\(draft)/experiment")
        let again = try await mia.get("\(draft)/when").text
        #expect(again.contains(#"name="plan.wave.1.begins" value="30 min""#), "the empty rows are gone")
        let question = try await mia.get("\(draft)/start?when=now").text
        for words in [
            "25 % · 5 messages · The rest", "It starts at once. Its plan says when messages leave.",
            "Wave 2: 30 min 0 s after wave 1 begins · Wave 3: 1 d 0 h after wave 2 begins",
            "Wave 1: failed at most 2 %, bad tokens at most 20 %", "Messages are not sent",
        ] {
            #expect(question.contains(words), "\(words)")
        }
        let started = try await start(mia, draft)
        let path = try #require(started.headers[.location]?.split(separator: "?").first.map(String.init))
        let id = try #require(Int64(path.replacing("/deliveries/", with: "")))
        let row = try #require(try await site.admin.plan(ofDelivery: id))
        #expect(row.hours == .drop && row.waves.map(\.percent) == [25, nil, nil] && row.waves[1].count == 5)
        #expect(row.waves.map(\.afterSeconds) == [nil, 1_800, 86_400] && row.waves[0].maxFailed == 0.02)
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !site.admin.prepareChunk(job).done {}
        let shown = try await mia.get(path).text
        for words in [
            "Messages that wait for their time", "under way", "Messages are not sent", "<bdi>40</bdi>",
            "failed at most 2 %", "bad tokens at most 20 %", "30 min 0 s after wave 1 begins",
            "waits for 10 messages of wave 1, until",
        ] {
            #expect(shown.contains(words), "\(words)")
        }
        // Its time has come, and no check of its plan was since.
        try await site.sql(
            "UPDATE pushmta_engine.delivery_wave SET opened_at = now() - interval '31 minutes' WHERE number = 1"
        )
        let due = try await mia.get(path).text
        #expect(due.contains("due since ") && due.contains("it begins when a check finds wave 1 within its limits"))
        // A draft that says the same.
        let copy = try await mia.post("\(path)/duplicate", form: [:])
        let other = try #require(copy.headers[.location]).replacing("/applications", with: "/when")
        let copied = try await mia.get(other).text
        for words in [#"value="25 %""#, #"value="30min""#, #"name="plan.rest.begins" value="1d""#] {
            #expect(copied.contains(words), "\(words)")
        }
        // After its end nothing of it waits.
        try await site.admin.stopDelivery(id)
        let over = try await mia.get(path).text
        #expect(over.contains("did not begin") && !over.contains("Messages that wait for their time"))
        #expect(!over.contains("after wave 1 begins") && !over.contains(">under way<"))
        await site.close()
    }

    @Test func theAuthorResumesWhatAGuardHasPaused() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(subscribers: 40)
        _ = try await save(mia, draft, ["plan.wave.0.size": "25 %", "plan.wave.0.failed": "2", "go": "next"])
        let started = try await start(mia, draft)
        let path = try #require(started.headers[.location]?.split(separator: "?").first.map(String.init))
        let id = try #require(Int64(path.replacing("/deliveries/", with: "")))
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !site.admin.prepareChunk(job).done {}
        // As a guard does.
        try await site.sql("UPDATE pushmta_engine.delivery_wave SET held_at = now() WHERE number = 1")
        try await site.admin.pauseDelivery(id)
        let held = try await mia.get(path).text
        #expect(held.contains("\(path)/resume") && !held.contains("An operator has to resume it."))
        let eve = try await site.session(.marketing, name: "eve")
        #expect(try await eve.post("\(path)/resume").status == .forbidden)
        #expect(try await mia.post("\(path)/resume").headers[.location] == "\(path)?done=resume")
        #expect(try await mia.get(path).text.contains("over its limits, resumed by hand"))
        // What somebody else has paused later is not hers.
        try await site.admin.pauseDelivery(id)
        let paused = try await mia.get(path).text
        #expect(!paused.contains("\(path)/resume") && paused.contains("An operator has to resume it."))
        #expect(try await mia.post("\(path)/resume").status == .forbidden)
        let operate = try await site.session(.operate)
        #expect(try await !operate.get(path).text.contains("An operator has to resume it."))
        await site.close()
    }

    @Test func aLocalTimeNeedsToSayWhatHappensWhereItHasPassed() {
        func form(_ values: [String: String]) -> PlanForm { PlanForm(values: values, catalogue: .english) }
        let time = PlanForm.localTime
        #expect(form([time: "2036-12-01T09:00"]).problems[PlanForm.onPast] != nil)
        #expect(form([time: "soon", PlanForm.onPast: "now"]).problems[time] != nil)
        let right = form([time: "2036-12-01T09:00", PlanForm.onPast: "next_day"])
        #expect(!right.isWrong && right.plan.onPast == .nextDay && right.facts.count == 1)
        #expect(form([:]).plan == DeliveryPlan() && form([:]).facts.isEmpty)
        // Waves follow each other in all time zones, which may take a day.
        let size = PlanForm.field(0, .size)
        let words = "left in all time zones"
        let both = form([time: "2036-12-01T09:00", PlanForm.onPast: "skip", size: "5 %"])
        #expect(both.facts.contains { $0.value.contains(words) })
        #expect(!form([size: "5 %"]).facts.contains { $0.value.contains(words) })
    }

    @Test func wavesAreAtMostTheWhole() {
        func problems(_ sizes: [String]) -> [String: String] {
            let values = sizes.enumerated().map { (PlanForm.field($0.offset, .size), $0.element) }
            return PlanForm(values: Dictionary(uniqueKeysWithValues: values), catalogue: .english).problems
        }
        let wrong = problems(["60 %", "60 %", "1000"])
        #expect(wrong == [PlanForm.field(1, .size): Catalogue.english[.waveSumWrong]])
        #expect(problems(["60 %", "40 %"]).isEmpty && problems(["33.3 %", "33.3 %", "33.4 %", "7"]).isEmpty)
    }

    @Test func aPlanOfADeliveryBecomesTheSamePlan() {
        let settings =
            #"{"plan": {"local_time": "2036-12-01T09:00:00", "on_past": "skip", "waves": [{"percent": 29.5, "max_token_errors": null}, {"count": 7, "after": "5400 seconds", "max_failed": 0.015}, {"at": "2036-12-02T09:00:00.000000Z"}]}}"#
        let form = PlanForm(values: PlanForm.values(json: settings), catalogue: .english)
        #expect(!form.isWrong, "\(form.problems)")
        let plan = form.plan
        #expect(plan.localTime == "2036-12-01T09:00" && plan.onPast == .skip && plan.waves.count == 3)
        #expect(plan.waves[0].size == .percent(29.5) && plan.waves[1].afterSeconds == 5_400)
        #expect(plan.waves[1].maxFailed == 0.015 && plan.waves[2].startsAt == "2036-12-02T09:00Z")
        #expect(PlanForm.values(json: "{}").isEmpty && PlanForm.values(json: "x").isEmpty)
    }

    /// A duplicate keeps a local time that is over, and a draft may wait for too long.
    @Test func timesThatAreOverAreNamed() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft(subscribers: 40)
        let form = [
            "plan.local_time": "2020-01-02T09:00", "plan.on_past": "now", "plan.wave.0.size": "5 %",
            "plan.rest.begins": "2020-01-03T10:00", "plan.zone": "UTC",
        ]
        _ = try await save(mia, draft, form)
        for step in ["when", "send"] {
            let page = try await mia.get("\(draft)/\(step)").text
            #expect(page.contains("The local time 2020-01-02 09:00 UTC is over."), "\(step)")
            #expect(page.contains("The rest begins on 2020-01-03 10:00 UTC, which is over."), "\(step)")
        }
        _ = try await save(mia, draft, ["plan.local_time": "2036-01-02T09:00", "plan.on_past": "now"])
        let later = try await mia.get("\(draft)/send").text
        #expect(!later.contains("UTC is over.") && !later.contains("which is over."))
        await site.close()
    }

    /// The times of a draft have the zone of its service, unless it says another one.
    @Test func momentsAreTypedInAZone() async throws {
        let site = try await ConsoleSite.start()
        try await site.sql("UPDATE pushmta_engine.service SET time_zone = 'Europe/Berlin'")
        let (mia, draft) = try await site.saleDraft(subscribers: 40)
        let first = try await mia.get("\(draft)/when").text
        #expect(first.contains(#"<option value="Europe/Berlin" selected>"#))
        // 30 March 2036 has no 02:30 in Berlin, and 26 October has it twice.
        let times = [
            ("2036-03-30T02:30", "that time does not exist"),
            ("2036-10-26T02:30", "so that time occurs twice: at 2036"),
        ]
        for (time, words) in times {
            let form = [
                "plan.wave.0.size": "5 %", "plan.rest.begins": time, "plan.zone": "Europe/Berlin", "go": "next",
            ]
            #expect(try await save(mia, draft, form).headers[.location] == "\(draft)/when?saved=1", "it stays")
            let page = try await mia.get("\(draft)/when").text
            #expect(page.contains(words) && page.contains(#"id="plan.rest.begins-problem""#), "\(time)")
            #expect(page.contains(#"aria-describedby="waves-hint plan.rest.begins-problem""#), "\(time)")
        }
        // Each zone has a local time of its own, so such a time is told, not refused.
        let skipped = ["plan.local_time": "2036-03-30T02:30", "plan.on_past": "now", "go": "next"]
        #expect(try await save(mia, draft, skipped).headers[.location] == "\(draft)/experiment")
        for step in ["when", "send"] {
            let page = try await mia.get("\(draft)/\(step)").text
            #expect(page.contains("Europe/Berlin skips 2036-03-30 02:30:"), "\(step)")
        }
        let nowhere = ["plan.wave.0.size": "5 %", "plan.rest.begins": "2036-07-01T09:00", "plan.zone": "Mars/Base"]
        _ = try await save(mia, draft, nowhere)
        #expect(try await mia.get("\(draft)/when").text.contains("does not know the time zone Mars/Base"))
        _ = try await save(mia, draft, nowhere.merging(["plan.zone": "Asia/Tokyo"]) { _, new in new })
        #expect(try await mia.get("\(draft)/send").text.contains("2036-07-01 09:00 Asia/Tokyo"))
        // The start, too, with the problem at its field.
        for (time, words) in times + [("2036-02-31T10:00", "Give a start time.")] {
            let page = try await mia.get("\(draft)/start?when=later&at=\(time)&zone=Europe/Berlin")
            #expect(page.status == .conflict && page.text.contains(words), "\(time)")
            #expect(page.text.contains(#"aria-describedby="at-problem""#) && page.text.contains("value=\"\(time)\""))
        }
        // A time that is over is told as it was typed.
        let day = (Date.now - 86_400).ISO8601Format().prefix(10)
        let over = try await mia.get("\(draft)/start?when=later&at=\(day)T18:00&zone=Europe/Berlin").text
        #expect(over.contains("\(day) 18:00 Europe/Berlin is in the past"))
        let question = try await mia.get("\(draft)/start?when=later&at=2036-06-30T18:00&zone=Europe/Berlin").text
        #expect(question.contains("2036-06-30 18:00 Europe/Berlin (2036-06-30 16:00 UTC)"))
        #expect(question.contains(#"name="at" value="2036-06-30T16:00""#))
        // Who cancels it finds the time as it was typed.
        let back = question.firstMatch(of: /href="([^"]*\/send\?[^"]*)"/).map { String($0.1) } ?? ""
        let typed = try await mia.get(back.replacing("&amp;", with: "&")).text
        #expect(typed.contains(#"value="2036-06-30T18:00""#) && typed.contains(#"value="later" checked"#))
        let version = question.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        let started = try await mia.post("\(draft)/start", form: ["version": version, "at": "2036-06-30T16:00"])
        let path = try #require(started.headers[.location])
        let id = try #require(Int64(path.replacing("/deliveries/", with: "")), "\(started.text)")
        #expect(
            try await site.admin.plan(ofDelivery: id)?.waves.last?.startsAt?.internetText
                == "2036-07-01T00:00:00.000000Z"
        )
        // Its page offers the zone of its service, and takes another one.
        let page = try await mia.get(path).text
        #expect(page.contains(#"value="2036-06-30T18:00""#) && page.contains(#"value="Europe/Berlin" selected"#))
        let gap = try await mia.get("\(path)/reschedule?at=2036-03-30T02:30&zone=Europe/Berlin")
        #expect(gap.status == .conflict && gap.text.contains(#"id="at-problem""#))
        let moved = try await mia.post("\(path)/reschedule", form: ["at": "2036-06-29T09:00", "zone": "Asia/Tokyo"])
        #expect(moved.headers[.location] == "\(path)?done=reschedule")
        #expect(try await site.admin.deliveryProgress(id).startAt?.internetText == "2036-06-29T00:00:00.000000Z")
        await site.close()
    }

    /// What an analysed delivery sends and when is said again before its start, and so is what its service says.
    @Test func theStartOfADeliveryIsConfirmedWithItsPlan() async throws {
        let site = try await ConsoleSite.start()
        let content = #"{"ios": {"title": "Hello"}, "locales": {"fr": {"ios": {"title": "Bonjour"}}}}"#
        let (mia, draft) = try await site.saleDraft(subscribers: 40, content: content)
        let id = try await site.admin.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: content)
        )
        try await site.sql(
            """
            DO $$ BEGIN
                PERFORM pushmta.set_service_hours('shop', '{"hours": [{"weekdays": [1, 2, 3, 4, 5, 6, 7], "opens": "00:00",
                    "closes": "24:00"}], "days_off": [], "outside": "postpone", "time_zone": "UTC"}');
                PERFORM pushmta.set_waves(\(id), '[{"percent": 25, "max_failed": 0.02}, {"after": "1 hour"}]');
                PERFORM pushmta.set_local_time(\(id), '2036-12-01 09:00', 'next_day');
                PERFORM pushmta.set_experiment(\(id), '[{"percent": 45}, {"percent": 45, "label": "B",
                    "content": {"ios": {"title": "Hi"}}}]',
                    hold_out_percent => 10);
                PERFORM pushmta.analyze_delivery(\(id));
            END $$
            """
        )
        let admin = try await site.session(.admin)
        let page = try await admin.get("/deliveries/\(id)/start?at=2036-11-30T00:00").text
        for words in [
            "2036-12-01 09:00 in each recipient’s local time", "Send at that time of the next day", "25 % · The rest",
            "Wave 2: 1 h 0 min after wave 1 begins", "Wave 1: failed at most 2 %, bad tokens at most 20 %",
            "2 variants, best by clicks: A 45 %, B 45 %, hold-out 10 %", "<bdi>fr</bdi>",
            "Its plan says when messages leave.", "Messages wait (shop)", "Monday – Sunday 00:00-24:00 (shop)",
        ] {
            #expect(page.contains(words), "\(words): \(page)")
        }
        // A draft of the same service.
        let question = try await mia.get("\(draft)/start?when=now").text
        for words in ["Messages wait (shop)", "<bdi>fr</bdi>", "Messages leave within the sending hours."] {
            #expect(question.contains(words), "\(words)")
        }
        // Those who choose what happens outside of the hours, or approve it, see the hours as well.
        let week = "Monday – Sunday 00:00-24:00 (shop)"
        for (rule, isShown) in [("postpone", true), ("drop", true), ("ignore", false)] {
            _ = try await save(mia, draft, ["plan.hours": rule, "go": "next"])
            let chosen = try await mia.get("\(draft)/start?when=now").text
            #expect(chosen.contains(week) == isShown && !chosen.contains("Messages wait (shop)"), "\(rule)")
            // The change ends its analysis.
            try await site.sql(
                """
                DO $$ BEGIN PERFORM pushmta.set_hours_rule(\(id), '\(rule)'); PERFORM pushmta.analyze_delivery(\(id)); END $$
                """
            )
            let asked = try await admin.get("/deliveries/\(id)/start?at=2036-11-30T00:00").text
            #expect(asked.contains(week) == isShown && !asked.contains("Messages wait (shop)"), "\(rule)")
        }
        // Nobody who waits for a code waits for the hours, and neither does a transactional message.
        _ = try await save(mia, draft, ["go": "next"])
        let limits = try await mia.get("\(draft)/limits").text
        let version = limits.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
        _ = try await mia.post("\(draft)/limits", form: ["version": version, "settings.category": "transactional"])
        let exempt = try await mia.get("\(draft)/start?when=now").text
        #expect(exempt.contains("confirm-title") && !exempt.contains(week), "\(exempt)")
        let code = try await site.admin.createDelivery(
            NewDelivery(label: "Code", applications: ["shop-ios"], content: content)
        )
        for isCode in [false, true] {
            try await site.admin.setOneTimeCode(code, isCode)
            let facts = try await DeliveryStartFacts(catalogue: .english).read(site.admin, code, start: nil).facts
            #expect(facts.contains { $0.value == week } == !isCode, "\(facts)")
        }
        await site.close()
    }

    @Test func anOperatorSetsTheHoursOfAService() async throws {
        let site = try await ConsoleSite.start()
        let operate = try await site.session(.operate)
        let path = "/services/hours?service=shop"
        #expect(try await operate.get("/services").text.contains(path.replacing("&", with: "&amp;")))
        let reader = try await site.session(.read)
        #expect(try await reader.get(path).text.contains("The service has no sending hours"))
        #expect(try await reader.get("/services/hours?service=none").status == .notFound)
        let page = try await operate.get(path).text
        let version = try #require(page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) })
        #expect(page.contains(#"<option value="Europe/Paris">"#))
        var form = [
            "version": version, "day.1": "09:00-12:00, 13:00-18:00", "day.6": "10:00-24:00", "days_off": "2036-12-25",
            "outside": "drop", "time_zone": "Europe/Paris",
        ]
        form["day.2"] = "9-18"
        #expect(try await operate.post(path, form: form).text.contains("Write hours as in"))
        form["day.2"] = "18:00-09:00"
        #expect(try await operate.post(path, form: form).text.contains("hours do not end after they begin"))
        form["day.2"] = nil
        #expect(try await operate.post(path, form: form).headers[.location] == "/services?done=hours")
        let hours = try await site.admin.sendingHours(ofService: "shop")
        #expect(hours.outside == .drop && hours.timeZone == "Europe/Paris" && hours.daysOff == ["2036-12-25"])
        #expect(
            hours.hours.map(\.opens) == ["09:00", "13:00", "10:00"] && hours.hours.map(\.weekdays) == [[1], [1], [6]]
        )
        #expect(try await operate.get(path).text.contains(#"value="09:00-12:00, 13:00-18:00""#))
        #expect(try await operate.post(path, form: form).text.contains("Another user has changed it"))
        let marketing = try await site.session(.marketing)
        let shown = try await marketing.get(path).text
        for words in ["09:00-12:00, 13:00-18:00", "no messages", "2036-12-25", "Messages are not sent", "Europe/Paris"]
        {
            #expect(shown.contains(words), "\(words): \(shown)")
        }
        #expect(!shown.contains("name=\"day.1\""))
        #expect(try await marketing.get("/services").text.contains(path))
        #expect(try await marketing.post(path, form: form).status == .forbidden)
        await site.close()
    }

    /// A draft without its start would leave as soon as it is approved.
    @Test func theChosenStartStaysWithTheDraft() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        func send(_ form: [String: String]) async throws -> String {
            let page = try await mia.get("\(draft)/send").text
            let version = page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
            let answer = try await mia.post("\(draft)/send", form: form.merging(["version": version]) { own, _ in own })
            return try #require(answer.headers[.location], "\(answer.text)")
        }
        func shows(_ time: String, _ zone: String) async throws -> Bool {
            let page = try await mia.get("\(draft)/send").text
            return page.contains(#"value="later" checked"#) && page.contains("value=\"\(time)\"")
                && page.contains("value=\"\(zone)\" selected")
        }
        // An error of a setting leaves what else is typed.
        let form = ["when": "later", "at": "2036-06-30T18:00", "zone": "Europe/Berlin", "go": "start"]
        let wrong = try await send(form.merging(["settings.validity_seconds": "soon"]) { own, _ in own })
        #expect(wrong == "\(draft)/send?saved=1")
        #expect(try await mia.get(wrong).text.contains(#"id="start-title""#))
        #expect(try await shows("2036-06-30T18:00", "Europe/Berlin"))
        func start() async throws -> Int64 {
            let question = try await mia.get(try await send(form.merging(["settings.validity_seconds": ""]) { $1 }))
                .text
            let typed = [
                "version": question.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? "",
                "at": question.firstMatch(of: /name="at" value="([^"]*)"/).map { String($0.1) } ?? "",
            ]
            let answer = try await mia.post("\(draft)/start", form: typed)
            let path = answer.headers[.location]?.split(separator: "?").first ?? ""
            return try #require(Int64(path.replacing("/deliveries/", with: "")), "\(answer.text)")
        }
        #expect(try await mia.post("/deliveries/\(try await start())/edit").headers[.location] == "\(draft)/send")
        #expect(try await shows("2036-06-30T18:00", "Europe/Berlin"))
        // It may have been moved since, and is shown in the zone that was chosen.
        let id = try await start()
        let later = ["at": "2036-07-01T10:00", "zone": "UTC"]
        #expect(try await mia.post("/deliveries/\(id)/reschedule", form: later).status == .seeOther)
        #expect(try await mia.post("/deliveries/\(id)/edit").headers[.location] == "\(draft)/send")
        #expect(try await shows("2036-07-01T12:00", "Europe/Berlin"))
        try await site.sql(
            """
            UPDATE pushmta_engine.console_draft SET fields = fields || '{"start.at": "2026-01-02T03:04"}'
            """
        )
        let over = try await mia.get("\(draft)/send").text
        #expect(over.contains("2026-01-02 03:04 Europe/Berlin is in the past") && over.contains(#"id="at-problem""#))
        await site.close()
    }
}
