import PushCore
import Store
import Testing

@testable import WebServer

/// Single messages through the API.
@Suite struct APIMessageTests {
    /// A started continuous delivery, with one device of ada's and two of ben's.
    private func prepare(_ site: APISite, _ key: String) async throws -> String {
        for (token, user) in [("token-of-ada", "ada"), ("token-of-ben-1", "ben"), ("token-of-ben-2", "ben")] {
            let body = #"{"application": "shop-android", "pushToken": "\#(token)", "userKey": "\#(user)"}"#
            #expect(try await site.call("POST", "/devices", key: key, body).status == 201)
        }
        let made = try await site.call(
            "POST",
            "/deliveries",
            key: key,
            #"{"label": "x", "kind": "continuous", "applications": ["shop-android"], "content": {"android": {"title": "Hello {{name}}"}}}"#
        )
        #expect(made.status == 201 && made["kind"] == "continuous", "\(made.answer)")
        let id = made["id"] ?? ""
        let early = try await site.call("POST", "/messages", key: key, #"{"deliveryId": \#(id), "userKey": "ada"}"#)
        #expect(early.status == 409, "\(early.answer)")
        #expect(try await site.call("POST", "/deliveries/\(id)/start", key: key).status == 200)
        return id
    }

    @Test func aMessageIsSentOnceAndLookedUp() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let delivery = try await prepare(site, key)
        let body = #"{"deliveryId": \#(delivery), "userKey": "ada", "variables": {"name": "Ada"}}"#
        let sent = try await site.call("POST", "/messages", key: key, body, headers: ["Idempotency-Key: order-1"])
        #expect(sent.status == 202 && sent["repeated"] == "false" && sent.count("messages") == 1, "\(sent.answer)")
        let id = sent["messages.0.id"] ?? ""
        for _ in 0..<2 {
            let again = try await site.call("POST", "/messages", key: key, body, headers: ["Idempotency-Key: order-1"])
            #expect(
                again.status == 200 && again["repeated"] == "true" && again["messages.0.id"] == id,
                "\(again.answer)"
            )
        }
        let other = try await site.call(
            "POST",
            "/messages",
            key: key,
            #"{"deliveryId": \#(delivery), "userKey": "ben"}"#,
            headers: ["Idempotency-Key: order-1"]
        )
        #expect(other.status == 409, "\(other.answer)")
        let both = try await site.call(
            "POST",
            "/messages",
            key: key,
            #"{"deliveryId": \#(delivery), "userKey": "ben"}"#
        )
        #expect(both.status == 202 && both.count("messages") == 2)
        let read = try await site.call("GET", "/messages/\(id)", key: key)
        #expect(read.status == 200 && read["status"] == "pending" && read["id"] == id, "\(read.answer)")
        #expect(read["deliveryId"] == sent["messages.0.deliveryId"])
        let day = read["deliveryId"] ?? ""
        #expect(try await site.call("GET", "/deliveries/\(day)", key: key)["parentId"] == delivery)
        let found = try await site.call("GET", "/messages?id=\(id)", key: key)
        #expect(found.status == 200 && found.count("messages") == 1, "\(found.answer)")
        #expect(found["messages.0.id"] == id && found["messages.0.matchedAs"] == "message_id")
        for (query, words) in [
            ("id=\(day)-99", "has no message 99"), ("id=0:1%25ab", "say which"),
            ("id=0:1%25ab&deliveryId=\(day)", "No outcome of delivery \(day)"), ("id=zoe", "the form of no message id"),
        ] {
            let missed = try await site.call("GET", "/messages?\(query)", key: key)
            #expect(missed.status == 404 && missed["detail"]?.contains(words) == true, "\(query): \(missed.answer)")
        }
        for query in ["", "?id=", "?id=\(id)&deliveryId=0", "?id=\(id)&by=1"] {
            #expect(try await site.call("GET", "/messages\(query)", key: key).status == 400, "\(query)")
        }
        // A key for another application cannot see any of it.
        let stranger = try await site.key(applications: ["shop-ios"])
        for query in ["id=\(id)", "id=\(day)-99", "id=x&deliveryId=\(day)"] {
            let hidden = try await site.call("GET", "/messages?\(query)", key: stranger)
            #expect(hidden.status == 404 && hidden["detail"]?.contains("has no message") == false, "\(hidden.answer)")
        }
        let page = try await site.call("GET", "/deliveries/\(day)/outcomes", key: key)
        #expect(
            page.count("outcomes") == 3 && page["final"] == "false" && page["next"] == page["through"],
            "\(page.answer)"
        )
        #expect(try await site.web.value("SELECT count(*) FROM pushmta.message_status") == "3")
        try await site.finish()
    }

    @Test func manyAtOnceWithOneKeyAreOneMessage() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let delivery = try await prepare(site, key)
        let body = #"{"deliveryId": \#(delivery), "pushToken": "token-of-ada"}"#
        let answers = try await withThrowingTaskGroup(of: APIExchange.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    try await site.call("POST", "/messages", key: key, body, headers: ["Idempotency-Key: same"])
                }
            }
            return try await group.reduce(into: [APIExchange]()) { $0.append($1) }
        }
        #expect(answers.filter { $0.status == 202 }.count == 1)
        #expect(answers.allSatisfy { $0.status == 202 || $0.status == 200 }, "\(answers.map(\.answer))")
        #expect(Set(answers.map { $0["messages.0.id"] ?? "" }).count == 1)
        #expect(try await site.web.value("SELECT count(*) FROM pushmta.message_status") == "1")
        try await site.finish()
    }

    @Test func whatCannotBeSentIsRefusedWithItsReason() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let delivery = try await prepare(site, key)
        let cases = [
            (#"{"userKey": "ada"}"#, 400), (#"{"deliveryId": \#(delivery)}"#, 400),
            (#"{"deliveryId": "\#(delivery)", "userKey": "ada"}"#, 400),
            (#"{"deliveryId": \#(delivery), "userKey": "ada", "deviceId": 1}"#, 400),
            (#"{"deliveryId": \#(delivery), "userKey": "ada", "variables": []}"#, 400),
            (#"{"deliveryId": \#(delivery), "userKey": "ada", "text": "x"}"#, 400),
            (#"{"deliveryId": \#(delivery), "userKey": "nobody"}"#, 404),
            (#"{"deliveryId": \#(delivery), "deviceId": 999}"#, 404), (#"{"deliveryId": 99, "userKey": "ada"}"#, 404),
        ]
        for (body, status) in cases {
            let answer = try await site.call("POST", "/messages", key: key, body)
            #expect(answer.status == status, "\(body): \(answer.answer)")
        }
        let body = #"{"deliveryId": \#(delivery), "userKey": "ada"}"#
        for wrong in [String(repeating: "k", count: 256), "a b", "é"] {
            let answer = try await site.call(
                "POST",
                "/messages",
                key: key,
                body,
                headers: ["Idempotency-Key: \(wrong)"]
            )
            #expect(answer.status == 400, "\(wrong): \(answer.answer)")
        }
        let device = try await site.call("GET", "/devices?userKey=ada", key: key)["devices.0.id"] ?? ""
        _ = try await site.call("PUT", "/devices/\(device)/opt-out", key: key)
        let refused = try await site.call("POST", "/messages", key: key, body)
        #expect(refused.status == 409 && refused["detail"]?.contains("opted_out") == true, "\(refused.answer)")
        for id in ["1-1", "x", "99999999999999999999-1", "1-99999999999", "%2e"] {
            #expect(try await site.call("GET", "/messages/\(id)", key: key).status == 404, "\(id)")
        }
        let elsewhere = try await site.key(applications: ["shop-ios"])
        #expect(try await site.call("POST", "/messages", key: elsewhere, body).status == 404)
        try await site.finish()
    }

    @Test func manyMessagesGoWithOneCall() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let delivery = try await prepare(site, key)
        let path = "/deliveries/\(delivery)/messages"
        let body = #"""
            {"messages": [{"userKey": "ada", "variables": {"name": "Ada"}, "idempotencyKey": "a-1"}, {"userKey": "nobody"},
              {"userKey": "ben", "idempotencyKey": "b-1"}, {"userKey": "ben", "idempotencyKey": "a-1"}]}
            """#
        let sent = try await site.call("POST", path, key: key, body)
        #expect(sent.status == 202 && sent.count("results") == 4, "\(sent.answer)")
        #expect(sent.count("results.0.messages") == 1 && sent.count("results.2.messages") == 2)
        #expect(sent["results.1.refusal"] == "no_device" && sent["results.3.refusal"] == "key_in_use", "\(sent.answer)")
        #expect(sent.count("results.1.messages") == 0 && sent["results.1.reason"]?.isEmpty == false)
        #expect(sent["results.0.repeated"] == "false")
        // Repeating the whole call sends nothing.
        let again = try await site.call("POST", path, key: key, body)
        #expect(again.status == 202 && again["results.0.repeated"] == "true" && again["results.2.repeated"] == "true")
        #expect(again["results.0.messages.0.id"] == sent["results.0.messages.0.id"])
        let id = sent["results.0.messages.0.id"] ?? ""
        #expect(try await site.call("GET", "/messages/\(id)", key: key)["status"] == "pending")

        let thousand = (1...1_000).map { #"{"userKey": "ada", "idempotencyKey": "n-\#($0)"}"# }
        let full = try await site.call("POST", path, key: key, #"{"messages": [\#(thousand.joined(separator: ","))]}"#)
        #expect(full.status == 202 && full.count("results") == 1_000)
        let numbers = Set((0..<1_000).map { full["results.\($0).messages.0.sequence"] ?? "" })
        #expect(numbers.count == 1_000)
        try await site.finish()
    }

    @Test(arguments: [
        (#"{"messages": []}"#, 400, "/messages"), (#"{}"#, 400, "/messages"),
        (#"{"messages": [{"userKey": "ada"}, {"userKey": "ben", "deviceId": 7}]}"#, 400, "/messages/1"),
        (#"{"messages": [{"userKey": "ada", "idempotencyKey": "a b"}]}"#, 400, "/messages/0/idempotencyKey"),
        (#"{"messages": [{"userKey": "ada", "deliveryId": 7}]}"#, 400, "/messages/0/deliveryId"),
        (#"{"messages": [7]}"#, 400, "/messages/0"),
    ])
    func whatNoMessageCanBeMadeOfRefusesThemAll(_ body: String, _ status: Int, _ place: String) async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let delivery = try await prepare(site, key)
        let answer = try await site.call("POST", "/deliveries/\(delivery)/messages", key: key, body)
        #expect(answer.status == status && answer["errors.0.path"] == place, "\(answer.answer)")
        #expect(
            try await site.call("POST", "/deliveries/7/messages", key: key, #"{"messages": [{"userKey": "a"}]}"#).status
                == 404
        )
        try await site.web.run("UPDATE pushmta_engine.delivery SET state = 'paused' WHERE id = \(delivery)")
        let many = (0...1_000).map { _ in #"{"userKey": "ada"}"# }.joined(separator: ",")
        let tooMany = try await site.call(
            "POST",
            "/deliveries/\(delivery)/messages",
            key: key,
            #"{"messages": [\#(many)]}"#
        )
        #expect(tooMany.status == 400, "\(tooMany.answer)")
        try await site.finish()
    }
}
