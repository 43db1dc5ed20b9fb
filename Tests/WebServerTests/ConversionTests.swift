import PushCore
import TestSupport
import Testing

@testable import WebServer

/// Conversions that apps report, with the id of the message that was opened.
@Suite struct ConversionTests {
    /// Stores the outcome of messages, as far as conversions need it.
    private func end(_ site: WebSite, _ delivery: Int64) async throws {
        try await site.run(
            """
            INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status)
            SELECT d.id, 1, 1, 1, d.log_day, 1 FROM pushmta_engine.delivery d WHERE d.id = \(delivery)
            """
        )
    }

    private func recorded(_ site: WebSite) async throws -> String? {
        try await site.value(
            """
            SELECT string_agg(format('%s %s %s', sequence, name, value), ', ' ORDER BY sequence, name)
            FROM pushmta_engine.conversion
            """
        )
    }

    @Test func theFirstOfANameCounts() async throws {
        let site = try await WebSite.start()
        let sent = try await site.send(messages: 2)
        try await end(site, sent.delivery)
        let path = "/r/?id=h\(sent.uuid(1)),\(sent.hexDelivery),4"
        #expect(try await site.get("\(path)&name=bought%20it&value=19.99").status == 200)
        #expect(try await site.get("\(path)&name=bought%20it&value=5").status == 200)
        #expect(try await site.get(path).status == 200)
        #expect(try await recorded(site) == "1 bought it 19.9900, 1 conversion ")
        // No message with an outcome has these ids; the third is forged, the last another delivery's.
        let other = try await site.send(messages: 1)
        for id in [
            "h\(sent.uuid(2)),\(sent.hexDelivery)", "hd828,\(sent.hexDelivery)",
            "h6b6499a8-9d43-4bc5-acf0-b6aeb96846f6,\(sent.hexDelivery)", "h\(sent.uuid(1)),\(other.hexDelivery)",
        ] {
            let answer = try await site.get("/r/?id=\(id),4&name=a")
            #expect(answer.status == 404, "\(id): \(answer)")
        }
        for query in ["name=", "name=a&value=many", "name=a&value=nan", "name=a&value=1e13", "name=%zz"] {
            let answer = try await site.get("\(path)&\(query)")
            #expect(answer.status == 400, "\(query): \(answer)")
        }
        for number in 1...20 { #expect(try await site.get("\(path)&name=n\(number)").status == 200) }
        let count = try await site.value("SELECT count(*)::text FROM pushmta_engine.conversion")
        #expect(count == "10", "A message has ten at most")
        #expect(try await site.hits(sent.delivery).isEmpty, "A conversion is no click")
        try await site.drain()
    }

    @Test func aNumberAsIDIsResolved() async throws {
        let site = try await WebSite.start()
        try await site.run(
            "UPDATE pushmta_engine.application SET message_id_format = 'int32' WHERE platform = 'android'"
        )
        let sent = try await site.send(messages: 3, application: "shop-android")
        try await end(site, sent.delivery)
        let first = Int64(try await site.value("SELECT first_id FROM pushmta_engine.message_id_range") ?? "") ?? 0
        let key = try await site.value("SELECT key FROM pushmta_engine.numbered_id_key") ?? ""
        let numbers = try NumberPermutation.make(
            key: stride(from: 2, to: key.utf8.count, by: 2).compactMap { UInt8(key.dropFirst($0).prefix(2), radix: 16) }
        )
        let id = String(numbers.id(of: first), radix: 16)
        #expect(try await site.get("/r/?id=h\(id),\(sent.hexDelivery),4&name=buy").status == 200)
        #expect(try await recorded(site) == "1 buy ")
        try await site.drain()
    }
}
