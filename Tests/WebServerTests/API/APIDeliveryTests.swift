import PushCore
import Store
import Testing

@testable import WebServer

/// Deliveries through the API.
@Suite struct APIDeliveryTests {
    private static let content = #""content": {"ios": {"title": "a"}, "android": {"title": "a"}}"#

    @Test func aDeliveryIsCreatedStartedPausedResumedAndStopped() async throws {
        let site = try await APISite.start()
        let key = try await site.key(name: "shop")
        let made = try await site.call(
            "POST",
            "/deliveries",
            key: key,
            #"{"label": "Sale", "applications": ["shop-ios", "shop-android"], \#(Self.content), "priority": 7, "validitySeconds": 3600, "onePerUser": true, "ambiguityPolicy": "report", "maxRetries": 2, "retryPeriodSeconds": 9, "retrySchedule": "exponential", "filter": "locale = 'fr'"}"#
        )
        #expect(made.status == 201, "\(made.answer)")
        let id = made["id"] ?? ""
        #expect(made.headers["location"] == "/api/v1/deliveries/\(id)")
        #expect(
            made["state"] == "editing" && made["label"] == "Sale" && made["priority"] == "7" && made["kind"] == "batch"
        )
        #expect(made["applications"] == #"["shop-android","shop-ios"]"# && made["counts.target"] == "0")
        #expect(
            try await site.web.value(
                "SELECT one_per_user || ' ' || ambiguity_policy || ' ' || max_retries || ' ' || retry_period_seconds || ' ' || retry_schedule || ' ' || validity || ' ' || target_filter FROM pushmta_engine.delivery"
            ) == "true report 2 9 exponential 01:00:00 locale = 'fr'"
        )
        #expect(try await site.call("POST", "/deliveries/\(id)/pause", key: key).status == 409)
        let started = try await site.call("POST", "/deliveries/\(id)/start", key: key, "{}")
        #expect(started.status == 200 && started["state"] == "pending" && started["validUntil"] != "null")
        let again = try await site.call("POST", "/deliveries/\(id)/start", key: key)
        #expect(again.status == 409 && again["code"] == "conflict" && again["detail"]?.contains("pending") == true)
        let client = ["X-Forwarded-For: 203.0.113.9"]
        #expect(try await site.call("POST", "/deliveries/\(id)/pause", key: key, headers: client)["state"] == "paused")
        #expect(try await site.call("POST", "/deliveries/\(id)/resume", key: key)["state"] == "pending")
        let stopped = try await site.call("POST", "/deliveries/\(id)/stop", key: key)
        #expect(stopped["state"] == "stopped" && stopped["finishedAt"] != "null")
        #expect(try await site.call("POST", "/deliveries/\(id)/resume", key: key).status == 409)
        for verb in ["start", "pause", "resume", "stop"] {
            #expect(try await site.call("POST", "/deliveries/99/\(verb)", key: key).status == 404, "\(verb)")
        }
        let log = """
            SELECT string_agg(action || ' by ' || origin, '; ' ORDER BY id) FROM pushmta_engine.audit_log WHERE subject = '\(id)'
            """
        let verbs = ["add", "start", "pause", "resume", "stop"]
        // Behind a proxy, the client's address is recorded.
        let wanted = verbs.map { "delivery.\($0) by API key shop" + ($0 == "pause" ? ", 203.0.113.9" : "") + " by " }
        let logged = try #require(try await site.web.value(log)).split(separator: "; ")
        #expect(logged.count == wanted.count && zip(logged, wanted).allSatisfy { $0.hasPrefix($1) }, "\(logged)")
        try await site.finish()
    }

    /// A command is typed as shown, so it does not get a capital letter.
    @Test func aRemedyThatIsACommandStaysOne() {
        #expect(APIDatabase.sentence("pushmta app list shows them") == "pushmta app list shows them.")
        #expect(APIDatabase.sentence("give a later time.") == "Give a later time.")
    }

    @Test func aStartMayBeLater() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let id =
            try await site.call(
                "POST",
                "/deliveries",
                key: key,
                #"{"label": "x", "applications": ["shop-ios"], \#(Self.content)}"#
            )[
                "id"
            ] ?? ""
        for wrong in [
            #""tomorrow""#, "7", #""2999-13-01T00:00:00Z""#, #""2999-12-01""#, #""2999-12-01T00:00:00""#,
            #""２999-12-01T00:00:00Z""#, #""2999-12-01T00:00:00.Z""#, #""infinity""#,
        ] {
            let answer = try await site.call("POST", "/deliveries/\(id)/start", key: key, #"{"startAt": \#(wrong)}"#)
            #expect(answer.status == 400, "\(wrong): \(answer.answer)")
        }
        let started = try await site.call(
            "POST",
            "/deliveries/\(id)/start",
            key: key,
            #"{"startAt": "2999-12-01T01:30:00.5+01:00"}"#
        )
        #expect(started["startAt"] == "2999-12-01T00:30:00.500000Z", "\(started.answer)")
        // Answers show null for a delivery without a time, so null is accepted too.
        let other = try await site.call(
            "POST",
            "/deliveries",
            key: key,
            #"{"label": "y", "applications": ["shop-ios"], \#(Self.content)}"#
        )
        let now = try await site.call(
            "POST",
            "/deliveries/\(other["id"] ?? "")/start",
            key: key,
            #"{"startAt": null}"#
        )
        #expect(now.status == 200 && now["state"] == "pending", "\(now.answer)")
        try await site.finish()
    }

    @Test func whatCannotBeSentIsNotCreated() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let cases = [
            (#"{"label": "x", "applications": ["shop-ios"]}"#, 400, "/content"),
            (#"{"applications": ["shop-ios"], \#(Self.content)}"#, 400, "/label"),
            (#"{"label": "x", "applications": [], \#(Self.content)}"#, 400, "/applications"),
            (#"{"label": "x", "applications": ["shop-ios", 7], \#(Self.content)}"#, 400, "/applications/1"),
            (#"{"label": "x", "applications": ["shop-ios"], "content": "x"}"#, 400, "/content"),
            (
                #"{"label": "x", "applications": ["shop-ios"], "content": {"ios": {"titel": "a"}}}"#, 400,
                "/content/ios/titel"
            ),
            (#"{"label": "x", "applications": ["shop-ios"], \#(Self.content), "priority": 101}"#, 400, "/priority"),
            (#"{"label": "x", "applications": ["shop-ios"], \#(Self.content), "priority": 1.5}"#, 400, "/priority"),
            (
                #"{"label": "x", "applications": ["shop-ios"], \#(Self.content), "priority": 99999999999999999999}"#,
                400, "/priority"
            ),
            (#"{"label": "x", "applications": ["shop-ios"], \#(Self.content), "kind": "daily"}"#, 400, "/kind"),
            (#"{"label": "x", "applications": ["shop-ios"], \#(Self.content), "filter": "locale ="}"#, 400, "/filter"),
            (
                #"{"label": "x", "applications": ["shop-ios"], \#(Self.content), "kind": "continuous", "filter": "locale = 'fr'"}"#,
                400, "/kind"
            ),
            (#"{"label": "x", "applications": ["shop-ios"], \#(Self.content), "targets": []}"#, 400, "/targets"),
            (#"{"applications": ["shop-ios"], \#(Self.content), "label": "a\nb"}"#, 400, "/label"),
            (#"{"applications": ["shop-ios"], \#(Self.content), "label": "a\u009bb"}"#, 400, "/label"),
            (
                #"{"applications": ["shop-ios"], \#(Self.content), "label": "\#(String(repeating: "é", count: 501))"}"#,
                400,
                "/label"
            ),
            (
                #"{"label": "x", "applications": ["shop-ios"], \#(Self.content), "validitySeconds": 311040001}"#, 400,
                "/validitySeconds"
            ),
            (
                #"{"label": "x", "applications": ["shop-ios"], \#(Self.content), "retrySchedule": "hourly"}"#, 400,
                "/retrySchedule"
            ),
            (
                #"{"label": "x", "applications": ["shop-ios"], \#(Self.content), "filter": "platform != 'androd'"}"#,
                400, "/filter"
            ),
        ]
        for (body, status, path) in cases {
            let answer = try await site.call("POST", "/deliveries", key: key, body)
            #expect(answer.status == status && answer["errors.0.path"] == path, "\(body): \(answer.answer)")
        }
        let nobody = try await site.call(
            "POST",
            "/deliveries",
            key: key,
            #"{"label": "x", "applications": ["nobody"], \#(Self.content)}"#
        )
        #expect(nobody.status == 404 && nobody["remedy"]?.isEmpty == false)
        let list = #"{"label": "x", "applications": ["shop-ios"], \#(Self.content), "exclude": ["no such list"]}"#
        #expect(try await site.call("POST", "/deliveries", key: key, list).status == 404)
        // All or nothing: the delivery that failed at its exclusion list does not exist either.
        #expect(try await site.web.value("SELECT count(*) FROM pushmta_engine.delivery") == "0")
        try await site.finish()
    }

    /// As in a delivery from a template, an empty filter or list is none.
    @Test func anEmptyTargetIsNone() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let bodies = [
            #""kind": "continuous", "filter": """#, #""kind": "continuous", "filter": " \t\r\n", "exclude": []"#,
            #""explicitTargets": true, "filter": """#, #""filter": " ", "exclude": []"#,
        ]
        for body in bodies {
            let whole = #"{"label": "x", "applications": ["shop-ios"], \#(Self.content), \#(body)}"#
            let answer = try await site.call("POST", "/deliveries", key: key, whole)
            #expect(answer.status == 201, "\(body): \(answer.answer)")
        }
        let filters = "SELECT count(*) FROM pushmta_engine.delivery WHERE target_filter IS NULL"
        #expect(try await site.web.value(filters) == "4")
        try await site.finish()
    }

    @Test func explicitTargetsAreAddedAllOrNone() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let id =
            try await site.call(
                "POST",
                "/deliveries",
                key: key,
                #"{"label": "x", "applications": ["shop-ios"], \#(Self.content), "explicitTargets": true}"#
            )["id"] ?? ""
        let added = try await site.call(
            "POST",
            "/deliveries/\(id)/targets",
            key: key,
            #"{"targets": [{"userKey": "ada", "variables": {"n": 1.50}}, {"deviceId": 7}, {"pushToken": "abc"}]}"#
        )
        #expect(added["added"] == "3", "\(added.answer)")
        #expect(
            try await site.web.value(
                "SELECT string_agg(coalesce(user_key, subscription_id::text, push_token) || coalesce(variables::text, ''), ',' ORDER BY id) FROM pushmta.delivery_target"
            ) == #"ada{"n": 1.50},7,abc"#
        )
        for (body, path) in [
            (#"{"targets": []}"#, "/targets"),
            (#"{"targets": [{"userKey": "a"}, {}]}"#, "/targets/1"),
            (#"{"targets": [{"userKey": "a", "deviceId": 1}]}"#, "/targets/0"),
            (#"{"targets": [{"userKey": "a", "variables": 1}]}"#, "/targets/0/variables"),
            (#"{"targets": [{"userKey": "a", "x": 1}]}"#, "/targets/0/x"),
            (#"{"targets": [{"deviceId": "1"}]}"#, "/targets/0/deviceId"),
            (#"{"targets": [7]}"#, "/targets/0"),
        ] {
            let answer = try await site.call("POST", "/deliveries/\(id)/targets", key: key, body)
            #expect(answer.status == 400 && answer["errors.0.path"] == path, "\(body): \(answer.answer)")
        }
        #expect(try await site.web.value("SELECT count(*) FROM pushmta.delivery_target") == "3")
        // The documented maximum, which is more than other paths accept.
        let many = (0..<10_000).map { #"{"pushToken": "\#(String(repeating: "c7d9", count: 40))\#($0)"}"# }.joined(
            separator: ","
        )
        let whole = try await site.call("POST", "/deliveries/\(id)/targets", key: key, #"{"targets": [\#(many)]}"#)
        #expect(whole.status == 200 && whole["added"] == "10000", "\(whole.answer)")
        let blanks = String(repeating: " ", count: 4 << 20)
        let more = try await site.call("POST", "/deliveries/\(id)/targets", key: key, #"{"targets": []}"# + blanks)
        #expect(more.status == 413 && more["code"] == "too_large", "\(more.answer)")
        _ = try await site.call("POST", "/deliveries/\(id)/start", key: key)
        let late = try await site.call(
            "POST",
            "/deliveries/\(id)/targets",
            key: key,
            #"{"targets": [{"userKey": "a"}]}"#
        )
        #expect(late.status == 409)
        let all =
            try await site.call(
                "POST",
                "/deliveries",
                key: key,
                #"{"label": "x", "applications": ["shop-ios"], \#(Self.content)}"#
            )[
                "id"
            ] ?? ""
        let useless = try await site.call(
            "POST",
            "/deliveries/\(all)/targets",
            key: key,
            #"{"targets": [{"userKey": "a"}]}"#
        )
        #expect(useless.status == 409 && useless["detail"]?.contains("all subscribers") == true)
        try await site.finish()
    }

    @Test func deliveriesAreListedInPages() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        var made: [String] = []
        for place in 0..<5 {
            let body = #"{"label": "\#(place)", "applications": ["shop-ios"], \#(Self.content)}"#
            made.append(try await site.call("POST", "/deliveries", key: key, body)["id"] ?? "")
        }
        var listed: [String] = []
        var tail = "?limit=2"
        for _ in 0..<3 {
            let page = try await site.call("GET", "/deliveries\(tail)", key: key)
            listed += (0..<(page.count("deliveries") ?? 0)).compactMap { page["deliveries.\($0).id"] }
            guard let next = page["next"], next != "null" else { break }
            tail = "?limit=2&before=\(next)"
        }
        #expect(listed == made.reversed())
        for wrong in ["limit=0", "limit=101", "limit=x", "before=0", "before=-1", "after=1"] {
            #expect(try await site.call("GET", "/deliveries?\(wrong)", key: key).status == 400, "\(wrong)")
        }
        for wrong in ["0", "x", "-1", "9223372036854775808", "1%00", "%ff"] {
            #expect(try await site.call("GET", "/deliveries/\(wrong)", key: key).status == 400, "\(wrong)")
        }
        try await site.finish()
    }
}
