import HTTPTypes
import PushCore
import TestSupport
import Testing

@testable import Console
@testable import Store

/// Outcomes that are taken away as a file.
@Suite struct OutcomesCSVTests {
    /// What a test throws on purpose.
    private struct Gone: Error {}

    private func outcome(_ number: Int32, reason: String = "") -> DeliveryOutcome {
        DeliveryOutcome(
            sequence: number,
            subscriptionID: 7,
            application: "shop-ios",
            status: "failed",
            httpStatus: 400,
            reason: reason,
            failureType: "hard",
            failureReason: "refused",
            gatewayMessageID: "",
            attempt: 1,
            loggedAt: nil,
            isReceived: false,
            isClicked: true
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
            { numbers in
                ranges.append(numbers)
                return [outcome(numbers.lowerBound, reason: "=x")]
            }
        )
        #expect(ranges == [1...500, 501...5_500, 5_501...10_500, 10_501...12_000])
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
                { numbers in
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
        let job = try #require(try await site.admin.claimDeliveryToPrepare(host: host))
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
        // By GET it would be taken in somebody's name.
        #expect(try await oda.get(path).status != .ok)
        #expect(try await oda.post("/deliveries/99/outcomes.csv").status == .notFound)
        let reader = try await site.session(.read)
        #expect(try await !reader.get("/deliveries/\(delivery)").text.contains(path))
        #expect(try await site.session(.admin).get("/audit").text.contains("took outcomes away"))
        await site.close()
    }
}
