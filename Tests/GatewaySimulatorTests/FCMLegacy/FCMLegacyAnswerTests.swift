import Foundation
import GatewaySimulator
import Testing

@Suite("Legacy FCM gateway", .timeLimit(.minutes(2)))
struct FCMLegacyAnswerTests {
    @Test("One message: the answer that Google documents, and one record by its _mId")
    func single() async throws {
        try await Fixture.run { (fixture) async throws in
            let answer = try fixture.legacy(#"{"to":"abc:DEF-1_2","data":{"_mId":"2147483650","title":"x"}}"#)
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"]?.hasPrefix("application/json") == true)
            let json = try answer.json()
            #expect(json["success"] as? Int == 1)
            #expect(json["failure"] as? Int == 0)
            #expect(json["canonical_ids"] as? Int == 0)
            #expect(json["multicast_id"] is Int)
            let result = try #require((json["results"] as? [[String: String]])?.first)
            #expect(result["message_id"]?.hasPrefix("0:") == true)
            #expect(fixture.simulator.occurrences(ofID: "2147483650") == 1)
            #expect(fixture.simulator.counters().fcmLegacy.accepted == 1)
            #expect(fixture.simulator.counters().fcm.accepted == 0)
        }
    }

    @Test("Many messages: results in the order of the tokens, dead and moved devices among them; records by token")
    func multicast() async throws {
        try await Fixture.run { (fixture) async throws in
            fixture.simulator.setDevice("dead", to: .unregistered(sinceMilliseconds: 0))
            fixture.simulator.setDevice("foreign", to: .deviceTokenNotForTopic)
            fixture.simulator.setDevice("moved", to: .replaced(by: "home"))
            let body = #"{"registration_ids":["a","dead","moved","no token","foreign","b"],"data":{}}"#
            let json = try fixture.legacy(body).json()
            #expect(json["success"] as? Int == 3)
            #expect(json["failure"] as? Int == 3)
            #expect(json["canonical_ids"] as? Int == 1)
            let results = try #require(json["results"] as? [[String: String]])
            #expect(
                results.map { $0["error"] } == [
                    nil, "NotRegistered", nil, "InvalidRegistration", "MismatchSenderId", nil,
                ]
            )
            #expect(results.map { $0["registration_id"] } == [nil, nil, "home", nil, nil, nil])
            for token in ["a", "moved", "b"] { #expect(fixture.simulator.occurrences(ofID: token) == 1) }
            #expect(fixture.simulator.record(ofID: "dead")?.answer == "NotRegistered")
            #expect(fixture.simulator.counters().fcmLegacy.rejectedTotal == 3)
        }
    }

    @Test(
        "Errors in results",
        arguments: [
            (#"{"data":{}}"#, "MissingRegistration"), (#"{"to":"","data":{}}"#, "MissingRegistration"),
            (#"{"to":"x","data":{"from":"1"}}"#, "InvalidDataKey"),
            (#"{"to":"x","data":{"google.a":"1"}}"#, "InvalidDataKey"),
            (#"{"to":"x","data":{"gcm":"1"}}"#, "InvalidDataKey"),
            (#"{"to":"x","time_to_live":2419201}"#, "InvalidTtl"), (#"{"to":"x","time_to_live":-1}"#, "InvalidTtl"),
            (#"{"to":"x","time_to_live":1.5}"#, "InvalidTtl"),
            (#"{"to":"x","data":{"a":"\#(String(repeating: "a", count: 4_096))"}}"#, "MessageTooBig"),
            (#"{"to":"x","notification":{"body":"\#(String(repeating: "a", count: 4_093))"}}"#, "MessageTooBig"),
            (#"{"to":"/topics/a","data":{"a":"\#(String(repeating: "a", count: 2_047))"}}"#, nil),
            (#"{"to":"x","data":{"a":"\#(String(repeating: "a", count: 4_095))"}}"#, nil),
            (#"{"to":"x","time_to_live":2419200,"priority":"high","collapse_key":"k","dry_run":false}"#, nil),
        ] as [(String, String?)]
    )
    func results(_ body: String, _ error: String?) async throws {
        try await Fixture.run { (fixture) async throws in
            let answer = try fixture.legacy(body)
            #expect(answer.status == 200)
            let results = try answer.json()["results"] as? [[String: String]]
            #expect(results?.first?["error"] == error)
        }
    }

    @Test(
        "Broken requests are answered with 400 and a line of text",
        arguments: [
            ("", "JSON_PARSING_ERROR"), ("{", "JSON_PARSING_ERROR"),
            (#"{"to":5}"#, #"Field "to" must be a JSON string"#),
            (#"{"registration_ids":"x"}"#, "must be a JSON array"), (#"{"registration_ids":[]}"#, "cannot be empty"),
            (#"{"to":"x","registration_ids":["y"]}"#, "not both"), (#"{"to":"x","priority":"urgent"}"#, "priority"),
            (#"{"to":"x","dry_run":"yes"}"#, "must be a JSON boolean"),
            (#"{"to":"x","time_to_live":"5"}"#, "must be a JSON number"),
            (#"{"to":"x","data":[]}"#, "must be a JSON object"),
            (#"{"registration_ids":[\#(Array(repeating: "\"a\"", count: 1_001).joined(separator: ","))]}"#, "1001"),
        ]
    )
    func broken(_ body: String, _ text: String) async throws {
        try await Fixture.run { (fixture) async throws in
            let answer = try fixture.legacy(body)
            #expect(answer.status == 400)
            #expect(answer.headers["content-type"]?.hasPrefix("text/plain") == true)
            #expect(answer.body.contains(text), "\(answer.body)")
            #expect(fixture.simulator.counters().fcmLegacy.accepted == 0)
        }
    }

    @Test("No key, a wrong one, a revoked one: 401 with a page")
    func key() async throws {
        try await Fixture.run { (fixture) async throws in
            let body = #"{"to":"x","data":{"_mId":"7"}}"#
            for key in [nil, "", "AAAA:wrong"] {
                let answer = try fixture.legacy(body, key: key)
                #expect(answer.status == 401)
                #expect(answer.body.contains("<TITLE>INVALID_KEY</TITLE>"))
            }
            fixture.simulator.revokeKey(true, for: .fcmLegacy)
            #expect(try fixture.legacy(body).status == 401)
            fixture.simulator.revokeKey(false, for: .fcmLegacy)
            #expect(try fixture.legacy(body).status == 200)
            let record = try #require(fixture.simulator.record(ofID: "7"))
            #expect(record.seen == 5)
            #expect(record.accepted == 1)
            #expect(fixture.simulator.counters().fcmLegacy.rejected == ["INVALID_KEY": 4])
        }
    }

    @Test("Other paths and methods")
    func paths() async throws {
        try await Fixture.run { (fixture) async throws in
            #expect(try fixture.legacy("{}", path: "/fcm/other").status == 404)
            #expect(try fixture.legacy("{}", method: "PUT").status == 405)
        }
    }

    @Test("The plain text form")
    func form() async throws {
        try await Fixture.run { (fixture) async throws in
            fixture.simulator.setDevice("moved", to: .replaced(by: "home"))
            let type = "application/x-www-form-urlencoded;charset=UTF-8"
            let accepted = try fixture.legacy("registration_id=abc&data.title=a%20b&time_to_live=5", type: type)
            #expect(accepted.body.hasPrefix("id=0:"))
            #expect(try fixture.legacy("registration_id=moved", type: type).body.hasSuffix("\nregistration_id=home"))
            #expect(try fixture.legacy("data.a=1", type: type).body == "Error=MissingRegistration")
            #expect(try fixture.legacy("registration_id=a%20b", type: type).body == "Error=InvalidRegistration")
            #expect(try fixture.legacy("registration_id=a&time_to_live=x", type: type).body == "Error=InvalidTtl")
            #expect(try fixture.legacy("{}", type: "text/xml").status == 400)
        }
    }

    @Test("A dry run is checked and leaves no record")
    func dryRun() async throws {
        try await Fixture.run { (fixture) async throws in
            let answer = try fixture.legacy(#"{"to":"x","dry_run":true,"data":{"_mId":"9"}}"#)
            let results = try answer.json()["results"] as? [[String: String]]
            #expect(results?.first?["message_id"] == "fake_message_id")
            #expect(fixture.simulator.record(ofID: "9") == nil)
            #expect(fixture.simulator.counters().fcmLegacy.accepted == 0)
        }
    }

    @Test("A topic has a message id of its own")
    func topic() async throws {
        try await Fixture.run { (fixture) async throws in
            #expect(try fixture.legacy(#"{"to":"/topics/news","data":{}}"#).json()["message_id"] is Int)
            #expect(try fixture.legacy(#"{"condition":"'a' in topics","data":{}}"#).json()["message_id"] is Int)
        }
    }
}
