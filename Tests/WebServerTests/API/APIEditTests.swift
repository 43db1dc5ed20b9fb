import PushCore
import Store
import Testing

@testable import WebServer

/// Changes of deliveries that has sent nothing, through the API.
@Suite struct APIEditTests {
    private func create(_ site: APISite, _ key: String, _ applications: String = #""shop-ios""#) async throws -> String
    {
        let content = #"{"ios": {"title": "a"}, "android": {"title": "a"}}"#
        let made = try await site.call(
            "POST",
            "/deliveries",
            key: key,
            #"{"label": "Sale", "applications": [\#(applications)], "content": \#(content), "filter": "locale = 'fr'", "messagesPerSecond": 50}"#
        )
        #expect(made.status == 201, "\(made.answer)")
        return made["id"] ?? ""
    }

    /// Starts it, and prepares it as a supervisor does.
    private func begin(_ site: APISite, _ id: String) async throws {
        let admin = site.web.admin
        try await admin.startDelivery(try #require(Int64(id)))
        let job = try #require(try await admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !admin.prepareChunk(job, partSize: 1_000, partsPerChunk: 50).done {}
    }

    @Test func onlyWhatIsNamedChanges() async throws {
        let site = try await APISite.start()
        let key = try await site.key(name: "shop")
        let id = try await create(site, key)
        _ = try await site.call("POST", "/exclusion-lists", key: key, #"{"name": "complaints"}"#)
        func patch(_ body: String) async throws -> APIExchange {
            try await site.call("PATCH", "/deliveries/\(id)", key: key, body)
        }
        func row(_ columns: String) async throws -> String? {
            try await site.web.value("SELECT concat_ws(' ', \(columns)) FROM pushmta_engine.delivery WHERE id = \(id)")
        }
        let changed = try await patch(
            #"{"label": "Winter", "priority": 7, "validitySeconds": 3600, "onePerUser": true, "ambiguityPolicy": "report", "maxRetries": 2, "retryPeriodSeconds": 9, "retrySchedule": "exponential", "exclude": ["complaints"]}"#
        )
        #expect(
            changed.status == 200 && changed["label"] == "Winter" && changed["priority"] == "7",
            "\(changed.answer)"
        )
        let settings = "one_per_user, ambiguity_policy, max_retries, retry_period_seconds, retry_schedule, validity"
        #expect(try await row(settings) == "t report 2 9 exponential 01:00:00")
        #expect(try await row("content #>> '{ios,title}', target_filter") == "a locale = 'fr'")
        let lists = "SELECT count(*) FROM pushmta_engine.delivery_exclusion_list"
        #expect(try await site.web.value(lists) == "1")
        let content = try await patch(#"{"content": {"ios": {"title": "b"}}, "filter": "", "exclude": []}"#)
        #expect(content.status == 200, "\(content.answer)")
        #expect(try await row("content, target_filter, label") == #"{"ios": {"title": "b"}} Winter"#)
        #expect(try await site.web.value(lists) == "0")
        #expect(try await patch(#"{"endsAt": "2999-12-01T00:00:00+01:00"}"#).status == 200)
        let started = try await site.call("POST", "/deliveries/\(id)/start", key: key)
        #expect(started["validUntil"] == "2999-11-30T23:00:00.000000Z", "\(started.answer)")
        // It waits for its preparation, so it can still be changed.
        let later = try await patch(#"{"validitySeconds": 60}"#)
        #expect(later.status == 200 && later["state"] == "pending" && later["validUntil"]?.hasPrefix("2999") == false)
        let log = """
            SELECT count(*) FROM pushmta_engine.audit_log
            WHERE subject = '\(id)' AND action = 'delivery.change' AND origin LIKE 'API key shop%'
            """
        #expect(try await site.web.value(log) == "4")
        try await site.finish()
    }

    @Test func aFaultyChangeChangesNothing() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let id = try await create(site, key)
        let cases = [
            ("{}", ""), (#"{"label": ""}"#, "/label"), (#"{"label": null}"#, "/label"),
            (#"{"priority": 101}"#, "/priority"), (#"{"validitySeconds": 0}"#, "/validitySeconds"),
            (#"{"validitySeconds": 60, "endsAt": "2999-12-01T00:00:00Z"}"#, ""),
            (#"{"endsAt": "tomorrow"}"#, "/endsAt"), (#"{"endsAt": null}"#, "/endsAt"),
            (#"{"content": {"ios": {"titel": "a"}}}"#, "/content/ios/titel"), (#"{"content": "a"}"#, "/content"),
            (#"{"filter": "locale ="}"#, "/filter"), (#"{"retrySchedule": "hourly"}"#, "/retrySchedule"),
            (#"{"label": "x", "explicitTargets": true}"#, "/explicitTargets"),
            (#"{"label": "x", "messagesPerSecond": 5}"#, "/messagesPerSecond"),
        ]
        for (body, path) in cases {
            let answer = try await site.call("PATCH", "/deliveries/\(id)", key: key, body)
            #expect(answer.status == 400 && answer["errors.0.path"] == path, "\(body): \(answer.answer)")
        }
        // What only the database knows.
        let platform = #"{"label": "x", "content": {"android": {"title": "a"}}}"#
        let silent = try await site.call("PATCH", "/deliveries/\(id)", key: key, platform)
        #expect(silent.status == 400 && silent["code"] == "invalid_value", "\(silent.answer)")
        let list = #"{"label": "x", "exclude": ["no such list"]}"#
        #expect(try await site.call("PATCH", "/deliveries/\(id)", key: key, list).status == 404)
        #expect(try await site.call("GET", "/deliveries/\(id)", key: key)["label"] == "Sale")
        try await site.finish()
    }

    @Test func aCopyIsADeliveryOfItsOwn() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let id = try await create(site, key)
        try await begin(site, id)
        let made = try await site.call("POST", "/deliveries/\(id)/copy", key: key, #"{"label": "Again"}"#)
        let copy = made["id"] ?? ""
        #expect(made.status == 201 && copy != id && made["state"] == "editing", "\(made.answer)")
        #expect(made["label"] == "Again" && made.headers["location"] == "/api/v1/deliveries/\(copy)")
        let kept = "SELECT target_filter FROM pushmta_engine.delivery WHERE id = \(copy)"
        #expect(try await site.web.value(kept) == "locale = 'fr'")
        let rate = "SELECT messages_per_second FROM pushmta_engine.rate_limit WHERE delivery_id = \(copy)"
        #expect(try await site.web.value(rate) == "50")
        #expect(try await site.call("POST", "/deliveries/\(copy)/copy", key: key)["label"] == "Again")
        #expect(try await site.call("POST", "/deliveries/\(copy)/copy", key: key, #"{"label": ""}"#).status == 400)
        #expect(try await site.call("POST", "/deliveries/\(copy)/copy", key: key, #"{"more": 1}"#).status == 400)
        try await site.finish()
    }

    @Test func aStartIsMovedOrTakenBack() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let id = try await create(site, key)
        func move(_ body: String) async throws -> APIExchange {
            try await site.call("POST", "/deliveries/\(id)/reschedule", key: key, body)
        }
        let none = try await move(#"{"startAt": "2999-12-02T00:00:00Z"}"#)
        #expect(none.status == 409 && none["detail"]?.contains("no start") == true, "\(none.answer)")
        let first = #"{"startAt": "2999-12-01T00:00:00Z"}"#
        #expect(try await site.call("POST", "/deliveries/\(id)/start", key: key, first).status == 200)
        let moved = try await move(#"{"startAt": "2999-12-02T00:00:00Z"}"#)
        #expect(moved.status == 200 && moved["startAt"] == "2999-12-02T00:00:00.000000Z", "\(moved.answer)")
        #expect(moved["validUntil"] == "2999-12-07T00:00:00.000000Z")
        for (body, path) in [
            ("{}", "/startAt"), (#"{"startAt": "soon"}"#, "/startAt"), (#"{"startAt": 7}"#, "/startAt"),
        ] {
            let answer = try await move(body)
            #expect(answer.status == 400 && answer["errors.0.path"] == path, "\(body): \(answer.answer)")
        }
        let past = try await move(#"{"startAt": "2020-12-02T00:00:00Z"}"#)
        #expect(past.status == 400 && past["detail"]?.contains("in the past") == true, "\(past.answer)")
        let back = try await move(#"{"startAt": null}"#)
        #expect(back.status == 200 && back["state"] == "editing" && back["startAt"] == "null", "\(back.answer)")
        try await site.finish()
    }

    @Test func whatHasBegunOrIsNotTheKeysIsRefused() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let id = try await create(site, key)
        let both = try await create(site, key, #""shop-ios", "shop-android""#)
        let calls = [
            ("PATCH", "", #"{"label": "x"}"#), ("POST", "/copy", "{}"), ("POST", "/reschedule", #"{"startAt": null}"#),
        ]
        let one = try await site.key(applications: ["shop-ios"])
        let reader = try await site.key(.readDeliveries, .readDevices)
        for (method, tail, body) in calls {
            #expect(try await site.call(method, "/deliveries/\(both)\(tail)", key: one, body).status == 404)
            #expect(try await site.call(method, "/deliveries/\(id)\(tail)", key: reader, body).status == 403)
            #expect(try await site.call(method, "/deliveries/99999\(tail)", key: key, body).status == 404)
        }
        #expect(try await site.web.value("SELECT count(*) FROM pushmta_engine.delivery") == "2")
        // A key that is limited to its applications may.
        for (method, tail, body) in calls {
            #expect(try await site.call(method, "/deliveries/\(id)\(tail)", key: one, body).status < 300)
        }
        try await begin(site, id)
        for (method, tail, body) in calls where tail != "/copy" {
            let answer = try await site.call(method, "/deliveries/\(id)\(tail)", key: key, body)
            #expect(answer.status == 409 && answer["remedy"]?.contains("copy") == true, "\(answer.answer)")
        }
        try await site.finish()
    }
}
