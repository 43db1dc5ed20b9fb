import PushCore
import Store
import Testing

@testable import WebServer

/// Recurring deliveries through the API.
@Suite struct APIRecurrenceTests {
    private let rule =
        #"{"unit": "weeks", "times": ["09:00", "18:30"], "timeZone": "Europe/Berlin", "weekdays": [1, 4], "startsOn": "2092-01-01", "endsOn": "2092-12-31", "exceptDates": ["2092-01-03"], "missed": "once"}"#

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

    @Test func aDeliveryRecurs() async throws {
        let site = try await APISite.start()
        let key = try await site.key(name: "shop")
        let id = try await create(site, key)
        let path = "/deliveries/\(id)/recurrence"
        #expect(try await site.call("GET", path, key: key).status == 404)
        #expect(try await site.call("POST", "\(path)/start", key: key).status == 404)
        let set = try await site.call("PUT", path, key: key, rule)
        #expect(set.status == 200 && set["state"] == "editing" && set["unit"] == "weeks", "\(set.answer)")
        #expect(set["times"] == #"["09:00","18:30"]"# && set["weekdays"] == "[1,4]" && set["missed"] == "once")
        #expect(set["startsOn"] == "2092-01-01" && set["endsOn"] == "2092-12-31" && set["every"] == "1")
        // 3 January 2092, a Thursday, is excepted.
        #expect(set["nextRuns.0"] == "2092-01-07T08:00:00.000000Z" && set.count("nextRuns") == 5, "\(set.answer)")
        let started = try await site.call("POST", "\(path)/start", key: key)
        #expect(started.status == 200 && started["state"] == "active", "\(started.answer)")
        #expect(try await site.call("POST", "/deliveries/\(id)/start", key: key).status == 409)
        let run = try await site.call("POST", "\(path)/run", key: key)
        #expect(run.status == 201 && run["state"] == "pending" && run["id"] != id, "\(run.answer)")
        #expect(try await site.call("POST", "\(path)/run", key: key).status == 409)
        let read = try await site.call("GET", path, key: key)
        #expect(read.count("runs") == 1 && read["runs.0.runId"] == run["id"] && read["runs.0.outcome"] == "started")
        #expect(try await site.call("POST", "\(path)/pause", key: key)["state"] == "paused")
        #expect(try await site.call("DELETE", path, key: key).status == 204)
        #expect(try await site.call("GET", path, key: key).status == 404)
        #expect(try await site.call("DELETE", path, key: key).status == 404)
        #expect(try await site.call("POST", "/deliveries/\(id)/start", key: key).status == 200)
        #expect(try await site.call("PUT", path, key: key, rule).status == 409)
        let log = """
            SELECT string_agg(action, ' ' ORDER BY id) FROM pushmta_engine.audit_log
            WHERE subject = '\(id)' AND action LIKE 'recurrence.%' AND origin LIKE 'API key shop%'
            """
        let actions = "recurrence.set recurrence.start recurrence.run recurrence.pause recurrence.remove"
        #expect(try await site.web.value(log) == actions)
        try await site.finish()
    }

    @Test func aFaultyRuleIsRefused() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let id = try await create(site, key)
        let zone = #""timeZone": "UTC""#
        let cases = [
            ("{\(zone)}", "/unit"), (#"{"unit": "years", \#(zone)}"#, "/unit"), (#"{"unit": "days"}"#, "/timeZone"),
            (#"{"unit": "days", \#(zone), "times": ["9:00"]}"#, "/times/0"),
            (#"{"unit": "days", \#(zone), "times": ["09:00", "24:00"]}"#, "/times/1"),
            (#"{"unit": "days", \#(zone), "times": []}"#, "/times"),
            (#"{"unit": "days", \#(zone), "times": ["09:00"], "every": 0}"#, "/every"),
            (#"{"unit": "weeks", \#(zone), "times": ["09:00"], "weekdays": [8]}"#, "/weekdays/0"),
            (#"{"unit": "months", \#(zone), "times": ["09:00"], "monthDays": [1, 0]}"#, "/monthDays/1"),
            (#"{"unit": "days", \#(zone), "times": ["09:00"], "startsOn": "2027-02-29"}"#, "/startsOn"),
            (#"{"unit": "days", \#(zone), "times": ["09:00"], "exceptDates": ["today"]}"#, "/exceptDates/0"),
            (#"{"unit": "days", \#(zone), "times": ["09:00"], "missed": "twice"}"#, "/missed"),
            (#"{"unit": "days", \#(zone), "times": ["09:00"], "until": "2099-01-01"}"#, "/until"),
        ]
        for (body, path) in cases {
            let answer = try await site.call("PUT", "/deliveries/\(id)/recurrence", key: key, body)
            #expect(answer.status == 400 && answer["errors.0.path"] == path, "\(body): \(answer.answer)")
        }
        // What only the database knows.
        let unknown = [
            #"{"unit": "days", "timeZone": "Mars/Base", "times": ["09:00"]}"#, #"{"unit": "days", \#(zone)}"#,
            #"{"unit": "days", \#(zone), "times": ["09:00"], "endsOn": "2020-01-01"}"#,
        ]
        for body in unknown {
            let answer = try await site.call("PUT", "/deliveries/\(id)/recurrence", key: key, body)
            #expect(answer.status == 400 && answer["code"] == "invalid_value", "\(body): \(answer.answer)")
        }
        #expect(try await site.call("GET", "/deliveries/\(id)/recurrence", key: key).status == 404)
        try await site.finish()
    }

    @Test func aKeyNeedsTheScopeAndTheApplications() async throws {
        let site = try await APISite.start()
        let all = try await site.key()
        let id = try await create(site, all)
        let reader = try await site.key(.readDeliveries)
        let other = try await site.key([], applications: ["shop-android"])
        let path = "/deliveries/\(id)/recurrence"
        #expect(try await site.call("PUT", path, key: reader, rule).status == 403)
        #expect(try await site.call("PUT", path, key: other, rule).status == 404)
        #expect(try await site.call("PUT", path, key: all, rule).status == 200)
        #expect(try await site.call("GET", path, key: reader).status == 200)
        let calls = [("GET", ""), ("DELETE", ""), ("POST", "/start"), ("POST", "/pause"), ("POST", "/run")]
        for (method, more) in calls {
            #expect(try await site.call(method, path + more, key: other).status == 404, "\(method) \(more)")
            guard method != "GET" else { continue }
            #expect(try await site.call(method, path + more, key: reader).status == 403, "\(method) \(more)")
        }
        try await site.finish()
    }
}
