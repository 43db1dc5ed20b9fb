import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// Outcomes through the API: none is missed, in whatever order they arrive.
@Suite struct APIOutcomeTests {
    /// Stores an outcome like a child, but without the part's counters, which pages do not read.
    private static func insert(
        _ delivery: Int64,
        _ sequences: ClosedRange<Int>,
        status: Int = 1,
        failure: String = "NULL"
    ) -> String {
        """
        INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status, http_status, reason, failure)
        SELECT d.id, n, 1, n, d.log_day, \(status), \(status == 1 ? 200 : 410), \(status == 1 ? "NULL" : "'Unregistered'"), \(failure)
        FROM pushmta_engine.delivery d, generate_series(\(sequences.lowerBound), \(sequences.upperBound)) n WHERE d.id = \(delivery)
        """
    }

    /// Reads all pages from a number on: the outcome of each message, and whether it is final.
    private func read(
        _ site: APISite,
        _ key: String,
        _ delivery: Int64,
        limit: Int,
        after: Int = 0,
        status: String = ""
    )
        async throws -> (statuses: [Int: String], isFinal: Bool, next: String?)
    {
        var statuses: [Int: String] = [:]
        var isFinal = true
        var after = String(after)
        for _ in 0..<100 {
            let page = try await site.call(
                "GET",
                "/deliveries/\(delivery)/outcomes?limit=\(limit)&after=\(after)\(status)",
                key: key
            )
            #expect(page.status == 200, "\(page.answer)")
            for place in 0..<(page.count("outcomes") ?? 0) {
                let sequence = Int(page["outcomes.\(place).sequence"] ?? "") ?? 0
                #expect(statuses[sequence] == nil, "message \(sequence) is on two pages")
                statuses[sequence] = page["outcomes.\(place).status"]
            }
            if page["final"] != "true" { isFinal = false }
            guard let next = page["next"], next != "null", next != after else {
                return (statuses, isFinal, page["next"])
            }
            after = next
        }
        return (statuses, isFinal, nil)
    }

    @Test func everyMessageIsOnOnePageInWhateverOrderOutcomesCome() async throws {
        let site = try await APISite.start()
        let key = try await site.key(.readDeliveries)
        let sent = try await site.web.send(messages: 25)
        let none = try await read(site, key, sent.delivery, limit: 10)
        #expect(none.statuses.count == 25 && none.statuses.values.allSatisfy { $0 == "pending" } && !none.isFinal)
        #expect(none.next == "null")
        // One transaction begins first and ends last, so its outcomes lie before a position that has already been read.
        let early = try await site.web.database.connect()
        try await early.run(script: "BEGIN; " + Self.insert(sent.delivery, 3...8))
        try await site.web.run(Self.insert(sent.delivery, 9...25, status: 2, failure: "2 * 256 + 1"))
        let between = try await read(site, key, sent.delivery, limit: 10)
        #expect(between.statuses.count == 25 && !between.isFinal)
        #expect(between.statuses.filter { $0.value == "pending" }.keys.sorted() == Array(1...8))
        let second = try await site.call("GET", "/deliveries/\(sent.delivery)/outcomes?after=10&limit=10", key: key)
        #expect(second["final"] == "true" && second["through"] == "20" && second["next"] == "20")
        #expect(second["outcomes.0.failureType"] == "hard" && second["outcomes.0.failureReason"] == "User unknown")
        #expect(second["outcomes.0.reason"] == "Unregistered" && second["outcomes.0.httpStatus"] == "410")
        try await early.run(script: "COMMIT")
        await early.close()
        // A page that was not final is read again, and nothing is lost.
        let later = try await read(site, key, sent.delivery, limit: 10)
        #expect(later.statuses.filter { $0.value == "sent" }.keys.sorted() == Array(3...8))
        #expect(later.statuses.filter { $0.value == "pending" }.keys.sorted() == [1, 2])
        try await site.web.run(Self.insert(sent.delivery, 1...2))
        let end = try await read(site, key, sent.delivery, limit: 7)
        #expect(end.isFinal && end.statuses.count == 25 && end.next == "null")
        let failed = try await read(site, key, sent.delivery, limit: 7, status: "&status=failed")
        #expect(failed.statuses.keys.sorted() == Array(9...25) && failed.isFinal)
        #expect(
            try await site.call("GET", "/deliveries/\(sent.delivery)/outcomes?after=25", key: key).count("outcomes")
                == 0
        )
        try await site.finish()
    }

    @Test func messagesOfAStoppedDeliveryAreCanceledWithoutRows() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let sent = try await site.web.send(messages: 12)
        try await site.web.run(Self.insert(sent.delivery, 4...5))
        #expect(try await site.call("POST", "/deliveries/\(sent.delivery)/stop", key: key)["state"] == "stopped")
        let end = try await read(site, key, sent.delivery, limit: 5)
        #expect(
            end.statuses.filter { $0.value == "canceled" }.count == 10
                && end.statuses.filter { $0.value == "sent" }.count == 2
        )
        #expect(end.isFinal)
        try await site.finish()
    }

    /// The same outcomes as in the contract's view, for parts of several sizes and a part that changed its owner.
    @Test func pagesSayWhatTheViewSays() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let sent = try await site.web.send(messages: 2_500)
        try await site.web.run(Self.insert(sent.delivery, 990...1_010))
        try await site.web.run(
            """
            UPDATE pushmta_engine.delivery_part p SET state = 'done', rest_status = 0, rest_reason = 'expired', finished_at = now()
            WHERE p.delivery_id = \(sent.delivery) AND p.id = (SELECT max(q.id) FROM pushmta_engine.delivery_part q);
            UPDATE pushmta_engine.delivery_part_target t SET sequences = ARRAY(SELECT generate_series(1, cardinality(t.subscription_ids)))
            WHERE t.delivery_id = \(sent.delivery) AND t.first_sequence = 1
            """
        )
        let wanted = try await site.web.value(
            "SELECT string_agg(sequence || status, ' ' ORDER BY sequence) FROM pushmta.message_status WHERE delivery_id = \(sent.delivery)"
        )
        let pages = try await read(site, key, sent.delivery, limit: 1_000)
        #expect(
            pages.statuses.sorted { $0.key < $1.key }.map { "\($0.key)\($0.value)" }.joined(separator: " ") == wanted
        )
        #expect(pages.statuses.count == 2_500 && Set(pages.statuses.values) == ["pending", "sent", "ignored"])
        try await site.finish()
    }

    @Test func receiptsShow() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let sent = try await site.web.send(messages: 3)
        try await site.web.run(Self.insert(sent.delivery, 1...3))
        _ = try await site.web.get("/r/?id=h\(sent.uuid(2)),\(sent.hexDelivery),2")
        let page = try await site.call("GET", "/deliveries/\(sent.delivery)/outcomes", key: key)
        #expect((0..<3).map { page["outcomes.\($0).clicked"] } == ["false", "true", "false"])
        for wrong in ["after=-1", "after=2147483648", "limit=1001", "status=gone", "x=1"] {
            let answer = try await site.call("GET", "/deliveries/\(sent.delivery)/outcomes?\(wrong)", key: key)
            #expect(answer.status == 400, "\(wrong)")
        }
        #expect(try await site.call("GET", "/deliveries/999/outcomes", key: key).status == 404)
        #expect(
            try await site.call("GET", "/deliveries/\(sent.delivery)/outcomes?after=2147483647&limit=1000", key: key)
                .status == 200
        )
        try await site.finish()
    }
}
