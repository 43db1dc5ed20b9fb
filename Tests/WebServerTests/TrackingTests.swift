import PushCore
import TestSupport
import Testing

@testable import WebServer

/// Tracking ids in every form that SDK versions send, and texts that are not ids.
@Suite struct TrackingTests {
    @Test func everyFormOfANumberedIDIsResolved() async throws {
        let site = try await WebSite.start()
        try await site.run(
            "UPDATE pushmta_engine.application SET message_id_format = 'int32' WHERE platform = 'android'"
        )
        let sent = try await site.send(messages: 20, application: "shop-android")
        let first = Int64(try await site.value("SELECT first_id FROM pushmta_engine.message_id_range") ?? "") ?? 0
        let key = try await site.value("SELECT key FROM pushmta_engine.numbered_id_key") ?? ""
        let numbers = try NumberPermutation.make(
            key: stride(from: 2, to: key.utf8.count, by: 2).compactMap { place in
                UInt8(key.dropFirst(place).prefix(2), radix: 16)
            }
        )
        // The form of a database number on a device.
        func hex(_ number: Int64) -> String { String(numbers.id(of: number), radix: 16) }
        let delivery = sent.hexDelivery
        // Unchanged; with leading zeros (iOS's %02x); in upper case; with the delivery's leading zeros.
        for (sequence, text) in [
            (Int64(1), hex(first)), (2, "0" + hex(first + 1)), (3, "0000" + hex(first + 2)),
            (15, hex(first + 14).uppercased()),
        ] {
            let answer = try await site.get("/r/?id=h\(text),\(delivery),2")
            #expect(answer.status == 200, "sequence \(sequence): \(answer)")
        }
        #expect(try await site.get("/r/?id=h\(hex(first + 4)),0\(delivery),02").status == 200)
        // From an app that reads the delivery's id as a decimal number and sends it in hexadecimal.
        let asDecimal = String(Int64(delivery) ?? 0, radix: 16)
        #expect(try await site.get("/r/?id=h\(hex(first + 5)),\(asDecimal),1").status == 200)
        #expect(
            try await site.hits(sent.delivery)
                == ["1 2 true", "2 2 true", "3 2 true", "15 2 true", "5 2 true", "6 1 true"]
        )
        // No message has these ids: beyond the end, negative in both forms, truncated, too large.
        for text in [
            hex(first + 20), String(first, radix: 16), String(first + 1, radix: 16), "d7e15e5c", "ffffffffd7e15e5c",
            "80000000", "34aa061c0c56", "61c0c56", "7fffffffffffffff",
            "ffffffff", "0",
        ] {
            #expect(try await site.get("/r/?id=h\(text),\(delivery),1").status == 404, "\(text)")
        }
        #expect(try await site.get("/r/?id=h\(hex(first)),\(DeliveryID.hexText(0x99)),1").status == 404)
        try await eventually("the drops are reported") {
            try await site.value("SELECT expired FROM pushmta_engine.tracking_source") == "5"
        }
        try await site.drain()
    }

    @Test func uuidsOfAnyCaseAreResolvedAndForgedOnesAreNot() async throws {
        let site = try await WebSite.start()
        let sent = try await site.send(messages: 5)
        let other = try await site.send(messages: 1)
        let (delivery, uuid) = (sent.hexDelivery, sent.uuid(3))
        #expect(try await site.get("/r/?id=h\(uuid),\(delivery),1").status == 200)
        #expect(try await site.get("/r/?id=h\(uuid.uppercased()),\(delivery),2").status == 200)
        // Percent-encoded, with other parameters around it, and without the slash.
        #expect(try await site.get("/r/?p1=1&id=h\(sent.uuid(4))%2C\(delivery)%2C1&x=").status == 200)
        #expect(try await site.get("/r?id=h\(sent.uuid(4)),\(delivery),1").status == 200)
        let expected = ["3 1 true", "3 2 true", "4 1 true", "4 1 false"]
        #expect(try await site.hits(sent.delivery) == expected)
        // Forged, from another system, without a delivery.
        for id in [
            "h6b6499a8-9d43-4bc5-acf0-b6aeb96846f6,\(delivery),1", "h\(uuid),\(other.hexDelivery),1",
            "h\(uuid),testDeliveryId,1", "hd828,deliveryId,2", "h3039,testDeliveryId,1",
        ] {
            let answer = try await site.get("/r/?id=\(id)")
            #expect(answer.status == 404, "\(id): \(answer)")
            #expect(answer.body.contains("Unknown message"))
        }
        // Not a tracking id: e-mail links, requests of other products, an empty text.
        for query in [
            "", "?id=", "?id=h", "?id=h787bc0,281a4d8,281a4da&p1=1", "?id=\(uuid),\(delivery),1",
            "?id=h\(uuid),\(delivery)",
            "?id=h\(uuid),\(delivery),5", "?id=h\(uuid),\(delivery),1,1", "?id=h1-1-1-1-1,\(delivery),1", "?id=h,,",
            "?id=%zz", "?id=h\(uuid),,1", "?id=h11111111111111111,\(delivery),1",
        ] {
            let answer = try await site.get("/r/" + query)
            #expect(answer.status == 400, "\(query): \(answer)")
        }
        #expect(try await site.hits(sent.delivery) == expected)
        try await eventually("the drops are reported") {
            try await site.value(
                "SELECT hits || ' ' || forged || ' ' || foreign_ids || ' ' || malformed FROM pushmta_engine.tracking_source"
            ) == "4 3 2 13"
        }
        let wrong = try await site.post("/r/?id=h\(uuid),\(delivery),1", "")
        #expect(wrong.status == 405)
        #expect(wrong.headers["allow"] == "GET")
        try await site.drain()
    }

    @Test func aHitIsStoredWithItsCircumstances() async throws {
        let site = try await WebSite.start()
        let sent = try await site.send(messages: 5)
        try await site.run(
            """
            INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status)
            SELECT d.id, 4711, 1, 2, d.log_day, 1 FROM pushmta_engine.delivery d WHERE d.id = \(sent.delivery)
            """
        )
        let agent = "User-Agent: Mozilla/5.0 (iPhone; CPU OS 14_5 like Mac OS X; en-US)"
        let headers = [agent, "X-Forwarded-For: 198.51.100.7, 2001:db8::1"]
        #expect(try await site.get("/r/?id=h\(sent.uuid(2)),\(sent.hexDelivery),1", headers: headers).status == 200)
        #expect(
            try await site.value(
                """
                SELECT subscription_id || ' ' || host(address) || ' ' || platform || ' ' || user_agent || ' '
                    || (tracked_at BETWEEN now() - interval '1 min' AND now()) FROM pushmta_engine.tracking_log
                """
            ) == "4711 2001:db8::1 ios \(agent.dropFirst(12)) true"
        )
        try await site.drain()
    }

    /// Hits of a day that retention has dropped are dropped too; other hits with them are stored.
    @Test func hitsOfADayThatIsGoneAreDropped() async throws {
        let site = try await WebSite.start()
        let sent = try await site.send(messages: 5)
        #expect(try await site.get("/r/?id=h\(sent.uuid(1)),\(sent.hexDelivery),1").status == 200)
        let table = "pushmta_engine.tracking_log_' || to_char(log_day, 'YYYYMMDD')"
        let name = try #require(
            try await site.value("SELECT '\(table) FROM pushmta_engine.delivery WHERE id = \(sent.delivery)")
        )
        try await site.run("DROP TABLE \(name)")
        #expect(try await site.get("/r/?id=h\(sent.uuid(2)),\(sent.hexDelivery),1").status == 404)
        // Either result is right, because the day's key is removed too once the keys are read again.
        try await eventually("the drop is counted") {
            try await site.value("SELECT hits || ' ' || expired + forged FROM pushmta_engine.tracking_source") == "1 1"
        }
        try await site.drain()
    }

    /// Two processes store the first hits of the same messages at the same time: for each message, one is the first.
    @Test func twoProcessesAgreeOnTheFirstHit() async throws {
        let one = try await WebSite.start()
        let two = try await WebSite.start(database: one.database)
        let sent = try await one.send(messages: 200)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sequence in Int32(1)...200 {
                for site in [one, two] {
                    group.addTask {
                        let answer = try await site.get("/r/?id=h\(sent.uuid(sequence)),\(sent.hexDelivery),2")
                        #expect(answer.status == 200, "\(answer)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(
            try await one.value(
                "SELECT count(*) || ' ' || count(*) FILTER (WHERE first) || ' ' || count(DISTINCT sequence) FILTER (WHERE first) FROM pushmta_engine.tracking_log"
            ) == "400 200 200"
        )
        try await one.drain()
        try await two.drain()
    }

    /// Another part of the process answers receipts, but the order of answers on a connection is kept.
    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        let site = try await WebSite.start()
        let sent = try await site.send(messages: 40)
        let receipts = (Int32(1)...40).map {
            "GET /r/?id=h\(sent.uuid($0)),\(sent.hexDelivery),1 HTTP/1.1\r\nHost: a\r\n\r\n"
        }
        let test = "GET /r/test HTTP/1.1\r\nHost: a\r\n\r\n"
        let body = "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey"
        let register = RawHTTP.request("POST", "/nms/mobile/1/registerIOS.jssp", body: body)
        let unknown = "GET /r/?id=nonsense HTTP/1.1\r\nHost: a\r\n\r\n"
        let lot = receipts[0..<5] + [test, register] + receipts[5..<10] + [unknown, test, test] + receipts[10..<40]
        let bytes = Array(lot.joined().utf8)
        for cut in [bytes.count, 1_000, 777] {
            let pieces = stride(from: 0, to: bytes.count, by: cut).map { Array(bytes[$0..<min(bytes.count, $0 + cut)]) }
            let answers = try await RawHTTP.exchange(port: site.port, pieces, answers: lot.count)
            let kinds = answers.map { $0.status == 400 ? "?" : $0.body.isEmpty ? "r" : $0.body == "OK\n" ? "o" : "t" }
            #expect(kinds.joined() == "rrrrrto" + "rrrrr?tt" + String(repeating: "r", count: 30), "cut \(cut)")
        }
        #expect(
            try await site.value(
                "SELECT count(*) || ' ' || count(*) FILTER (WHERE first) FROM pushmta_engine.tracking_log"
            ) == "120 40"
        )
        // The last answer says that it is the last.
        let last = "GET /r/?id=h\(sent.uuid(1)),\(sent.hexDelivery),2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        let closing = try await RawHTTP.exchange(port: site.port, [Array((last + test).utf8)], answers: 2)
        #expect(closing.map(\.status) == [200])
        #expect(closing.first?.headers["connection"] == "close")
        try await site.drain()
    }

    /// A receipt that is being stored when the process is asked to end is still answered.
    @Test func aReceiptUnderWayIsAnsweredInADrain() async throws {
        let site = try await WebSite.start { $0.tracking.batchDelayMs = 1_000 }
        let sent = try await site.send(messages: 3)
        async let answer = site.get("/r/?id=h\(sent.uuid(1)),\(sent.hexDelivery),1")
        try await eventually("the receipt waits for its transaction") { site.server.waitingHits > 0 }
        try await site.drain()
        #expect(try await answer.status == 200)
        #expect(try await site.hits(sent.delivery) == ["1 1 true"])
    }
}
