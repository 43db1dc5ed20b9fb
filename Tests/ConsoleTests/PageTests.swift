import Foundation
import HTTPTypes
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// Pages and their actions, with a real database.
@Suite struct PageTests {
    /// Text that would be markup if it were not escaped.
    private static let hostile = #"<script>alert("1")</script>'&{{title}}<img src=x onerror=alert(1)>"#

    @Test func namesOfOthersAreTextOnEveryPage() async throws {
        let site = try await ConsoleSite.start()
        let hostile = Self.hostile
        let admin = try await site.session(.admin, name: String(hostile.prefix(190)))
        let delivery = try await site.delivery(hostile)
        try await site.admin.registerHost(
            HostReport(
                id: "6f9619ff-8b86-4011-b42d-00cf4fc964ff",
                name: hostile,
                pid: 1,
                version: hostile,
                schemaVersion: Store.schemaVersion,
                state: .running,
                journalFolder: "/",
                alarm: hostile
            )
        )
        try await site.admin.holdDelivery(delivery, reason: hostile)
        try await site.admin.addTemplate(
            name: String(hostile.prefix(190)),
            label: hostile,
            content: "{}",
            target: TemplateTarget(filter: "locale = '\(hostile.replacing("'", with: "''"))'")
        )
        let template = try await site.admin.template(named: String(hostile.prefix(190))).id
        let paths = [
            "/", "/deliveries", "/deliveries?text=\(SignIn.encoded(hostile))&application=\(SignIn.encoded(hostile))",
            "/deliveries/\(delivery)", "/deliveries/\(delivery)/stop", "/alarms", "/hosts",
            "/hosts/6f9619ff-8b86-4011-b42d-00cf4fc964ff/drain", "/audit", "/password", "/templates",
            "/templates/\(template)", "/templates/\(template)/delete", "/hosts/settings",
        ]
        var seen = 0
        for path in paths {
            let page = try await admin.get(path)
            #expect(page.status == .ok, "\(path)")
            #expect(!page.text.contains("<script>") && !page.text.contains("<img"), "\(path)")
            seen += page.text.contains("&lt;script&gt;") ? 1 : 0
        }
        #expect(seen == paths.count)
        let door = try await site.signIn(hostile, password: hostile)
        #expect(door.status == .unauthorized && !door.text.contains("<script>") && !door.text.contains(hostile))
        await site.close()
    }

    /// Combining marks that form one character with HTML's own characters.
    @Test func marksThatJoinDoNotHideMarkup() throws {
        for hostile in ["\u{600}<b>\u{301}", "\"\u{301} autofocus", "<\u{200D}b>\u{FE0F}", "&\u{308}'\u{20DD}"] {
            let separated = Markup.separated(hostile)
            #expect(
                separated.allSatisfy {
                    $0.unicodeScalars.count == 1 || !$0.unicodeScalars.contains { "&<>\"'".unicodeScalars.contains($0) }
                }
            )
            let pages = try PageRenderer(version: "1")
            let values: PageValues = ["title": .text(hostile), "text": .text(hostile)]
            let shown = pages.fragment("problem", values).unicodeScalars
            let plain = pages.fragment("problem", ["title": "", "text": ""]).unicodeScalars
            for scalar in "<>\"".unicodeScalars {
                #expect(shown.count { $0 == scalar } == plain.count { $0 == scalar }, "\(scalar)")
            }
            #expect(!Markup.escaped(hostile).unicodeScalars.contains { "<>\"'".unicodeScalars.contains($0) })
        }
        #expect(Markup.separated("a < b & 👩‍👩‍👧 é") == "a < b & 👩‍👩‍👧 é")
    }

    @Test func aDeliveryIsPausedResumedAndStoppedOnRecord() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        let oda = try await site.session(.operate, name: "oda")
        let steps: [(String, DeliveryState)] = [("pause", .paused), ("resume", .pending), ("stop", .stopped)]
        for (action, state) in steps {
            let answer = try await oda.post("/deliveries/\(delivery)/\(action)")
            #expect(answer.status == .seeOther && answer.headers[.location] == "/deliveries/\(delivery)?done=\(action)")
            #expect(try await site.admin.deliveryProgress(delivery).state == state)
            #expect(try await oda.get("/deliveries/\(delivery)?done=\(action)").text.contains("role=\"status\""))
        }
        // The delivery has ended: the database refuses, and the page says what to do.
        let late = try await oda.post("/deliveries/\(delivery)/pause")
        #expect(late.status == .conflict && late.text.contains("cannot be paused"))
        let admin = try await site.session(.admin)
        let audit = try await admin.get("/audit").text
        for words in [
            "paused a delivery", "resumed a delivery", "stopped a delivery", "signed in", "added a user", "oda",
        ] {
            #expect(audit.contains(words), "\(words)")
        }
        #expect(audit.contains("Autumn sale") && audit.contains("192.0.2.1"))
        await #expect(throws: (any Error).self) {
            let connection = try await site.database.connect()
            try await connection.run(script: "DELETE FROM pushmta_engine.audit_log")
        }
        await site.close()
    }

    @Test func readersSeeNoButtonsAndHostsDrain() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        let host = "6f9619ff-8b86-4011-b42d-00cf4fc964ff"
        try await site.admin.registerHost(
            HostReport(
                id: host,
                name: "push-1",
                pid: 1,
                version: "1",
                schemaVersion: Store.schemaVersion,
                state: .running,
                journalFolder: "/"
            )
        )
        let reader = try await site.session(.read)
        #expect(try await !reader.get("/deliveries/\(delivery)").text.contains("/pause"))
        #expect(try await !reader.get("/hosts").text.contains("/drain"))
        #expect(try await !reader.get("/").text.contains("/audit"))
        let oda = try await site.session(.operate)
        #expect(try await oda.get("/deliveries/\(delivery)").text.contains("action=\"/deliveries/\(delivery)/pause\""))
        #expect(try await oda.get("/hosts").text.contains("/hosts/\(host)/drain"))
        #expect(try await oda.post("/hosts/\(host)/drain").headers[.location] == "/hosts?done=drain")
        #expect(try await site.admin.hosts().first?.isDrainRequested == true)
        #expect(try await oda.post("/hosts/00000000-0000-0000-0000-000000000000/drain").status == .notFound)
        await site.close()
    }

    @Test func aChildIsRecycledOnRecord() async throws {
        let site = try await ConsoleSite.start()
        let host = "6f9619ff-8b86-4011-b42d-00cf4fc964ff"
        let report = HostReport(
            id: host,
            name: "push-1",
            pid: 1,
            version: "1",
            schemaVersion: Store.schemaVersion,
            state: .running,
            journalFolder: "/"
        )
        try await site.admin.registerHost(report)
        let child = try await site.admin.insertChild(
            ChildRow(hostID: host, generation: 1, applicationID: 1, accountID: 1, connector: .iosHTTP2)
        )
        let path = "/children/\(child)/recycle"
        let reader = try await site.session(.read)
        #expect(try await !reader.get("/hosts").text.contains(path))
        #expect(try await reader.get("/hosts").text.contains("class=\"spark\""))
        let oda = try await site.session(.operate)
        #expect(try await oda.get("/hosts").text.contains(path))
        #expect(try await oda.get(path).text.contains("Recycle this child?"))
        #expect(try await oda.post(path).headers[.location] == "/hosts?done=recycle")
        #expect(try await site.admin.recordHostHeartbeat(report).recycledChildren == [child])
        let page = try await oda.get("/hosts?done=recycle").text
        #expect(page.contains("leaves soon") && page.contains("role=\"status\"") && !page.contains(path))
        #expect(try await site.session(.admin).get("/audit").text.contains("had a child recycled"))
        // The request ends with the child, and cannot be repeated.
        try await site.admin.childExited(child, reason: "drained")
        #expect(try await site.admin.recordHostHeartbeat(report).recycledChildren.isEmpty)
        #expect(try await oda.post(path).status == .notFound)
        #expect(try await oda.post("/children/x/recycle").status == .notFound)
        await site.close()
    }

    @Test func theListIsFilteredAndGoesOnByKeys() async throws {
        let site = try await ConsoleSite.start()
        var ids: [Int64] = []
        for number in 0..<30 { ids.append(try await site.delivery("Sale \(number)")) }
        try await site.admin.pauseDelivery(ids[3])
        let reader = try await site.session(.read)
        func shown(_ text: String) -> [Int64] {
            text.matches(of: /<th scope="row"><a href="\/deliveries\/(\d+)"/).compactMap { Int64($0.1) }
        }
        let first = try await reader.get("/deliveries").text
        #expect(shown(first) == Array(ids.reversed().prefix(25)))
        let next = try #require(first.firstMatch(of: /href="(\/deliveries\?after=\d+~\d+)"/)).1
        #expect(try await shown(reader.get(String(next)).text) == Array(ids.prefix(5).reversed()))
        #expect(try await shown(reader.get("/deliveries?state=paused").text) == [ids[3]])
        #expect(try await shown(reader.get("/deliveries?text=SALE%2017").text) == [ids[17]])
        #expect(try await shown(reader.get("/deliveries?application=shop-ios&text=sale%205").text) == [ids[5]])
        #expect(try await shown(reader.get("/deliveries?application=none").text) == [])
        await site.close()
    }

    @Test func theRoleReadsNoSecretAndWritesNoTable() async throws {
        let site = try await ConsoleSite.start()
        let connection = try await site.database.connect()
        try await connection.run(script: "SET ROLE pushmta_console")
        for table in [
            "credential", "console_user", "console_session", "audit_log", "subscription", "tracking_key", "api_key",
            "console_draft", "seed", "service_proof_key",
        ] {
            await #expect(throws: (any Error).self, "\(table)") {
                try await connection.run(script: "TABLE pushmta_engine.\(table)")
            }
        }
        for statement in [
            "UPDATE pushmta_engine.delivery SET priority = 1", "CREATE TABLE pushmta_engine.x ()",
            "SELECT push_token FROM pushmta_engine.console_audience", "TABLE pushmta.seed",
            "TABLE pushmta.subscription", "TABLE pushmta.delivery_analysis",
            "SELECT sealed FROM pushmta.credential",
            "INSERT INTO pushmta_engine.service (name, label) VALUES ('a', 'a')",
            "SELECT nextval(pg_get_serial_sequence('pushmta_engine.credential', 'id'))",
            "SELECT pushmta_engine.bind_credential('shop-ios', 1, 'apns_key', 'a', 'k', '', '{}', '', NULL, false)",
            "SELECT pushmta_engine.resume_application(1, false)",
            "SELECT pushmta_engine.read_view('SELECT ARRAY[1::text]', '{}', false)",
            "TABLE pushmta_engine.target_mapping",
            "SELECT pushmta_engine.console_read_view(ROW('\\x00', now(), '1 hour', ''), 1, ARRAY['city'])",
        ] {
            await #expect(throws: (any Error).self) { try await connection.run(script: statement) }
        }
        await connection.close()
        await site.close()
    }

    @Test func figuresAreReadByPeople() {
        #expect(
            Figures.count(1_234_567) == "1,234,567" && Figures.count(-1_000) == "\u{2212}1,000"
                && Figures.count(0) == "0"
        )
        #expect(
            Figures.short(9_999) == "9,999" && Figures.short(12_345) == "12.3 k" && Figures.short(4_560_000) == "4.56 M"
        )
        #expect(Figures.percent(1, of: 100_000) == "<0.1 %" && Figures.percent(99_999, of: 100_000) == ">99.9 %")
        #expect(Figures.percent(1, of: 2) == "50 %" && Figures.percent(1, of: 0) == "–")
        #expect(Figures.duration(3_725) == "1 h 2 min" && Figures.duration(61) == "1 min 1 s")
        #expect(Figures.bytes(1_536) == "1.50 KiB")
    }

    /// A number meant as a thousand must not become a rate of one.
    @Test func ratesAreReadInOneWay() {
        let right: [(String, Double)] = [
            ("250", 250), ("0.5", 0.5), ("0,5", 0.5), ("1,5", 1.5), ("1.25", 1.25), ("0.001", 0.001), ("0,125", 0.125),
            ("1.1250", 1.125), ("1234.567", 1_234.567), ("1000000", 1_000_000),
        ]
        for (text, rate) in right { #expect(RateNumber.parse(text) == rate, "\(text)") }
        for text in [
            "", "1.000", "1,000", "1,125", "10,000", "1,000,000", "1e3", "0x10", "0x1p3", "-1", "+1", "0", "0.0001",
            "1000001", "1.", ".5", "1.2.3", "nan", "inf", "1 000", "\u{661}",
        ] {
            #expect(RateNumber.parse(text) == nil, "\(text)")
            #expect(RateField.value(text) == (text.isEmpty ? .none : .wrong), "\(text)")
        }
        // A field's value is read as the same number in each language.
        for language in Language.allCases {
            Language.$current.withValue(language) {
                for rate in [0.001, 0.5, 1, 1.125, 100, 999.999, 1_000, 1_234.5, 1_000_000, 0.1 + 0.2, 1.0 / 3] {
                    #expect(RateNumber.parse(RateNumber.text(rate)) == rate, "\(RateNumber.text(rate))")
                }
            }
        }
        #expect(
            RateNumber.text(100) == "100" && RateNumber.shown(1_000) == "1,000" && RateNumber.shown(1.125) == "1.125"
        )
        Language.$current.withValue(.german) {
            let words = RateField.problem("1.000", .current)
            #expect(words.contains("0,001 bis 1000000") && words.contains("Tausendertrennzeichen"))
            #expect(!RateField.problem("0,0001", .current).contains("Tausendertrennzeichen"))
            #expect(RateNumber.text(0.5) == "0,5" && RateNumber.shown(1_000) == "1.000")
        }
    }

    @Test func aFailureWithoutAReasonLeadsToNoMessages() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        try await site.sql(
            """
            INSERT INTO pushmta_engine.delivery_statistic (delivery_id, hour, n, application_id, measure, failure, app_version, locale, reason)
            SELECT \(delivery), now(), 2, a.id, 2, -1, '', '', r FROM pushmta_engine.application a, unnest('{"",BadDeviceToken}'::text[]) r
            """
        )
        let page = try await site.session(.read).get("/deliveries/\(delivery)").text
        #expect(page.contains("/messages?what=failed%3ABadDeviceToken\"><bdi>BadDeviceToken"))
        #expect(page.contains(Catalogue.english[.noReason]) && !page.contains("/messages?what=failed\""))
        await site.close()
    }

    /// A child holds 300 of 1,000 messages because of a rate; 139 have ended, although their part has not.
    @Test func whatChildrenHoldWaitsAndWhatHasEndedIsCounted() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        try await site.sql(
            """
            INSERT INTO pushmta_engine.delivery_part (delivery_id, log_day, application_id, external_account_id, state, not_before, size, sent)
            SELECT d.id, current_date, a.id, a.external_account_id, p.state, now() - interval '1 minute', p.size, p.sent
            FROM pushmta_engine.delivery d, pushmta_engine.application a,
                (VALUES ('ready', 561, 0), ('claimed', 439, 139)) p(state, size, sent) WHERE d.id = \(delivery) AND a.name = 'shop-ios';
            INSERT INTO pushmta_engine.delivery_statistic (delivery_id, hour, n, application_id, measure, failure, app_version, locale, reason)
            SELECT \(delivery), now(), 5, a.id, 19, -1, '', '', '' FROM pushmta_engine.application a WHERE a.name = 'shop-ios'
            """
        )
        let reader = try await site.session(.read)
        let now = try await reader.get("/").text
        #expect(now.contains(#"<dt>Due now</dt><dd><span class="value">861</span>"#), "\(now)")
        let page = try await reader.get("/deliveries/\(delivery)").text
        for (word, count) in [("Sent", 139), ("Failed", 0), ("Received", 5), ("Clicked", 0)] {
            #expect(page.contains(#"<td class="right number" data-label="\#(word)">\#(count)</td>"#), "\(word)")
        }
        await site.close()
    }

    /// No queue has messages that wait for their wave.
    @Test func whatIsNotDueIsNotSaidToBeNothing() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        try await site.sql(
            """
            UPDATE pushmta_engine.delivery SET state = 'in_progress', prepared = true, started_at = now(), target = 1200
            WHERE id = \(delivery);
            INSERT INTO pushmta_engine.delivery_part (delivery_id, log_day, application_id, external_account_id, state, not_before, size)
            SELECT d.id, current_date, a.id, a.external_account_id, 'ready', now() + interval '1 hour', 1200
            FROM pushmta_engine.delivery d, pushmta_engine.application a WHERE d.id = \(delivery) AND a.name = 'shop-ios'
            """
        )
        let now = try await site.session(.read).get("/").text
        #expect(now.contains("No message is due now.") && !now.contains("No messages are waiting"), "\(now)")
        #expect(now.contains("Deliveries that stand still have 1,200 messages"), "\(now)")
        #expect(now.contains(#/As of \d\d:\d\d:\d\d UTC</#))
        await site.close()
    }

    /// The times of *Now* and of the alarms are those of the service, as on the pages of its deliveries.
    @Test func nowHasTheZoneOfTheService() async throws {
        let site = try await ConsoleSite.start()
        try await site.sql("UPDATE pushmta_engine.service SET time_zone = 'Asia/Kolkata'")
        let reader = try await site.session(.read)
        #expect(try await reader.get("/").text.contains(#/As of \d\d:\d\d:\d\d Asia\/Kolkata</#))
        let id = try await site.delivery()
        try await site.sql(
            "UPDATE pushmta_engine.delivery SET state = 'paused', state_reason = 'x' WHERE id = \(id)"
        )
        #expect(try await reader.get("/alarms").text.contains(" Asia/Kolkata</span>"))
        // Another service has another one.
        try await site.admin.createService(name: "bank", label: "Bank")
        #expect(try await reader.get("/alarms").text.contains(" UTC</span>"))
        await site.close()
    }

    @Test func alarmsAreCountedAcknowledgedAndKept() async throws {
        let site = try await ConsoleSite.start()
        let (oda, reader) = (try await site.session(.operate), try await site.session(.read))
        #expect(try await !reader.get("/hosts").text.contains("class=\"badge"))
        try await site.sql(
            """
            INSERT INTO pushmta_engine.mta_host (id, name, pid, version, schema_version, state, journal_folder, last_heartbeat)
            VALUES (gen_random_uuid(), 'push-9', 1, '1', 1, 'running', '/x', now() - interval '1 hour')
            """
        )
        try await site.sql("UPDATE pushmta_engine.alarm_look SET looked_at = now() - interval '10 seconds'")
        try await site.sql("SELECT pushmta_engine.note_alarms()")
        await site.responder.badge.forget()
        #expect(try await reader.get("/hosts").text.contains("class=\"badge bad\""))
        let page = try await oda.get("/alarms").text
        let action = try #require(page.firstMatch(of: /action="(\/alarms\/[0-9]+\/acknowledge)"/)).1
        #expect(try await !reader.get("/alarms").text.contains("/acknowledge"))
        #expect(try await oda.post(String(action)).headers[.location] == "/alarms?done=acknowledge")
        #expect(try await oda.get("/alarms").text.contains("Acknowledged by operate"))
        #expect(try await !reader.get("/hosts").text.contains("class=\"badge"))
        // It ends, and is still listed.
        try await site.sql("UPDATE pushmta_engine.mta_host SET last_heartbeat = now() WHERE name = 'push-9'")
        try await site.sql("UPDATE pushmta_engine.alarm_look SET looked_at = now() - interval '10 seconds'")
        try await site.sql("SELECT pushmta_engine.note_alarms()")
        #expect(try await reader.get("/alarms").text.contains("over-title"))
        await site.close()
    }

    @Test func theAuditLogHasWhatSQLChangedWithFilterAndLinks() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        try await site.sql("SET application_name = 'psql'; SELECT pushmta.pause_delivery(\(delivery))")
        let admin = try await site.session(.admin)
        let page = try await admin.get("/audit?text=delivery.pause").text
        #expect(page.contains("href=\"/deliveries/\(delivery)\"") && page.contains("paused a delivery"))
        #expect(!page.contains("added a user"))
        let nothing = try await admin.get("/audit?text=nobody-did-that").text
        #expect(nothing.contains(Catalogue.english[.noAuditMatch]))
        #expect(!nothing.contains(Catalogue.english[.noAudit]))
        await site.close()
    }

    @Test func aDeliveryThatStandsStillIsNotSending() {
        func words(_ state: DeliveryState, waiting: String, claimed: Int64) -> String? {
            let row = DeliveryProgress.standing(state, waiting: waiting, claimed: claimed)
            guard case .text(let text)? = DeliveryWords(row: row, catalogue: .english).summary["state"] else {
                return nil
            }
            return text
        }
        #expect(words(.inProgress, waiting: "", claimed: 1) == "sending")
        #expect(words(.inProgress, waiting: "The gateway takes nothing.", claimed: 1) == "waiting")
        #expect(words(.inProgress, waiting: "", claimed: 0) == "waiting", "no child has any of it")
        #expect(words(.paused, waiting: "", claimed: 0) == "paused")
    }

    @Test func theChartSaysInWordsWhatItShows() {
        let hour = OutcomeHour(
            minutes: [
                OutcomeMinute(age: 0, sent: 10, failed: 1, other: 0),
                OutcomeMinute(age: 59, sent: 1_900, failed: 0, other: 3),
            ],
            isPartial: false
        )
        let chart = OutcomeChart(hour: hour, now: Date(timeIntervalSince1970: 3_600), catalogue: .english)
        #expect(chart.top == 2_000)
        #expect(chart.words.contains("00:01 UTC, with 1,903 messages"))
        #expect(chart.markup.text.matches(of: /<rect/).count == 4)
        #expect(!chart.markup.text.contains("style="))
        // 1,900 of 2,000 are 95 of 100, and 10 are half a unit: no bar is higher than its value.
        #expect(chart.markup.text.contains("height=\"95.0\"") && chart.markup.text.contains("height=\"0.5\""))
    }

    @Test func ratesAreKeptForFiveMinutesWithGapsWhereNobodyLooked() {
        func child(_ id: Int64, _ rate: Double) -> ChildOverview {
            var report = ChildReport(pid: 1, state: .sending)
            report.rate = rate
            return ChildOverview(
                id: id,
                row: ChildRow(hostID: "a", generation: 1, applicationID: 1, accountID: 1, connector: .iosHTTP2),
                report: report,
                startedAt: DatabaseTime(microsecondsSince1970: 0),
                heartbeatAgeSeconds: 0,
                exitReason: nil,
                exitDetail: "",
                stderrTail: ""
            )
        }
        let report = HostReport(
            id: "a",
            name: "push-1",
            pid: 1,
            version: "1",
            schemaVersion: 1,
            state: .running,
            journalFolder: "/"
        )
        let host = HostRow(report: report, startedAt: DatabaseTime(microsecondsSince1970: 0), heartbeatAgeSeconds: 0)
        var history = RateHistory()
        let start = Date(timeIntervalSince1970: 1_000_000)
        history.note([host], [child(1, 100), child(2, 50)], at: start)
        history.note([host], [child(1, .nan), child(2, 20)], at: start.addingTimeInterval(20))
        #expect(history.rates(of: .host("a")).suffix(3) == [150, nil, 20])
        #expect(history.rates(of: .child(1)).suffix(3) == [100, nil, nil])
        #expect(history.rates(of: .child(2)).count == RateHistory.steps)
        let line = Sparkline(rates: history.rates(of: .host("a")), catalogue: .english)
        #expect(line.words == "Messages a second in the last 5 minutes: 20 to 150, now 20")
        #expect(line.markup.text.matches(of: /<rect/).count == 2)
        // Older values are dropped, and so are children that have ended.
        history.note([host], [child(2, 1)], at: start.addingTimeInterval(300))
        #expect(history.rates(of: .child(1)).allSatisfy { $0 == nil })
        #expect(history.rates(of: .child(2)).compactMap(\.self) == [20, 1])
        #expect(Sparkline(rates: history.rates(of: .child(1)), catalogue: .english).words == "no values yet")
    }

    /// The list of deliveries under way shows what limits a delivery, as its children report it.
    @Test func aSlowGatewayIsSaidInAWord() {
        func child(_ delivery: Int64, _ limit: SendingLimit, _ milliseconds: Double) -> ChildOverview {
            var report = ChildReport(pid: 1, state: .sending)
            report.deliveryID = delivery
            report.connections.limitedBy = limit
            report.latencyP50Milliseconds = milliseconds
            return ChildOverview(
                id: delivery,
                row: ChildRow(hostID: "a", generation: 1, applicationID: 1, accountID: 1, connector: .iosHTTP2),
                report: report,
                startedAt: DatabaseTime(microsecondsSince1970: 0),
                heartbeatAgeSeconds: 0,
                exitReason: nil,
                exitDetail: "",
                stderrTail: "",
                applicationName: "shop-ios"
            )
        }
        let children = [
            child(1, .connections, 1_500), child(1, .connections, 2_000), child(2, .connections, 900),
            child(3, .work, 3_000),
        ]
        #expect(children.slowGateways == [1: ["shop-ios"]])
    }

    @Test func eventsHaveALineForEachLine() {
        #expect(LiveEvent.html("a\nb").text == "data: a\ndata: b\n\n")
        #expect(LiveEvent.alive.text == ":\n\n")
        #expect(LiveEvent.changed.text == "event: changed\ndata: -\n\n")
        #expect(LiveEvent.refused("why").text == "event: refused\ndata: why\n\n")
    }
}

extension DeliveryProgress {
    /// A delivery with ten messages that have not left.
    fileprivate static func standing(_ state: DeliveryState, waiting: String, claimed: Int64) -> DeliveryProgress {
        DeliveryProgress(
            id: 1,
            label: "sale",
            state: state,
            stateReason: "",
            target: 10,
            excluded: 0,
            pending: 10,
            sent: 0,
            failed: 0,
            ignored: 0,
            notApplicable: 0,
            canceled: 0,
            unknown: 0,
            lateOutcomes: 0,
            resentAfterAmbiguity: 0,
            journalReplayed: 0,
            partsReady: 1,
            partsClaimed: claimed,
            partsWaiting: 0,
            partsDone: 0,
            prepared: true,
            startedAt: nil,
            finishedAt: nil,
            now: DatabaseTime(microsecondsSince1970: 0),
            waitingReason: waiting
        )
    }
}
