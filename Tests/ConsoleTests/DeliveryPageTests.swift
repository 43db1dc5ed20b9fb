import Foundation
import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// What the page of one delivery shows: before its start, under way, and after its end.
@Suite struct DeliveryPageTests {
    private static let content = """
        {"ios": {"title": "Hello {{name|you}}", "body": "Half price"}, "locales": {"fr": {"ios": {"title": "Bonjour"}}}}
        """

    private func subscribe(_ site: ConsoleSite, _ count: Int) async throws {
        try await site.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, locale)
            SELECT a.id, lpad(n::text, 64, 'a'), CASE WHEN n <= 3 THEN 'fr' ELSE 'de' END
            FROM pushmta_engine.application a, generate_series(1, \(count)) n
            """
        )
    }

    private func draft(_ site: ConsoleSite) async throws -> Int64 {
        try await site.admin.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: Self.content)
        )
    }

    @Test func aPageShowsWhatADeliverySaysAndToWhom() async throws {
        let site = try await ConsoleSite.start()
        try await subscribe(site, 7)
        let id = try await draft(site)
        try await site.sql(
            """
            SELECT pushmta.create_exclusion_list('loud');
            SELECT pushmta.set_target(\(id), 'locale = ''fr'' or locale = ''it''', ARRAY['loud'])
            """
        )
        let page = try await site.session(.read).get("/deliveries/\(id)").text
        for words in [
            "Hello you", "Half price", "Bonjour", "everyone else", "Content: <bdi>fr</bdi>",
            "<bdi>locale is fr or locale is it</bdi>", "<bdi>loud</bdi>", "<bdi>at most 3</bdi>", "Made by",
            "5 d 0 h after the start",
        ] {
            #expect(page.contains(words), "\(words)")
        }
        // Nothing of it is made: there are no outcomes, and no number but this one.
        #expect(!page.contains("funnel-title") && !page.contains("outcomes-title") && !page.contains("chart-"))
        await site.close()
    }

    /// Its charts have that zone, too.
    @Test func itsTimesHaveTheZoneOfItsService() async throws {
        let site = try await ConsoleSite.start()
        try await subscribe(site, 7)
        let id = try await draft(site)
        try await site.sql("UPDATE pushmta_engine.service SET time_zone = 'Asia/Kolkata'")
        try await site.sql("SELECT pushmta.start_delivery(\(id), now() + interval '1 day')")
        let start = try #require(try await site.admin.deliveryProgress(id).startAt)
        let local = try #require(try await site.admin.localTimes(of: [start], in: "Asia/Kolkata")[start])
        let reader = try await site.session(.read)
        let page = try await reader.get("/deliveries/\(id)").text
        let minute = local.replacing("T", with: " ")
        #expect(page.contains("<bdi>\(minute) Asia/Kolkata</bdi>"), "\(page)")
        // Also in what the engine says of limits.
        let said = page.firstMatch(of: #/it starts at ([0-9 -]+:[0-9]{2}):[0-9]{2} Asia/Kolkata/#)
        #expect(said.map { String($0.1) } == minute, "\(page)")
        #expect(!page.contains(" UTC<"))
        let utc = String(start.internetText.replacing("T", with: " ").prefix(19))
        let clock = try await site.admin.clock(ofZone: "Asia/Kolkata")
        Figures.$zone.withValue(clock) {
            #expect(Figures.inZone("from \(utc) UTC, not 99:99 UTC") == "from \(Figures.time(start)), not 99:99 UTC")
            #expect(Figures.inZone("\(utc.prefix(16)) UTC") == Figures.minute(start))
            for wrong in ["2026-13-41 23:30 UTC", "2026-12-01 24:30:00 UTC", "2026-12-01 23:30 CET, not UTC"] {
                #expect(Figures.inZone(wrong) == wrong)
            }
        }
        #expect(Figures.inZone("\(utc) UTC") == "\(utc) UTC")
        await site.close()
    }

    /// Who looks at a page sees one state, above the numbers and with them.
    @Test func theStateIsPartOfTheLivePart() async throws {
        let site = try await ConsoleSite.start()
        try await subscribe(site, 7)
        let id = try await site.delivery()
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !site.admin.prepareChunk(job).done {}
        let reader = try await site.session(.read)
        let page = try await reader.get("/deliveries/\(id)").text
        let chip = #"<span class="chip large fair">waiting</span>"#
        #expect(page.contains(#"<span id="delivery-state">"# + chip), "\(page)")
        let live = try await site.responder.deliveries.part(id).part.html
        #expect(live.contains(#"<template data-of="delivery-state">"# + chip), "\(live)")
        await site.close()
    }

    /// Its last messages are on their way when it is stopped.
    @Test(.timeLimit(.minutes(1))) func aStoppedDeliveryIsFollowedUntilItsLastOutcome() async throws {
        let site = try await ConsoleSite.start()
        try await subscribe(site, 7)
        let id = try await site.delivery()
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !site.admin.prepareChunk(job).done {}
        // As when a child holds its parts: they stay open.
        try await site.sql("UPDATE pushmta_engine.delivery SET state = 'stopped' WHERE id = \(id)")
        let reader = try await site.session(.read)
        let page = try await reader.get("/deliveries/\(id)").text
        let live = String(try #require(page.firstMatch(of: /data-path="([^"]+)"/)).1).replacing("&amp;", with: "&")
        try await site.sql(
            """
            UPDATE pushmta_engine.delivery_part SET state = 'done', finished_at = now(), rest_status = 7, rest_reason = 'stopped'
            WHERE delivery_id = \(id)
            """
        )
        // Its page has no updates any more, so it is loaded again.
        #expect(try await reader.live(live).hasSuffix(LiveEvent.changed.text))
        #expect(try await !reader.get("/deliveries/\(id)").text.contains("data-path="))
        await site.close()
    }

    /// Receipts and clicks come for minutes after the last message has left.
    @Test(.timeLimit(.minutes(1))) func aFinishedDeliveryIsFollowedWhileItsReceiptsCome() async throws {
        let site = try await ConsoleSite.start()
        let id = try await site.delivery()
        try await site.sql(
            """
            UPDATE pushmta_engine.delivery SET state = 'finished', target = 500, prepared = true, started_at = now(),
                finished_at = now() WHERE id = \(id);
            INSERT INTO pushmta_engine.delivery_part (delivery_id, log_day, application_id, external_account_id, state, not_before, size,
                sent, finished_at)
            SELECT d.id, d.log_day, a.id, a.external_account_id, 'done', now(), 500, 500, now()
            FROM pushmta_engine.delivery d, pushmta_engine.application a WHERE d.id = \(id)
            """
        )
        let reader = try await site.session(.read)
        let page = try await reader.get("/deliveries/\(id)").text
        let live = String(try #require(page.firstMatch(of: /data-path="([^"]+)"/)).1).replacing("&amp;", with: "&")
        try await site.sql(
            """
            INSERT INTO pushmta_engine.delivery_statistic (delivery_id, hour, n, application_id, measure, failure, app_version, locale,
                reason)
            SELECT \(id), date_trunc('hour', now()), 123, a.id, 19, -1, '', '', '' FROM pushmta_engine.application a
            """
        )
        #expect(try await site.responder.deliveries.part(id).part.html.contains(">123<"))
        try await site.sql(
            "UPDATE pushmta_engine.delivery SET finished_at = now() - interval '1 hour' WHERE id = \(id)"
        )
        // Now its page is loaded a last time, and all of it is read again.
        #expect(try await reader.live(live).hasSuffix(LiveEvent.changed.text))
        let last = try await reader.get("/deliveries/\(id)").text
        #expect(last.contains(">123<") && !last.contains("data-path="))
        await site.close()
    }

    @Test func theTargetIsOneNumberUntilItLeaves() async throws {
        let site = try await ConsoleSite.start()
        try await subscribe(site, 7)
        let id = try await draft(site)
        let reader = try await site.session(.read)
        /// The number where the page says whom it goes to, and in the funnel.
        func target() async throws -> [String] {
            let page = try await reader.get("/deliveries/\(id)").text
            let about = page.firstMatch(of: /<dt>Target<\/dt><dd><bdi>([^<]*)<\/bdi>/).map { String($0.1) }
            let funnel = page.firstMatch(
                of: /<th scope="row">Target<\/th><td class="fill">.*?<\/td><td class="right number">([^<]*)</
            ).map { String($0.1) }
            return [about ?? "", funnel ?? ""]
        }
        #expect(try await target() == ["7", ""])
        try await site.sql("SELECT pushmta.analyze_delivery(\(id))")
        #expect(try await target() == ["being counted", ""])
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !site.admin.prepareChunk(job).done {}
        _ = try await site.admin.endAnalysis(of: job, AnalysisFindings())
        // Somebody who registers later is not among them.
        try await site.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token)
            SELECT a.id, lpad('8', 64, 'b') FROM pushmta_engine.application a
            """
        )
        #expect(try await target() == ["7", "7"])
        try await site.admin.startDelivery(id)
        #expect(try await target() == ["7", "7"])
        // Paused before it was prepared: nobody has counted it yet.
        let other = try await site.delivery()
        try await site.admin.pauseDelivery(other)
        let page = try await reader.get("/deliveries/\(other)").text
        #expect(page.contains("<dt>Target</dt><dd><bdi>8</bdi>") && !page.contains("funnel-title"))
        try await site.admin.resumeDelivery(other)
        let resumed = try await reader.get("/deliveries/\(other)?done=resume").text
        #expect(resumed.contains("It has not begun yet.") && !resumed.contains("continues where it stopped"))
        await site.close()
    }

    @Test func anEndedDeliveryShowsItsCourseAndNothingThatRuns() async throws {
        let site = try await ConsoleSite.start()
        try await site.sql("UPDATE pushmta_engine.service SET time_zone = 'Asia/Kolkata'")
        let id = try await site.delivery()
        try await site.sql(
            """
            UPDATE pushmta_engine.delivery SET state = 'finished', target = 1000, prepared = true,
                started_at = '2026-03-01 10:00Z', finished_at = '2026-03-01 10:20Z' WHERE id = \(id);
            INSERT INTO pushmta_engine.delivery_part (delivery_id, log_day, application_id, external_account_id, state, not_before, size,
                sent, failed, finished_at)
            SELECT d.id, d.log_day, a.id, a.external_account_id, 'done', now(), 500, p.sent, 500 - p.sent, p.finished_at::timestamptz
            FROM pushmta_engine.delivery d, pushmta_engine.application a,
                (VALUES (490, '2026-03-01 10:02:30Z'), (500, '2026-03-01 10:19:10Z')) p(sent, finished_at) WHERE d.id = \(id);
            INSERT INTO pushmta_engine.delivery_statistic (delivery_id, hour, n, application_id, measure, failure, app_version, locale,
                reason)
            SELECT \(id), h.hour::timestamptz, h.n, a.id, h.measure, -1, '', '', '' FROM pushmta_engine.application a,
                (VALUES ('2026-03-01 10:00Z', 990, 1), ('2026-03-01 10:00Z', 10, 2), ('2026-03-01 10:00Z', 30, 19),
                    ('2026-03-01 13:00Z', 5, 21)) h(hour, n, measure)
            """
        )
        let reader = try await site.session(.read)
        let page = try await reader.get("/deliveries/\(id)").text
        for words in [
            #"id="outcomes-total">1,000</td>"#, "By minute, in the time zone Asia/Kolkata.",
            "Peak: 500, from 2026-03-01 15:32.", "<span>2026-03-01 15:49</span>",
            "By hour, in the time zone Asia/Kolkata.", "<span>2026-03-01 18:30</span>", "Clicked 5",
            "Peak: 30, from 2026-03-01 15:30.",
        ] {
            #expect(page.contains(words), "\(words)")
        }
        for phrase in [Phrase.factRate, .factLeft, .limitsTitle] {
            #expect(!page.contains(Catalogue.english[phrase]), "\(phrase)")
        }
        #expect(!page.contains("data-path="))
        // When its parts are folded, the hours stay.
        try await site.sql(
            """
            UPDATE pushmta_engine.delivery_part SET folded = true, size = 1000, sent = 990, failed = 10
            WHERE delivery_id = \(id) AND id = (SELECT max(id) FROM pushmta_engine.delivery_part);
            DELETE FROM pushmta_engine.delivery_part WHERE delivery_id = \(id) AND NOT folded
            """
        )
        let later = try await reader.get("/deliveries/\(id)").text
        #expect(!later.contains("By minute") && later.contains("Peak: 1,000, from 2026-03-01 15:30."))
        await site.close()
    }

    @Test func aRateIsMeasuredBetweenReadings() {
        func progress(_ seconds: Double, sent: Int64, _ state: DeliveryState = .inProgress) -> DeliveryProgress {
            .sending(state, sent: sent, at: seconds)
        }
        var meter = RateMeter()
        #expect(meter.rate == nil)
        meter.note(progress(0, sent: 100))
        meter.note(progress(1, sent: 150))
        #expect(meter.rate == nil, "too short to say")
        meter.note(progress(10, sent: 600))
        meter.note(progress(10, sent: 600))
        #expect(meter.rate == 50)
        // A minute later the beginning no longer counts.
        meter.note(progress(65, sent: 600))
        #expect(meter.rate == 0)
        meter.note(progress(66, sent: 600, .paused))
        #expect(meter.rate == nil && meter.lastReading == nil)
    }

    @Test func aChartFitsItsTime() throws {
        func step(_ hour: Int64, _ sent: Int64) -> DeliveryTimeline.Step {
            let begins = DatabaseTime(microsecondsSince1970: hour * 3_600_000_000)
            let text = begins.internetText
            return DeliveryTimeline.Step(
                begins: begins,
                local: "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))",
                day: Int32(hour / 24),
                sent: sent
            )
        }
        let sent = [TimelineChart.Measure(name: "sent", style: "s-sent") { $0.sent }]
        func chart(_ steps: [DeliveryTimeline.Step]) throws -> TimelineChart {
            try #require(TimelineChart(steps, isByMinute: false, measures: sent))
        }
        #expect(TimelineChart([step(1, 0)], isByMinute: false, measures: sent) == nil)
        let hours = try chart([step(1, 5), step(2, 0), step(72, 20)])
        #expect(hours.unit == .hour && hours.rows.map { $0.counts } == [[5], [20]] && hours.top == 20)
        #expect(hours.markup("w").text.matches(of: /<rect/).count == 2 && hours.busiest.begins == "1970-01-04 00:00")
        #expect(!hours.markup("w").text.contains("style="))
        let days = try chart([step(1, 5), step(2, 6), step(100, 20)])
        #expect(days.unit == .day && days.rows.map { $0.begins } == ["1970-01-01", "1970-01-05"])
        #expect(days.totals == [31] && days.rows[0].counts == [11])
        // A message that is clicked is received, too: the bars do not add up.
        let both = [
            TimelineChart.Measure(name: "few", style: "s-clicked") { $0.sent / 5 },
            TimelineChart.Measure(name: "all", style: "s-received") { $0.sent },
        ]
        let apart = try #require(
            TimelineChart([step(1, 50)], isByMinute: false, measures: both, isStacked: false)
        )
        #expect(apart.busiest.count == 50 && apart.totals == [10, 50] && apart.top == 50)
        let parts = apart.markup("w").text.matches(of: /class="(s-\w+)"[^>]* y="([0-9.]+)"/).map { "\($0.1)" }
        #expect(parts == ["s-received", "s-clicked"], "the smaller one is in front")
        let weeks = try chart([step(1, 5), step(100, 6), step(24 * 300, 20)])
        #expect(weeks.unit == .week && weeks.totals == [31] && weeks.rows.count == 2)
    }

    @Test func whatAStopHasCanceledIsNotDone() {
        let stopped = DeliveryProgress.sending(.stopped, sent: 250, canceled: 750, at: 9)
        #expect(DeliveryWords(row: stopped, catalogue: .english).done == Figures.percent(250, of: 1_000))
    }

    @Test func anIntervalCoversTheShare() throws {
        let interval = try #require(ShareInterval(50, of: 1_000))
        #expect(interval.low > 0.038 && interval.low < 0.0385 && interval.high > 0.065 && interval.high < 0.0655)
        let none = try #require(ShareInterval(0, of: 10))
        #expect(none.low < 0.001 && none.high > 0.27 && none.high < 0.28)
        #expect(ShareInterval(0, of: 0) == nil && (ShareInterval(12, of: 10)?.high ?? 0) > 0.999)
    }
}

extension DeliveryProgress {
    /// A delivery of 1,000 messages under way.
    fileprivate static func sending(_ state: DeliveryState, sent: Int64, canceled: Int64 = 0, at seconds: Double)
        -> DeliveryProgress
    {
        DeliveryProgress(
            id: 1,
            label: "",
            state: state,
            stateReason: "",
            target: 1_000,
            excluded: 0,
            pending: 1_000 - sent - canceled,
            sent: sent,
            failed: 0,
            ignored: 0,
            notApplicable: 0,
            canceled: canceled,
            unknown: 0,
            lateOutcomes: 0,
            resentAfterAmbiguity: 0,
            journalReplayed: 0,
            partsReady: 0,
            partsClaimed: 1,
            partsWaiting: 0,
            partsDone: 0,
            prepared: true,
            startedAt: nil,
            finishedAt: nil,
            now: DatabaseTime(microsecondsSince1970: Int64(seconds * 1e6))
        )
    }
}
