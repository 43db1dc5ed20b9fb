import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The runs of recurring deliveries")
struct RecurrenceRunTests {
    private func made(_ fixture: StoreFixture) async throws -> Int64 {
        var new = NewDelivery(label: "News", applications: ["shop-ios"], content: #"{"ios": {"title": "Hi"}}"#)
        new.messagesPerSecond = 100
        return try await fixture.store.createDelivery(new)
    }

    /// A rule that begins in 2092, which has a 29 February, so that the tests' clock is ahead of the database's.
    private func rule(_ unit: RecurrenceRule.Unit = .days, _ times: [String] = ["09:00"]) -> RecurrenceRule {
        var rule = RecurrenceRule(unit: unit, timeZone: "UTC")
        rule.times = times
        rule.startsOn = "2092-01-01"
        return rule
    }

    private func started(_ fixture: StoreFixture, _ rule: RecurrenceRule) async throws -> Int64 {
        let id = try await made(fixture)
        try await fixture.store.setRecurrence(id, rule)
        try await fixture.store.startRecurrence(id)
        return id
    }

    /// Ends all runs that are under way.
    private func endRuns(_ fixture: StoreFixture) async throws {
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery SET state = 'finished', finished_at = now()
            WHERE recurrence_of IS NOT NULL AND finished_at IS NULL
            """
        )
    }

    private func outcomes(_ fixture: StoreFixture, _ id: Int64) async throws -> [String] {
        try await fixture.store.recurrenceRuns(ofDelivery: id).reversed()
            .map { "\($0.outcome.rawValue) \($0.plannedAt.internetText.prefix(16))" }
    }

    /// The SQLSTATE of a refusal by the schema; nil if there was none.
    private func refusal(_ act: () async throws -> Void) async throws -> String? {
        do {
            try await act()
            return nil
        } catch let error as StoreError {
            return error.sqlState
        } catch let error as PostgresError {
            return error.sqlState
        }
    }

    @Test("Through a year with both changes of the clock and 29 February, each day has one run at its time")
    func year() async throws {
        let fixture = try await StoreFixture.make()
        var daily = rule(.days, ["02:30"])
        daily.timeZone = "Europe/Berlin"
        daily.endsOn = "2092-12-31"
        daily.exceptDates = ["2092-05-01"]
        let id = try await started(fixture, daily)
        var runs = 0
        while let row = try await fixture.store.recurrence(ofDelivery: id), let next = row.nextRun {
            let early = try await fixture.store.makeRuns(at: next.advanced(byMilliseconds: -1).internetText)
            #expect(early.isEmpty)
            let made = try await fixture.store.makeRuns(at: next.advanced(byMilliseconds: 30_000).internetText)
            #expect(made.map(\.outcome) == ["started"] && made.first?.run != nil)
            runs += made.count
            try await endRuns(fixture)
        }
        #expect(runs == 365, "366 days without the first of May")
        #expect(try await fixture.store.recurrence(ofDelivery: id)?.state == .finished)
        func count(_ condition: String) async throws -> Int64? {
            try await fixture.sql(
                """
                SELECT count(DISTINCT (r.planned_at AT TIME ZONE 'Europe/Berlin')::date) FROM pushmta.recurrence_run r
                JOIN pushmta_engine.delivery d ON d.id = r.run_id
                WHERE r.delivery_id = \(id) AND d.recurrence_of = \(id) AND \(condition)
                """
            )
        }
        #expect(try await count("true") == 365)
        let label = "'News, ' || to_char(planned_at AT TIME ZONE 'Europe/Berlin', 'YYYY-MM-DD HH24:MI')"
        #expect(try await count("d.label = \(label)") == 365)
        #expect(try await count("(planned_at AT TIME ZONE 'Europe/Berlin')::time = '02:30'") == 364)
        // The clock skips 02:30 on that day.
        #expect(try await count("d.label = 'News, 2092-03-30 03:30'") == 1)
        #expect(try await count("d.label = 'News, 2092-02-29 02:30'") == 1)
        #expect(try await count("d.label = 'News, 2092-10-26 02:30' AND planned_at = '2092-10-26 00:30Z'") == 1)
    }

    @Test("A run is a delivery of its own, with the content, target and rate of its moment")
    func run() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        let id = try await started(fixture, rule())
        var changes = DeliveryChanges()
        changes.content = #"{"ios": {"title": "Later"}}"#
        try await fixture.store.updateDelivery(id, changes)
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 5)
        let made = try await fixture.store.makeRuns(at: "2092-01-01T09:00:01Z")
        let run = try required(made.first?.run)
        try await fixture.prepare()
        #expect(try await fixture.store.deliveryProgress(run).target == 8)
        let columns = """
            SELECT count(*) FROM pushmta_engine.delivery d JOIN pushmta_engine.rate_limit r ON r.delivery_id = d.id
            WHERE d.id = \(run) AND d.content #>> '{ios,title}' = 'Later' AND r.messages_per_second = 100
            """
        #expect(try await fixture.sql(columns) == 1)
        #expect(try await fixture.store.deliveryProgress(id).state == .editing)
        #expect(try await refusal { try await fixture.store.startDelivery(id) } == "PM171")
        #expect(try await refusal { try await fixture.store.startDelivery(run) } == "PM003")
        #expect(try await refusal { try await fixture.store.setRecurrence(run, rule()) } == "PM171")
        let row = try required(try await fixture.store.recurrenceRuns(ofDelivery: id).first)
        #expect(row.runID == run && row.target == 8 && row.outcome == .started)
    }

    @Test("What was missed is skipped, or made up for once", arguments: [RecurrenceRule.Missed.skip, .once])
    func missed(_ policy: RecurrenceRule.Missed) async throws {
        let fixture = try await StoreFixture.make()
        var daily = rule()
        daily.missed = policy
        let id = try await started(fixture, daily)
        // A supervisor that starts again misses nothing.
        _ = try await fixture.store.makeRuns(at: "2092-01-01T09:09:59Z")
        try await endRuns(fixture)
        _ = try await fixture.store.makeRuns(at: "2092-01-05T12:00:00Z")
        try await endRuns(fixture)
        #expect(try await fixture.store.makeRuns(at: "2092-01-05T12:00:01Z").isEmpty)
        let second = policy == .once ? "started" : "skipped_missed"
        #expect(
            try await outcomes(fixture, id) == ["started 2092-01-01T09:00", "\(second) 2092-01-02T09:00"]
        )
        let next = try await fixture.store.recurrence(ofDelivery: id)?.nextRun
        #expect(next?.internetText.prefix(16) == "2092-01-06T09:00")
        // One at its time replaces those that were missed before it.
        _ = try await fixture.store.makeRuns(at: "2092-01-09T09:00:01Z")
        #expect(
            try await outcomes(fixture, id).suffix(2).sorted()
                == ["skipped_missed 2092-01-06T09:00", "started 2092-01-09T09:00"]
        )
    }

    @Test("No run overlaps the one before", arguments: [RecurrenceRule.Missed.skip, .once])
    func overlap(_ policy: RecurrenceRule.Missed) async throws {
        let fixture = try await StoreFixture.make()
        var hourly = rule(.hours, ["00:00"])
        hourly.missed = policy
        let id = try await started(fixture, hourly)
        let first = try required(try await fixture.store.makeRuns(at: "2092-01-01T00:00:01Z").first?.run)
        let second = try await fixture.store.makeRuns(at: "2092-01-01T01:00:01Z")
        #expect(second.map(\.outcome) == [policy == .skip ? "skipped_overlap" : "waits"])
        #expect(try await refusal { _ = try await fixture.store.runRecurrence(id) } == "PM171")
        #expect(try await fixture.store.makeRuns(at: "2092-01-01T01:00:02Z").isEmpty)
        try await endRuns(fixture)
        let third = try await fixture.store.makeRuns(at: "2092-01-01T01:30:00Z")
        #expect(third.map(\.outcome) == (policy == .skip ? [] : ["started"]))
        let row = try required(try await fixture.store.recurrence(ofDelivery: id))
        #expect(row.nextRun?.internetText.prefix(16) == "2092-01-01T02:00")
        #expect((row.lastRun == first) == (policy == .skip))
        let reasons = try await fixture.store.recurrenceRuns(ofDelivery: id).map(\.reason)
        #expect(reasons.first == (policy == .skip ? "run \(first) had not ended" : "late"))
    }

    @Test("A run that was taken back to editing is not waited for", arguments: [RecurrenceRule.Missed.skip, .once])
    func takenBack(_ policy: RecurrenceRule.Missed) async throws {
        let fixture = try await StoreFixture.make()
        var hourly = rule(.hours, ["00:00"])
        hourly.missed = policy
        let id = try await started(fixture, hourly)
        let first = try required(try await fixture.store.makeRuns(at: "2092-01-01T00:00:01Z").first?.run)
        try await fixture.sql("DO $$ BEGIN PERFORM pushmta.reschedule_delivery(\(first), NULL); END $$")
        let second = try required(try await fixture.store.makeRuns(at: "2092-01-01T01:00:01Z").first)
        #expect(second.outcome == "started" && second.run != first)
        let told = try await fixture.store.recurrenceRuns(ofDelivery: id).map(\.reason)
        #expect(told.contains("run \(first) was taken back to editing"))
        // It can be started again, and the one after it is waited for as before.
        try await fixture.store.startDelivery(first)
        let third = try await fixture.store.makeRuns(at: "2092-01-01T02:00:01Z")
        #expect(third.map(\.outcome) == [policy == .skip ? "skipped_overlap" : "waits"])
        try await endRuns(fixture)
        _ = try await fixture.store.makeRuns(at: "2092-01-01T02:00:12Z")
        let last = try required(try await fixture.store.makeRuns(at: "2092-01-01T03:00:01Z").first)
        let row = try required(try await fixture.store.recurrence(ofDelivery: id))
        try await fixture.sql("DO $$ BEGIN PERFORM pushmta.reschedule_delivery(\(row.lastRun ?? 0), NULL); END $$")
        #expect(last.outcome == (policy == .skip ? "started" : "waits"))
        // One that is on request is made, too.
        #expect(try await fixture.store.runRecurrence(id) != row.lastRun)
    }

    @Test("A plan that does not fit into the runs is refused when the rule is set and when it is started")
    func misfits() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture)
        func sql(_ call: String) async throws -> String? {
            try await refusal { try await fixture.sql("DO $$ BEGIN PERFORM pushmta.\(call); END $$") }
        }
        #expect(try await sql("set_local_time(\(id), '2091-12-01 09:00', 'next_day')") == nil)
        #expect(try await sql("update_delivery(\(id), validity => interval '6 hours')") == nil)
        // At midnight in UTC, 09:00 is over in Japan; there it comes again within a day.
        let daily = "set_recurrence(\(id), 'days', 'UTC', '{00:00}', starts_on => '2092-01-01')"
        #expect(try await sql(daily) == "PM009")
        #expect(try await sql("update_delivery(\(id), validity => interval '24 hours')") == nil)
        #expect(try await sql(daily) == nil)
        #expect(try await sql("set_waves(\(id), '[{\"percent\": 10}, {}]')") == "PM009")
        #expect(try await sql("update_delivery(\(id), validity => interval '20 hours')") == "PM009")
        try await fixture.sql("UPDATE pushmta_engine.delivery SET validity = interval '20 hours' WHERE id = \(id)")
        #expect(try await sql("start_recurrence(\(id))") == "PM009")
        try await fixture.sql("UPDATE pushmta_engine.delivery SET validity = interval '24 hours' WHERE id = \(id)")
        #expect(try await sql("start_recurrence(\(id))") == nil)
    }

    @Test("Sending hours refuse a recurrence of which no run could be sent, and no single run")
    func hours() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture)
        func sql(_ call: String) async throws -> String? {
            try await refusal { try await fixture.sql("DO $$ BEGIN PERFORM pushmta.\(call); END $$") }
        }
        #expect(try await sql("update_delivery(\(id), validity => interval '4 hours')") == nil)
        #expect(try await sql("set_sending_hours('shop', '{1,2,3,4,5}', '09:00', '18:00')") == nil)
        func daily(_ time: String) -> String {
            "set_recurrence(\(id), 'days', 'UTC', '{\(time)}', starts_on => '2092-01-01')"
        }
        #expect(try await sql(daily("19:00")) == "PM009")
        #expect(try await sql(daily("06:00")) == nil)
        #expect(try await sql("start_recurrence(\(id))") == nil)
        // 5 January 2092 is a Saturday.
        let runs = try await fixture.store.makeRuns(at: "2092-01-05T06:00:01Z")
        #expect(runs.map(\.outcome) == ["started"])
    }

    @Test("Hosts that look at once make one run")
    func hosts() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await started(fixture, rule())
        for day in 10..<30 {
            let moment = "2092-01-\(day)T09:00:01Z"
            async let one = fixture.store.makeRuns(at: moment)
            async let two = fixture.other.makeRuns(at: moment)
            let runs = try await one + two
            #expect(runs.compactMap(\.run).count == 1, "\(moment)")
            try await endRuns(fixture)
        }
        let made = try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery WHERE recurrence_of = \(id)")
        #expect(made == 20)
    }

    @Test("A run that cannot be prepared pauses its recurrence, with an alarm, until it is started again")
    func returned() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        let id = try await started(fixture, rule())
        let run = try required(try await fixture.store.makeRuns(at: "2092-01-01T09:00:01Z").first?.run)
        #expect(try await fixture.store.returnDelivery(run, reason: "no title") == .editing)
        #expect(try await fixture.store.makeRuns(at: "2092-01-01T09:00:02Z").isEmpty)
        let row = try required(try await fixture.store.recurrence(ofDelivery: id))
        #expect(row.state == .paused && row.reason == "run \(run) was not sent: no title")
        let ended = try await fixture.store.deliveryProgress(run)
        #expect(ended.state == .stopped && ended.stateReason == "no title" && ended.finishedAt != nil)
        #expect(try await fixture.alarms("delivery_returned").isEmpty)
        let alarm = try required(try await fixture.alarms("recurrence_paused").first)
        #expect(alarm.subject == "\(id)" && alarm.text.contains("no title"))
        #expect(try await fixture.store.makeRuns(at: "2092-02-01T09:00:02Z").isEmpty)
        try await fixture.store.startRecurrence(id)
        #expect(try await fixture.alarms("recurrence_paused").isEmpty)
        #expect(try await fixture.store.makeRuns(at: "2092-03-01T09:00:02Z").map(\.outcome) == ["started"])
    }

    @Test("A session that changes a recurrence holds up no other", .timeLimit(.minutes(2)))
    func held() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        let id = try await started(fixture, rule())
        let run = try required(try await fixture.store.makeRuns(at: "2092-01-01T09:00:01Z").first?.run)
        #expect(try await fixture.store.returnDelivery(run, reason: "no title") == .editing)
        let other = try await started(fixture, rule())
        let holder = try await fixture.hold(
            "SELECT FROM pushmta_engine.recurrence WHERE delivery_id = \(id) FOR NO KEY UPDATE"
        )
        let made = try await fixture.store.makeRuns(at: "2092-01-01T09:00:02Z")
        #expect(made.map(\.delivery) == [other])
        try await holder.run(script: "ROLLBACK")
        await holder.close()
        _ = try await fixture.store.makeRuns(at: "2092-01-01T09:00:03Z")
        #expect(try await fixture.store.recurrence(ofDelivery: id)?.state == .paused)
    }

    @Test("A run that fails pauses its recurrence before the next one")
    func failed() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await started(fixture, rule())
        let run = try required(try await fixture.store.makeRuns(at: "2092-01-01T09:00:01Z").first?.run)
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET state = 'stopped', state_reason = 'no key' WHERE id = \(run)"
        )
        #expect(try await fixture.store.makeRuns(at: "2092-01-02T09:00:01Z").map(\.outcome) == ["failed"])
        let row = try required(try await fixture.store.recurrence(ofDelivery: id))
        #expect(row.state == .paused && row.reason == "run \(run) has failed: no key")
    }

    @Test("The recall of a run pauses its recurrence before the next one")
    func recalled() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await started(fixture, rule())
        let run = try required(try await fixture.store.makeRuns(at: "2092-01-01T09:00:01Z").first?.run)
        _ = try await fixture.store.recallDelivery(run, reason: "wrong price")
        #expect(try await fixture.store.makeRuns(at: "2092-01-02T09:00:01Z").isEmpty)
        let row = try required(try await fixture.store.recurrence(ofDelivery: id))
        #expect(row.state == .paused && row.reason == "run \(run) was recalled: wrong price")
    }

    @Test(
        "The recall of a run waits for nobody who changes the recurrence, which pauses all the same",
        .timeLimit(.minutes(2))
    )
    func recalledMeanwhile() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await started(fixture, rule())
        let run = try required(try await fixture.store.makeRuns(at: "2092-01-01T09:00:01Z").first?.run)
        // By the database's clock, as the recall.
        try await fixture.sql("UPDATE pushmta_engine.recurrence SET changed_at = now() - interval '1 minute'")
        let holder = try await fixture.hold(
            "SELECT FROM pushmta_engine.recurrence WHERE delivery_id = \(id) FOR NO KEY UPDATE"
        )
        _ = try await fixture.store.recallDelivery(run, reason: "wrong price")
        try await holder.run(script: "ROLLBACK")
        await holder.close()
        #expect(try await fixture.store.makeRuns(at: "2092-01-02T09:00:01Z").map(\.outcome) == ["failed"])
        let row = try required(try await fixture.store.recurrence(ofDelivery: id))
        #expect(row.state == .paused && row.reason == "run \(run) was recalled: wrong price")
    }

    @Test("It is paused, continued, removed and stopped; moments that pass meanwhile are not missed")
    func controlled() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture)
        #expect(try await refusal { try await fixture.store.startRecurrence(id) } == "PM172")
        try await fixture.store.setRecurrence(id, rule())
        #expect(try await fixture.store.recurrence(ofDelivery: id)?.state == .editing)
        #expect(try await fixture.store.makeRuns(at: "2092-01-01T09:00:01Z").isEmpty)
        #expect(try await refusal { try await fixture.store.pauseRecurrence(id) } == "PM171")
        try await fixture.store.startRecurrence(id)
        try await fixture.store.pauseRecurrence(id)
        #expect(try await fixture.store.makeRuns(at: "2092-01-01T09:00:01Z").isEmpty)
        let next = try await fixture.store.nextRuns(ofDelivery: id, limit: 3)
        #expect(next.map { String($0.internetText.prefix(16)) } == (1...3).map { "2092-01-0\($0)T09:00" })
        let run = try await fixture.store.runRecurrence(id)
        #expect(try await fixture.store.deliveryProgress(run).state == .pending)
        try await fixture.store.startRecurrence(id)
        try await fixture.store.removeRecurrence(id)
        #expect(try await fixture.store.recurrence(ofDelivery: id) == nil)
        #expect(try await fixture.store.recurrenceRuns(ofDelivery: id).map(\.runID) == [run])
        try await fixture.store.setRecurrence(id, rule())
        try await fixture.store.startRecurrence(id)
        try await fixture.store.stopDelivery(id)
        #expect(try await fixture.store.recurrence(ofDelivery: id)?.state == .finished)
        #expect(try await fixture.store.makeRuns(at: "2092-01-01T09:00:01Z").isEmpty)
        #expect(try await refusal { try await fixture.store.startRecurrence(id) } == "PM171")
    }

    @Test("Rules without sense are refused with what is wrong")
    func refused() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture)
        func words(_ change: (inout RecurrenceRule) -> Void) async throws -> String? {
            var changed = self.rule()
            change(&changed)
            let wrong = changed
            do {
                try await fixture.store.setRecurrence(id, wrong)
                return nil
            } catch let error as StoreError {
                #expect(error.sqlState == "PM170" && error.hint != nil)
                return error.message
            }
        }
        #expect(try await words { $0.timeZone = "Mars/Base" }?.contains("time_zone") == true)
        #expect(try await words { $0.times = nil }?.contains("times") == true)
        #expect(try await words { $0.every = 0 }?.contains("every") == true)
        #expect(try await words { $0.every = 367 }?.contains("every") == true)
        #expect(try await words { $0.weekdays = [1] }?.contains("weekdays") == true)
        #expect(try await words { $0.monthDays = [1] }?.contains("month_days") == true)
        #expect(try await words { $0.endsOn = "2091-12-31" }?.contains("ends_on") == true)
        #expect(
            try await words { $0.exceptDates = Array(repeating: "2092-01-01", count: 201) }?.contains("except") == true
        )
        let never = try await words {
            $0.unit = .months
            $0.every = 12
            $0.startsOn = "2092-02-01"
            $0.monthDays = [30]
        }
        #expect(never?.contains("no run") == true)
        #expect(
            try await words {
                $0.unit = .hours
                $0.times = nil
            } == nil
        )
        #expect(try await fixture.store.recurrence(ofDelivery: id)?.rule.times == ["00:00"])
    }

    @Test("After a step back of the clock the next moment is planned again, and none has a second run")
    func stepBack() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await started(fixture, rule())
        _ = try await fixture.store.makeRuns(at: "2092-01-03T09:00:01Z")
        try await endRuns(fixture)
        _ = try await fixture.store.makeRuns(at: "2092-01-01T10:00:00Z")
        let next = try await fixture.store.recurrence(ofDelivery: id)?.nextRun
        #expect(next?.internetText.prefix(16) == "2092-01-02T09:00")
        for day in 2...4 {
            _ = try await fixture.store.makeRuns(at: "2092-01-0\(day)T09:00:01Z")
            try await endRuns(fixture)
        }
        let started = try await outcomes(fixture, id).filter { $0.hasPrefix("started") }.sorted()
        #expect(started == (2...4).map { "started 2092-01-0\($0)T09:00" })
    }

    @Test("Marketing systems use it in SQL; its targets outlive the retention of deliveries that were never started")
    func roles() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.startedDelivery(explicit: true)
        try await fixture.sql(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, user_key, created_at) VALUES (\(id), 'ann', now() - interval '90 days')
            """
        )
        let marketing = try await fixture.database.connect()
        try await marketing.run(
            script: """
                SET ROLE pushmta_marketing;
                SELECT pushmta.set_recurrence(\(id), 'weeks', 'Europe/Berlin', times => '{09:00}', weekdays => '{1,4}');
                SELECT pushmta.start_recurrence(\(id));
                SELECT * FROM pushmta.recurrence;
                SELECT * FROM pushmta.recurrence_run;
                SELECT * FROM pushmta.next_runs(\(id));
                """
        )
        let purge = "SELECT pushmta_engine.purge_delivery_rows(1000, current_date)"
        let left = "SELECT count(*) FROM pushmta.delivery_target WHERE delivery_id = \(id)"
        try await fixture.sql(purge)
        #expect(try await fixture.sql(left) == 1)
        try await marketing.run(script: "SELECT pushmta.remove_recurrence(\(id))")
        await marketing.close()
        try await fixture.sql(purge)
        #expect(try await fixture.sql(left) == 0)
    }
}
