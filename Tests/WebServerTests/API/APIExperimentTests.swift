import PushCore
import Store
import Testing

@testable import WebServer

/// Experiments and conversions through the API.
@Suite struct APIExperimentTests {
    private let rule =
        #"{"variants": [{"label": "plain", "percent": 20}, {"percent": 20, "content": {"ios": {"title": "b"}}}], "decideAfterSeconds": 3600, "leastSample": 5, "holdOutPercent": 10, "certaintyPercent": 90, "metric": "conversions", "ifUndecided": "wait"}"#

    private func create(_ site: APISite, _ key: String) async throws -> String {
        let made = try await site.call(
            "POST",
            "/deliveries",
            key: key,
            #"{"label": "News", "applications": ["shop-ios"], "content": {"ios": {"title": "a"}}}"#
        )
        #expect(made.status == 201, "\(made.answer)")
        return made["id"] ?? ""
    }

    @Test func aDeliveryIsMadeAnExperiment() async throws {
        let site = try await APISite.start()
        let key = try await site.key(name: "shop")
        let id = try await create(site, key)
        let path = "/deliveries/\(id)/experiment"
        #expect(try await site.call("GET", path, key: key).status == 404)
        #expect(try await site.call("DELETE", path, key: key).status == 404)
        let set = try await site.call("PUT", path, key: key, rule)
        #expect(set.status == 200 && set["state"] == "waiting" && set["metric"] == "conversions", "\(set.answer)")
        #expect(set["variants.0.label"] == "plain" && set["variants.1.label"] == "B" && set.count("variants") == 2)
        #expect(set["variants.0.content"] == "null" && set["variants.1.content"]?.contains("\"b\"") == true)
        #expect(set["rest.percent"] == "50.0" && set["holdOutPercent"] == "10.0" && set["leastSample"] == "5")
        #expect(set["ifUndecided"] == "wait" && set["early"] == "true" && set["certaintyPercent"] == "90.0")
        let winner = "/deliveries/\(id)/winner"
        #expect(try await site.call("POST", winner, key: key, #"{"variant": 1}"#).status == 409)
        #expect(try await site.call("POST", winner, key: key, "{}").status == 400)
        #expect(try await site.call("DELETE", path, key: key).status == 204)
        #expect(try await site.call("GET", path, key: key).status == 404)
        #expect(try await site.call("POST", winner, key: key, #"{"variant": 1}"#).status == 404)
        #expect(try await site.call("PUT", path, key: key, rule).status == 200)
        #expect(try await site.call("POST", "/deliveries/\(id)/start", key: key).status == 200)
        let read = try await site.call("GET", path, key: key)
        #expect(read["state"] == "waiting" && read["decidesAt"] == "null", "\(read.answer)")
        try await site.finish()
    }

    @Test func aVariantIsPreviewedAndProved() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let id = try await create(site, key)
        #expect(try await site.call("PUT", "/deliveries/\(id)/experiment", key: key, rule).status == 200)
        let preview = "/deliveries/\(id)/preview"
        let own = try await site.call("POST", preview, key: key, "{}")
        let second = try await site.call("POST", preview, key: key, #"{"variant": 2}"#)
        #expect(own["payload.aps.alert.title"] == "a" && second["payload.aps.alert.title"] == "b", "\(second.answer)")
        #expect(try await site.call("POST", preview, key: key, #"{"variant": 3}"#).status == 404)
        #expect(try await site.call("POST", preview, key: key, #"{"variant": 9}"#).status == 400)
        let proofs = "/deliveries/\(id)/proofs"
        #expect(try await site.call("POST", proofs, key: key, #"{"variant": 3}"#).status == 404)
        try await site.finish()
    }

    @Test func aPersonChoosesTheWinner() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let id = try await create(site, key)
        #expect(try await site.call("PUT", "/deliveries/\(id)/experiment", key: key, rule).status == 200)
        #expect(try await site.call("POST", "/deliveries/\(id)/start", key: key).status == 200)
        try await site.web.run(
            "UPDATE pushmta_engine.delivery SET state = 'in_progress', started_at = now(), prepared = true WHERE id = \(id)"
        )
        let chosen = try await site.call("POST", "/deliveries/\(id)/winner", key: key, #"{"variant": 2}"#)
        #expect(chosen.status == 200 && chosen["winner"] == "2" && chosen["state"] == "decided", "\(chosen.answer)")
        #expect(chosen["decision"] == "chosen by a person")
        #expect(try await site.call("POST", "/deliveries/\(id)/winner", key: key, #"{"variant": 1}"#).status == 409)
        let reader = try await site.key(.readDeliveries)
        #expect(try await site.call("POST", "/deliveries/\(id)/winner", key: reader, #"{"variant": 1}"#).status == 403)
        #expect(try await site.call("GET", "/deliveries/\(id)/experiment", key: reader)["winner"] == "2")
        try await site.finish()
    }

    @Test func aFaultyExperimentIsRefused() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let id = try await create(site, key)
        let halves = #""variants": [{"percent": 50}, {"percent": 50}]"#
        let cases = [
            ("{}", "/variants"), (#"{"variants": [{"percent": 50}]}"#, "/variants"),
            (#"{"variants": [{"percent": 50}, {"percent": 0}]}"#, "/variants/1/percent"),
            (#"{"variants": [{}, {"percent": 50}]}"#, "/variants/0/percent"),
            (#"{"variants": [{"percent": 50, "share": 1}, {"percent": 50}]}"#, "/variants/0/share"),
            (
                #"{"variants": [{"percent": 50, "content": {"ios": {"titel": "x"}}}, {"percent": 50}]}"#,
                "/variants/0/content/ios/titel"
            ),
            (#"{\#(halves), "metric": "smiles"}"#, "/metric"), (#"{\#(halves), "leastSample": 0}"#, "/leastSample"),
            (#"{\#(halves), "certaintyPercent": 100}"#, "/certaintyPercent"),
            (#"{\#(halves), "winner": 1}"#, "/winner"),
        ]
        for (body, path) in cases {
            let answer = try await site.call("PUT", "/deliveries/\(id)/experiment", key: key, body)
            #expect(answer.status == 400 && answer["errors.0.path"] == path, "\(body): \(answer.answer)")
        }
        for body in [
            #"{"variants": [{"percent": 80}, {"percent": 30}]}"#, #"{"variants": [{"percent": 20}, {"percent": 30}]}"#,
            #"{\#(halves), "holdOutPercent": 1}"#,
        ] {
            #expect(try await site.call("PUT", "/deliveries/\(id)/experiment", key: key, body).status == 400, "\(body)")
        }
        try await site.finish()
    }

    @Test func conversionsAreRecordedOnceForAName() async throws {
        let site = try await APISite.start()
        let key = try await site.key(.writeConversions)
        let sent = try await site.web.send(messages: 2)
        try await site.web.run(
            """
            INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status)
            SELECT d.id, 1, 1, 1, d.log_day, 1 FROM pushmta_engine.delivery d WHERE d.id = \(sent.delivery)
            """
        )
        func record(_ members: String, key: String) async throws -> APIExchange {
            try await site.call("POST", "/conversions", key: key, "{\(members)}")
        }
        let message = #""messageId": "\#(sent.delivery)-1""#
        #expect(try await record("\(message), \"name\": \"buy\", \"value\": 19.99", key: key)["counts"] == "true")
        #expect(try await record("\(message), \"name\": \"buy\"", key: key)["counts"] == "false")
        #expect(try await record("\(message), \"deliveryId\": \(sent.delivery)", key: key)["counts"] == "true")
        #expect(try await record("\(message), \"deliveryId\": \(sent.delivery + 1)", key: key).status == 404)
        #expect(try await record(#""messageId": "\#(sent.delivery)-2""#, key: key).status == 404)
        #expect(try await record(#""name": "buy""#, key: key).status == 400)
        #expect(try await record("\(message), \"name\": \" \"", key: key).status == 400)
        #expect(
            try await site.web.value(
                "SELECT string_agg(name || ' ' || messages || ' ' || coalesce(value::text, '-'), ', ' ORDER BY name) FROM pushmta.delivery_conversion"
            ) == "buy 1 19.9900, conversion 1 -"
        )
        // Messages of other applications do not exist for a key.
        let foreign = try await site.key([.writeConversions], applications: ["shop-android"])
        #expect(try await record(message, key: foreign).status == 404)
        #expect(try await record(message, key: try await site.key(.sendMessages)).status == 403)
        try await site.finish()
    }
}
