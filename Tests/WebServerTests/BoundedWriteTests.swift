import Content
import PushCore
import TestSupport
import Testing

@testable import WebServer

/// Limits of what a client with an app's binary, or a tracking id, can store.
@Suite struct BoundedWriteTests {
    /// Ten hits of a message and kind are stored, all are counted, and hits of other messages are stored as before.
    @Test func aReplayedTrackingIDIsCountedAndNotStored() async throws {
        let site = try await WebSite.start()
        let sent = try await site.send(messages: 3)
        let id = "h\(sent.uuid(1)),\(sent.hexDelivery)"
        for kind in [1, 2] {
            for _ in 0..<25 { #expect(try await site.get("/r/?id=\(id),\(kind)").status == 200) }
        }
        // The same holds within one transaction.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask { _ = try await site.get("/r/?id=h\(sent.uuid(2)),\(sent.hexDelivery),1") }
            }
            try await group.waitForAll()
        }
        #expect(try await site.get("/r/?id=h\(sent.uuid(3)),\(sent.hexDelivery),1").status == 200)
        try await site.drain()
        #expect(
            try await site.value(
                """
                SELECT string_agg(sequence || ' ' || kind || ' ' || n || ' ' || firsts, ',' ORDER BY sequence, kind)
                FROM (SELECT sequence, kind, count(*) AS n, count(*) FILTER (WHERE first) AS firsts
                    FROM pushmta_engine.tracking_log GROUP BY 1, 2) x
                """
            ) == "1 1 10 1,1 2 10 1,2 1 10 1,3 1 1 1"
        )
        let counted = "SELECT sum(cardinality(sequences)) FROM pushmta_engine.tracking_uncounted"
        #expect(try await site.value(counted) == "91")
        #expect(try await site.value("SELECT hits || ' ' || repeated FROM pushmta_engine.tracking_source") == "91 60")
        // They are counted in the delivery's statistics and in the application's growth.
        try await site.run(
            """
            UPDATE pushmta_engine.tracking_uncounted SET created_at = created_at - interval '10 minutes';
            SELECT pushmta_engine.count_hits(1000000)
            """
        )
        #expect(
            try await site.value(
                "SELECT received || ' ' || received_unique || ' ' || clicked FROM pushmta.delivery_statistics WHERE delivery_id = \(sent.delivery)"
            ) == "66 3 25"
        )
        #expect(try await site.value("SELECT sum(n) FROM pushmta_engine.application_growth WHERE kind = 2") == "87")
    }

    @Test func whatNobodyDeclaredHasFourKibibytes() async throws {
        let site = try await WebSite.start()
        let noise = (0..<100).map { "&x\($0)=" + String(repeating: "y", count: 500) }.joined()
        let model = String(repeating: "é", count: 5_000)
        let body = "registrationToken=testToken&mobileAppUuid=testIntegrationKey&userKey=u&deviceModel=\(model)"
        let answer = try await site.registerAndroid(body + noise)
        #expect(answer.status == 200 && answer.body.contains("OK, but 92 values are not kept"), "\(answer)")
        #expect(
            try await site.value(
                """
                SELECT (octet_length(extra::text) < 4300)::text || ' ' || octet_length(device ->> 'deviceModel') || ' ' || user_key
                FROM pushmta_engine.subscription
                """
            ) == "true 256 u"
        )
        // Values within the limit are stored completely, without a warning.
        let small = try await site.registerAndroid(body + "&x1=" + String(repeating: "y", count: 4_000))
        #expect(small.body == "OK\n")
        #expect(try await site.value("SELECT length(extra ->> 'x1') FROM pushmta_engine.subscription") == "4000")
        try await site.drain()
    }

    @Test func declaredValuesTakeNoRoomOfTheOthers() throws {
        let declarations = try ApplicationDeclarations(
            variables: "[]",
            sounds: "[]",
            parameters: #"[{"name": "cart", "column": "parameters.cart"}]"#
        )
        let long = String(repeating: "c", count: 10_000)
        var registration = DeviceRegistration(
            platform: .android,
            integrationKey: "k",
            pushToken: "testToken",
            parameters: [
                "cart": long, "a": String(repeating: "a", count: 3_000), "b": String(repeating: "b", count: 3_000),
            ]
        )
        registration.extra = ["z": "1", "y": String(repeating: "y", count: 2_000)]
        #expect(registration.dropUndeclared(declarations) == 2)
        #expect(registration.parameters.keys.sorted() == ["a", "cart"] && registration.extra == ["z": "1"])
        #expect(registration.dropUndeclared(declarations) == 0)
    }

    @Test func growthIsAnAlarmOfItsApplication() async throws {
        let site = try await WebSite.start()
        func alarms() async throws -> String? {
            try await site.value(
                """
                SELECT string_agg(code || ' ' || subject, ',' ORDER BY code) FROM pushmta.alarm
                WHERE code IN ('subscriptions_growing', 'hits_repeated')
                """
            )
        }
        #expect(
            try await site.registerAndroid("registrationToken=testToken&mobileAppUuid=testIntegrationKey").status == 200
        )
        #expect(try await site.value("SELECT kind || ' ' || n FROM pushmta_engine.application_growth") == "1 1")
        try await site.run(
            """
            UPDATE pushmta_engine.application_growth SET n = 9000;
            INSERT INTO pushmta_engine.application_growth SELECT application_id, kind, hour - interval '1 hour', 900
            FROM pushmta_engine.application_growth
            """
        )
        #expect(try await alarms() == nil)
        try await site.run(
            "UPDATE pushmta_engine.application_growth SET n = 9900 WHERE n = 9000"
        )
        #expect(try await alarms() == "subscriptions_growing shop-android")
        // An hour of the week before had as many, so this is normal for the application.
        try await site.run(
            """
            INSERT INTO pushmta_engine.application_growth SELECT application_id, kind, hour - interval '3 days', 1200
            FROM pushmta_engine.application_growth WHERE n = 9900
            """
        )
        #expect(try await alarms() == nil)
        try await site.run("UPDATE pushmta_engine.application_growth SET kind = 2, n = n * 20 WHERE n > 1200")
        #expect(try await alarms() == "hits_repeated shop-android")
        try await site.drain()
    }
}
