import PushCore
import Store
import Testing

@testable import WebServer

/// Exclusion lists through the API.
@Suite struct APIExclusionTests {
    private static let token = String(repeating: "AB", count: 32)

    @Test func peopleArePutOnAListFoundAndTakenOff() async throws {
        let site = try await APISite.start()
        let key = try await site.key(.writeExclusions, .readExclusions, name: "crm")
        let made = try await site.call(
            "POST",
            "/exclusion-lists",
            key: key,
            #"{"name": "no/thanks", "label": "Complaints"}"#
        )
        #expect(made.status == 201, "\(made.answer)")
        #expect(made.headers["location"] == "/api/v1/exclusion-lists/no%2Fthanks")
        #expect(made["label"] == "Complaints" && made["counts.userKeys"] == "0" && made["used"] == "false")
        let again = try await site.call("POST", "/exclusion-lists", key: key, #"{"name": "no/thanks"}"#)
        #expect(again.status == 409)
        let path = "/exclusion-lists/no%2Fthanks"
        let people =
            #"{"addressees": [{"userKey": " ada "}, {"userKey": "ben"}, {"deviceId": 70}, {"pushToken": "\#(Self.token)"}]}"#
        #expect(try await site.call("POST", path + "/add", key: key, people)["changed"] == "4")
        #expect(try await site.call("POST", path + "/add", key: key, people)["changed"] == "0")
        let read = try await site.call("GET", path, key: key)
        #expect(read["counts"] == #"{"userKeys":2,"devices":1,"pushTokens":1}"#)
        // Keys and tokens in the form that the list stores, and each answer at its index.
        let asked =
            #"{"addressees": [{"userKey": "zoe"}, {"userKey": "ada "}, {"deviceId": 71}, {"deviceId": 70}, {"pushToken": "\#(Self.token)"}, {"pushToken": "\#(Self.token.lowercased())"}, {"pushToken": "x"}]}"#
        let found = try await site.call("POST", path + "/find", key: key, asked)
        #expect(found["found"] == "[false,true,false,true,true,true,false]", "\(found.answer)")
        let gone = #"{"addressees": [{"userKey": "ada"}, {"userKey": "zoe"}, {"pushToken": "\#(Self.token)"}]}"#
        #expect(try await site.call("POST", path + "/remove", key: key, gone)["changed"] == "2")
        #expect(
            try await site.call("POST", path + "/find", key: key, #"{"addressees": [{"userKey": "ada"}]}"#)["found"]
                == "[false]"
        )
        _ = try await site.call("POST", "/exclusion-lists", key: key, #"{"name": "old"}"#)
        let page = try await site.call("GET", "/exclusion-lists?limit=1", key: key)
        #expect(page["exclusionLists.0.name"] == "no/thanks" && page["next"] == "no/thanks")
        let rest = try await site.call("GET", "/exclusion-lists?after=no%2Fthanks", key: key)
        #expect(rest.count("exclusionLists") == 1 && rest["exclusionLists.0.name"] == "old")
        #expect(try await site.call("DELETE", "/exclusion-lists/old", key: key).status == 204)
        #expect(try await site.call("DELETE", "/exclusion-lists/old", key: key).status == 404)
        #expect(try await site.call("GET", "/exclusion-lists/old", key: key).status == 404)
        let log = """
            SELECT string_agg(concat_ws(' ', action, subject, nullif(detail, '')), '; ' ORDER BY id)
            FROM pushmta_engine.audit_log WHERE action LIKE 'list.%' AND origin LIKE 'API key crm by %'
            """
        #expect(
            try await site.web.value(log)
                == "list.add no/thanks; list.put no/thanks 4; list.take no/thanks 2; list.add old; list.remove old"
        )
        try await site.finish()
    }

    @Test func aListThatADeliveryHasStays() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        _ = try await site.call("POST", "/exclusion-lists", key: key, #"{"name": "a"}"#)
        let delivery = try await site.call(
            "POST",
            "/deliveries",
            key: key,
            #"{"label": "x", "applications": ["shop-ios"], "content": {"ios": {"title": "a"}}, "exclude": ["a"]}"#
        )
        #expect(delivery.status == 201)
        #expect(try await site.call("GET", "/exclusion-lists/a", key: key)["used"] == "true")
        let refused = try await site.call("DELETE", "/exclusion-lists/a", key: key)
        #expect(refused.status == 409 && refused["detail"]?.contains("belongs to a delivery") == true)
        #expect(try await site.call("GET", "/exclusion-lists/a", key: key).status == 200)
        try await site.finish()
    }

    @Test func whatNamesNobodyIsRefusedAsAWhole() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        _ = try await site.call("POST", "/exclusion-lists", key: key, #"{"name": "a"}"#)
        let many = Array(repeating: #"{"deviceId": 1}"#, count: 10_001).joined(separator: ",")
        for (people, path) in [
            ("", "/addressees"), (many, "/addressees"), (#"{"userKey": "ok"}, {}"#, "/addressees/1"),
            (#"{"userKey": "ok", "deviceId": 1}"#, "/addressees/0"),
            (#"{"deviceId": 0}"#, "/addressees/0/deviceId"),
            (#"{"deviceId": 9223372036854775808}"#, "/addressees/0/deviceId"),
            (#"{"userKey": "\u0000"}"#, "/addressees/0/userKey"),
            (#"{"userKey": "\u00a0 "}"#, "/addressees/0/userKey"), (#"{"userkey": "a"}"#, "/addressees/0"),
        ] {
            for verb in ["add", "remove", "find"] {
                let body = #"{"addressees": [\#(people)]}"#
                let answer = try await site.call("POST", "/exclusion-lists/a/\(verb)", key: key, body)
                #expect(answer.status == 400 && answer["errors.0.path"] == path, "\(verb): \(answer.answer)")
            }
        }
        // The database also refuses such a call as a whole.
        for people in [#"{"userKey": "ok"}, {"userKey": "null"}"#, #"{"userKey": "ok"}, {"pushToken": "short"}"#] {
            let body = #"{"addressees": [\#(people)]}"#
            #expect(try await site.call("POST", "/exclusion-lists/a/add", key: key, body).status == 400, "\(people)")
        }
        #expect(try await site.call("GET", "/exclusion-lists/a", key: key)["counts.userKeys"] == "0")
        let one = #"{"addressees": [{"userKey": "a"}]}"#
        for verb in ["add", "remove", "find"] {
            #expect(try await site.call("POST", "/exclusion-lists/b/\(verb)", key: key, one).status == 404, "\(verb)")
        }
        for body in [#"{"name": " "}"#, "{}", #"{"name": "x", "label": " "}"#] {
            #expect(try await site.call("POST", "/exclusion-lists", key: key, body).status == 400, "\(body)")
        }
        try await site.finish()
    }

    @Test func aLimitedKeyReadsListsAndWritesNone() async throws {
        let site = try await APISite.start()
        let all = try await site.key()
        let one = try await site.key(applications: ["shop-ios"])
        let people = #"{"addressees": [{"userKey": "ada"}]}"#
        #expect(try await site.call("POST", "/exclusion-lists", key: all, #"{"name": "a"}"#).status == 201)
        for (method, path, body) in [
            ("POST", "/exclusion-lists", #"{"name": "b"}"#), ("DELETE", "/exclusion-lists/a", nil),
            ("POST", "/exclusion-lists/a/add", people), ("POST", "/exclusion-lists/a/remove", people),
        ] as [(String, String, String?)] {
            let refused = try await site.call(method, path, key: one, body)
            #expect(refused.status == 403 && refused["code"] == "missing_scope", "\(method) \(path)")
        }
        #expect(try await site.call("GET", "/exclusion-lists", key: one).count("exclusionLists") == 1)
        #expect(try await site.call("POST", "/exclusion-lists/a/find", key: one, people)["found"] == "[false]")
        // A key that may only create deliveries must not change exclusions.
        let delivers = try await site.key(.writeDeliveries, .readDeliveries)
        #expect(try await site.call("POST", "/exclusion-lists/a/remove", key: delivers, people).status == 403)
        try await site.finish()
    }
}
