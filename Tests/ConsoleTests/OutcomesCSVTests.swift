import HTTPTypes
import PushCore
import TestSupport
import Testing

@testable import Console
@testable import Store

/// Downloads of outcomes as a file.
@Suite struct OutcomesCSVTests {
    /// An error that a test throws on purpose.
    private struct Gone: Error {}

    private func outcome(_ number: Int32, reason: String = "") -> DeliveryOutcome {
        DeliveryOutcome(
            row: OutcomeRow(
                sequence: number,
                subscriptionID: 7,
                status: "failed",
                httpStatus: 400,
                reason: reason,
                failureType: "hard",
                failureReason: "refused",
                gatewayMessageID: nil,
                attempt: 1,
                loggedAt: nil,
                isReceived: false,
                isClicked: true
            ),
            application: "shop-ios"
        )
    }

    @Test func cellsAreQuotedAndFormulasDefused() {
        let cells = [
            ("a", "a"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\r\nb", "\"a\r\nb\""), ("", ""),
            ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@a", "'@a"), ("\tx", "'\tx"), ("a=1", "a=1"),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""), ("=\u{301}1", "'=\u{301}1"),
            ("a\"\u{301},b", "\"a\"\"\u{301},b\""),
        ]
        for (text, cell) in cells { #expect(OutcomesCSV.line([text]) == cell + "\r\n", "\(text)") }
        #expect(OutcomesCSV.line(["a", "", "b"]) == "a,,b\r\n")
    }

    @Test func rowsAreWrittenAsTheyAreReadAndNotReadWhenNobodyTakesThem() async throws {
        var (ranges, text): ([ClosedRange<Int32>], String) = ([], "")
        try await OutcomesCSV.write(
            through: 12_000,
            { text += $0 },
            next: { $0 },
            read: { numbers in
                ranges.append(numbers)
                return [outcome(numbers.lowerBound, reason: "=x")]
            }
        )
        #expect(ranges == [1...500, 501...5_500, 5_501...10_500, 10_501...12_000])
        ranges = []
        try await OutcomesCSV.write(
            through: 300_000_000,
            { _ in },
            next: { $0 <= 134_217_729 ? 134_217_729 : nil },
            read: { numbers in
                ranges.append(numbers)
                return numbers.lowerBound == 501 || numbers.lowerBound > 134_217_729
                    ? [] : [outcome(numbers.lowerBound)]
            }
        )
        #expect(
            ranges == [1...500, 501...5_500, 134_217_729...134_222_728, 134_222_729...134_227_728],
            "The gap between two variants is skipped, and nothing is read after the last message"
        )
        let lines = text.split(separator: "\r\n")
        #expect(lines.count == 5 && lines[0] == OutcomesCSV.columns.joined(separator: ",")[...])
        #expect(lines[2] == "501,7,shop-ios,failed,'=x,hard,refused,400,,1,,false,true")
        var (reads, sends) = (0, 0)
        await #expect(throws: Gone.self) {
            try await OutcomesCSV.write(
                through: .max,
                { _ in
                    sends += 1
                    if sends > 2 { throw Gone() }
                },
                next: { $0 },
                read: { numbers in
                    reads += 1
                    return [outcome(numbers.lowerBound)]
                }
            )
        }
        #expect(reads == 2)
    }

    @Test func aDeliveryIsHandedOutOnRecordWithoutTokens() async throws {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(30)
        let host = "6f9619ff-8b86-4011-b42d-00cf4fc964ff"
        try await site.admin.registerHost(
            HostReport(
                id: host,
                name: "one",
                pid: 1,
                version: "1",
                schemaVersion: Store.schemaVersion,
                state: .running,
                journalFolder: "/"
            )
        )
        let delivery = try await site.delivery()
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: host).first)
        while try await !site.admin.prepareChunk(job, partSize: 10, partsPerChunk: 50).done {}
        try await site.sql("UPDATE pushmta_engine.subscription SET push_token = 'secret-token-' || id")
        let oda = try await site.session(.operate)
        let path = "/deliveries/\(delivery)/outcomes.csv"
        #expect(try await oda.get("/deliveries/\(delivery)").text.contains("action=\"\(path)\""))
        let answer = try await oda.post(path)
        #expect(answer.status == .ok && answer.headers[.contentType] == "text/csv; charset=utf-8")
        #expect(answer.headers[.contentDisposition] == "attachment; filename=\"delivery-\(delivery)-outcomes.csv\"")
        let lines = answer.text.split(separator: "\r\n")
        #expect(lines.count == 31 && lines[1].hasPrefix("1,1,shop-ios,pending,") && !answer.text.contains("secret"))
        // By GET, another site could start the download in the user's name.
        #expect(try await oda.get(path).status != .ok)
        #expect(try await oda.post("/deliveries/99/outcomes.csv").status == .notFound)
        let reader = try await site.session(.read)
        #expect(try await !reader.get("/deliveries/\(delivery)").text.contains(path))
        #expect(try await site.session(.admin).get("/audit").text.contains("downloaded outcomes"))
        await site.close()
    }

    /// A finished delivery with this many messages. Every second one is sent; of the others, every thousandth failed
    /// for a rare reason.
    private func finished(_ site: ConsoleSite, _ messages: Int) async throws -> Int64 {
        let delivery = try await site.delivery()
        try await site.sql(
            """
            DO $$ BEGIN PERFORM pushmta_engine.ensure_partitions(d, d) FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS d) x; END $$;
            UPDATE pushmta_engine.delivery SET log_day = (now() AT TIME ZONE 'UTC')::date, target = \(messages), state = 'finished',
                prepared = true, started_at = now(), finished_at = now() WHERE id = \(delivery);
            INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status, http_status, reason)
            SELECT \(delivery), 1 + n % 30, 1, n, (now() AT TIME ZONE 'UTC')::date, CASE WHEN n % 2 = 0 THEN 1 ELSE 2 END,
                CASE WHEN n % 2 = 0 THEN 200 ELSE 400 END,
                CASE WHEN n % 2 = 0 THEN NULL WHEN n % 1000 = 1 THEN 'Rare: <b>' ELSE 'BadDeviceToken' END
            FROM generate_series(1, \(messages)) n;
            """
        )
        return delivery
    }

    @Test func messagesAreListedByKeysAndByHowTheyEnded() async throws {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(30)
        let delivery = try await finished(site, 12_000)
        let reader = try await site.session(.read)
        let path = "/deliveries/\(delivery)/messages"
        func numbers(_ text: String) -> [Int] {
            text.matches(of: /<th scope="row" class="number">([\d,]+)</).compactMap {
                Int($0.1.replacing(",", with: ""))
            }
        }
        func next(_ text: String) -> String? {
            text.firstMatch(of: /<a class="button" href="([^"]+)"/).map { String($0.1).replacing("&amp;", with: "&") }
        }
        #expect(try await reader.get("/deliveries/\(delivery)").text.contains("href=\"\(path)\""))
        let first = try await reader.get(path).text
        #expect(numbers(first) == Array((11_976...12_000).reversed()))
        #expect(first.contains("/subscribers/1\"") && first.contains("the token is none of this app"))
        #expect(numbers(try await reader.get(try #require(next(first))).text) == Array((11_951...11_975).reversed()))
        // More messages failed than can be sorted, so they are searched by number.
        let failed = try await reader.get(path + "?what=failed").text
        #expect(numbers(failed) == (0..<25).map { 11_999 - 2 * $0 })
        #expect(numbers(try await reader.get(try #require(next(failed))).text).first == 11_949)
        #expect(numbers(try await reader.get(path + "?what=sent&below=100").text).first == 98)
        // A rare reason is found at once, even with special characters.
        let rare = try await reader.get(path + "?what=failed%3A" + SignIn.encoded("Rare: <b>")).text
        #expect(numbers(rare) == (0..<12).map { 11_001 - 1_000 * $0 } && next(rare) == nil)
        #expect(rare.contains("Rare: &lt;b&gt;") && !rare.contains("Rare: <b>"))
        #expect(try await reader.get(path + "?what=canceled").text.contains("There is no such message."))
        #expect(try await reader.get("/deliveries/99/messages").status == .notFound)
        for query in ["?below=0", "?below=-1", "?below=2147483647", "?below=x&what=x:y", "?what=failed:"] {
            #expect(try await reader.get(path + query).status == .ok, "\(query)")
        }
        await site.close()
    }

    /// Any id from a phone, a gateway or a log leads to the message, its delivery and its subscriber.
    @Test func aMessageIsFoundByAnyIDOfIt() async throws {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(30)
        let delivery = try await finished(site, 20)
        let name = "projects/shop/messages/0:15%31"
        try await site.sql("UPDATE pushmta_engine.broad_log SET gateway_message_id = '\(name)' WHERE sequence = 7")
        let reader = try await site.session(.read)
        func find(_ id: String, _ within: String = "") async throws -> String {
            try await reader.get("/messages?id=\(SignIn.encoded(id))&delivery=\(SignIn.encoded(within))").text
        }
        #expect(try await reader.get("/deliveries").text.contains("href=\"/messages\""))
        #expect(try await !reader.get("/messages").text.contains("No message was found"))
        let found = try await find(" \(delivery)-7\n")
        #expect(found.contains("href=\"/deliveries/\(delivery)\"") && found.contains("Delivery and number"))
        let person = try await site.value(
            "SELECT subscription_id FROM pushmta.message_status WHERE delivery_id = \(delivery) AND sequence = 7"
        )
        #expect(found.contains("href=\"/subscribers/\(person)\""))
        #expect(try await find(name, "\(delivery)").contains("href=\"/subscribers/\(person)\""))
        #expect(try await find(name).contains("give its number"))
        #expect(try await find("\(delivery)-700").contains("Delivery \(delivery) has no message 700."))
        #expect(try await find("99-1").contains("There is no delivery 99."))
        #expect(try await find("<b>\"x").contains("does not look like a message id"))
        #expect(try await find("6b6499a8-9d43-4bc5-acf0-b6aeb96846f6").contains("Read as “_mId or apns-id”"))
        #expect(try await find("\(delivery)-7", "x").contains("The delivery is not a number."))
        #expect(try await find(String(repeating: "9", count: 3_000), "99999999999999999999").contains("not a number"))
        #expect(try await site.ask(.get, "/messages?id=1-1").status != .ok)
        await site.close()
    }

    /// Messages without a row of their own: those of open or stopped parts.
    @Test func messagesThatHaveNoRowAreListedToo() async throws {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(60)
        let host = "6f9619ff-8b86-4011-b42d-00cf4fc964ff"
        let report = HostReport(
            id: host,
            name: "one",
            pid: 1,
            version: "1",
            schemaVersion: Store.schemaVersion,
            state: .running,
            journalFolder: "/"
        )
        try await site.admin.registerHost(report)
        let delivery = try await site.delivery()
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: host).first)
        while try await !site.admin.prepareChunk(job, partSize: 10, partsPerChunk: 50).done {}
        let oda = try await site.session(.operate)
        let path = "/deliveries/\(delivery)/messages"
        func count(_ text: String) -> Int { text.matches(of: /<th scope="row" class="number">/).count }
        #expect(count(try await oda.get(path).text) == 25)
        #expect(count(try await oda.get(path + "?what=pending&below=11").text) == 10)
        // The page of a delivery under way updates itself; in other states it must be loaded again.
        let open = try await oda.get("/deliveries/\(delivery)").text
        let state = try await site.admin.deliveryProgress(delivery).state.rawValue
        let live = "/deliveries/\(delivery)/live?state=\(state)"
        #expect(open.contains("data-path=\"\(live)&amp;look=") && open.contains("id=\"live-button\""))
        #expect(try await oda.get(live).headers[.contentType] == "text/event-stream")
        #expect(try await site.ask(.get, live).status == .unauthorized)
        let part = try await site.responder.deliveries.part(delivery)
        #expect(part.facts.progress.state.rawValue == state && part.part.html.contains("funnel-title"))
        #expect(!part.part.html.contains("<form") && !part.part.html.contains("name=\"token\""))
        try await site.admin.stopDelivery(delivery)
        let canceled = try await oda.get(path + "?what=canceled").text
        #expect(count(canceled) == 25 && canceled.contains("below=36"))
        #expect(count(try await oda.get(path + "?what=pending").text) == 0)
        #expect(try await !oda.get("/deliveries/\(delivery)").text.contains("id=\"live-button\""))
        await site.close()
    }
}
