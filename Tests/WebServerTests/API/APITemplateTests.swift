import PushCore
import Store
import Testing

@testable import WebServer

/// Delivery templates through the API.
@Suite struct APITemplateTests {
    private static let sale =
        #""content": {"android": {"title": "Sale", "body": "Now"}}, "settings": {"priority": 7, "weight": 3, "validitySeconds": 3600, "onePerUser": true, "allSeeds": true, "ambiguityPolicy": "report", "maxRetries": 2, "retrySchedule": "exponential", "retryPeriodSeconds": 9, "messagesPerSecond": 12.5}, "filter": "locale = 'fr'""#

    @Test func aTemplateIsCreatedReadReplacedDuplicatedAndDeleted() async throws {
        let site = try await APISite.start()
        let key = try await site.key(name: "shop")
        _ = try await site.call("POST", "/exclusion-lists", key: key, #"{"name": "none"}"#)
        let made = try await site.call(
            "POST",
            "/templates",
            key: key,
            #"{"name": "sale", "label": "Sale", "applications": ["shop-android"], "exclude": ["none"], \#(Self.sale)}"#
        )
        #expect(made.status == 201 && made.headers["location"] == "/api/v1/templates/sale", "\(made.answer)")
        #expect(made["services"] == #"["shop"]"# && made["exclude"] == #"["none"]"# && made["readyMade"] == "false")
        #expect(made["filter"] == "locale = 'fr'" && made["content.android.body"] == "Now")
        for (name, value) in [
            ("priority", "7"), ("weight", "3"), ("validitySeconds", "3600"), ("onePerUser", "true"),
            ("ambiguityPolicy", "report"), ("maxRetries", "2"), ("retrySchedule", "exponential"),
            ("retryPeriodSeconds", "9"), ("messagesPerSecond", "12.5"), ("allSeeds", "true"),
        ] { #expect(made["settings.\(name)"] == value, "\(name)") }
        let read = try await site.call("GET", "/templates/sale", key: key)
        #expect(read.json == made.json)
        let copy = try await site.call(
            "POST",
            "/templates/sale/duplicate",
            key: key,
            #"{"name": "sale b", "applications": ["shop-ios", "shop-android"], "filter": "", "exclude": []}"#
        )
        #expect(copy.status == 201 && copy["label"] == "Sale" && copy["filter"] == "null", "\(copy.answer)")
        #expect(copy["exclude"] == "[]" && copy["applications"] == #"["shop-ios","shop-android"]"#)
        #expect(copy["settings"] == made["settings"] && copy["content"] == made["content"])
        let whole = try await site.call("POST", "/templates/sale/duplicate", key: key, #"{"name": "sale c"}"#)
        #expect(whole["filter"] == "locale = 'fr'" && whole["applications"] == #"["shop-android"]"#)
        // The template is replaced as a whole: omitted members are removed.
        let replaced = try await site.call("PUT", "/templates/sale", key: key, #"{"content": {"ios": {"title": "a"}}}"#)
        #expect(replaced.status == 200 && replaced["settings"] == "{}" && replaced["applications"] == "[]")
        #expect(replaced["content"] == #"{"ios":{"title":"a"}}"# && replaced["label"] == "")
        let page = try await site.call("GET", "/templates?after=sale&limit=2", key: key)
        #expect(page["templates.0.name"] == "sale b" && page["next"] == "sale c")
        #expect(page["templates.0.content"] == nil, "lists have no contents")
        #expect(try await site.call("DELETE", "/templates/sale%20b", key: key).status == 204)
        #expect(try await site.call("DELETE", "/templates/sale%20b", key: key).status == 404)
        let log = """
            SELECT string_agg(action || ' ' || subject, '; ' ORDER BY id) FROM pushmta_engine.audit_log
            WHERE action LIKE 'template.%' AND origin LIKE 'API key shop by %'
            """
        #expect(
            try await site.web.value(log)
                == "template.add sale; template.add sale b; template.add sale c; template.change sale; template.remove sale b"
        )
        try await site.finish()
    }

    @Test func aDeliveryIsMadeFromATemplate() async throws {
        let site = try await APISite.start()
        let key = try await site.key(name: "shop")
        _ = try await site.call(
            "POST",
            "/templates",
            key: key,
            #"{"name": "sale", "applications": ["shop-android"], \#(Self.sale)}"#
        )
        let made = try await site.call(
            "POST",
            "/templates/sale/deliveries",
            key: key,
            #"{"label": "May", "content": {"android": {"body": null}}, "priority": 1}"#
        )
        #expect(made.status == 201 && made.headers["location"] == "/api/v1/deliveries/\(made["id"] ?? "")")
        #expect(made["state"] == "editing" && made["priority"] == "1", "\(made.answer)")
        #expect(made["applications"] == #"["shop-android"]"#)
        #expect(
            try await site.web.value(
                "SELECT content::text || ' ' || weight || ' ' || validity || ' ' || target_filter || ' ' || ambiguity_policy FROM pushmta_engine.delivery"
            ) == #"{"android": {"title": "Sale"}} 3 01:00:00 locale = 'fr' report"#
        )
        let seeds = "SELECT coalesce(seed_names::text, 'all') FROM pushmta_engine.delivery"
        #expect(try await site.web.value(seeds) == "all")
        let path = "/deliveries/\(made["id"] ?? "")/seeds"
        for (body, status, names) in [
            (#"{"seeds": []}"#, 200, "{}"), (#"{"seeds": ["nobody"]}"#, 404, "{}"), (#"{"seeds": "all"}"#, 400, "{}"),
            ("{}", 200, "all"),
        ] {
            #expect(try await site.call("POST", path, key: key, body).status == status, "\(body)")
            #expect(try await site.web.value(seeds) == names, "\(body)")
        }
        let codes = try await site.call(
            "POST",
            "/templates/sale/deliveries",
            key: key,
            #"{"label": "Codes", "kind": "continuous", "oneTimeCode": true}"#
        )
        #expect(codes.status == 201 && codes["kind"] == "continuous" && codes["oneTimeCode"] == "true")
        let log =
            "SELECT count(*) FROM pushmta_engine.audit_log WHERE action = 'delivery.add' AND origin LIKE 'API key shop by %'"
        #expect(try await site.web.value(log) == "2")
        for (template, body, status, path) in [
            ("sale", "{}", 400, "/label"), ("sale", #"{"label": "x", "priority": 101}"#, 400, "/priority"),
            ("sale", #"{"label": "x", "content": {"android": {"titel": "a"}}}"#, 400, "/content/android/titel"),
            ("sale", #"{"label": "x", "filter": "locale ="}"#, 400, "/filter"),
            ("sale", #"{"label": "x", "filter": "locale = 'fr'", "kind": "continuous"}"#, 400, "/kind"),
            ("sale", #"{"label": "x", "filter": "locale = 'fr'", "explicitTargets": true}"#, 400, "/filter"),
            ("sale", #"{"label": "x", "weight": 3}"#, 400, "/weight"),
            ("sale", #"{"label": "x", "applications": []}"#, 400, "/applications"),
            (
                "Deliver%20on%20Android", #"{"label": "x", "content": {"android": {"title": "a"}}}"#, 400,
                "/applications"
            ),
        ] {
            let answer = try await site.call("POST", "/templates/\(template)/deliveries", key: key, body)
            #expect(answer.status == status && answer["errors.0.path"] == path, "\(body): \(answer.answer)")
        }
        #expect(
            try await site.call("POST", "/templates/none/deliveries", key: key, #"{"label": "x"}"#).status == 404
        )
        #expect(try await site.web.value("SELECT count(*) FROM pushmta_engine.delivery") == "2")
        try await site.finish()
    }

    @Test func whatCannotBeATemplateIsRefused() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let content = #""content": {"ios": {"title": "a"}}"#
        for (body, path) in [
            (#"{\#(content)}"#, "/name"), (#"{"name": " ", \#(content)}"#, "/name"),
            (#"{"name": "a"}"#, "/content"), (#"{"name": "a", "content": 7}"#, "/content"),
            (#"{"name": "a", \#(content), "settings": {"priority": 101}}"#, "/settings/priority"),
            (#"{"name": "a", \#(content), "settings": {"validity": 1}}"#, "/settings/validity"),
            (#"{"name": "a", \#(content), "settings": []}"#, "/settings"),
            (#"{"name": "a", \#(content), "filter": "locale ="}"#, "/filter"),
            (#"{"name": "a", \#(content), "applications": [7]}"#, "/applications/0"),
            (#"{"name": "a", \#(content), "more": 1}"#, "/more"),
        ] {
            let answer = try await site.call("POST", "/templates", key: key, body)
            #expect(answer.status == 400 && answer["errors.0.path"] == path, "\(body): \(answer.answer)")
        }
        for (body, status) in [
            (#"{"name": "a", "content": {"ios": {"titel": "a"}}}"#, 400),
            (#"{"name": "a", \#(content), "applications": ["none"]}"#, 404),
            (#"{"name": "a", \#(content), "exclude": ["none"]}"#, 404),
            (#"{"name": "Deliver on iOS", \#(content)}"#, 409),
        ] { #expect(try await site.call("POST", "/templates", key: key, body).status == status, "\(body)") }
        // The product's own templates cannot be changed.
        let readyMade = "/templates/Deliver%20on%20iOS"
        #expect(try await site.call("PUT", readyMade, key: key, "{\(content)}").status == 409)
        #expect(try await site.call("DELETE", readyMade, key: key).status == 409)
        #expect(try await site.call("PUT", "/templates/none", key: key, "{\(content)}").status == 404)
        #expect(try await site.call("POST", "/templates/none/duplicate", key: key, #"{"name": "b"}"#).status == 404)
        #expect(try await site.call("GET", "/templates", key: key).count("templates") == 2)
        try await site.finish()
    }

    @Test func aLimitedKeyReachesTheTemplatesOfItsApplications() async throws {
        let site = try await APISite.start()
        let all = try await site.key()
        let one = try await site.key(applications: ["shop-ios"])
        func body(_ name: String, _ applications: String) -> String {
            #"{"name": "\#(name)", "content": {"ios": {"title": "a"}}, "applications": [\#(applications)]}"#
        }
        #expect(
            try await site.call("POST", "/templates", key: all, body("both", #""shop-ios", "shop-android""#)).status
                == 201
        )
        #expect(try await site.call("POST", "/templates", key: all, body("open", "")).status == 201)
        #expect(try await site.call("POST", "/templates", key: one, body("own", #""shop-ios""#)).status == 201)
        #expect(try await site.call("POST", "/templates", key: one, body("x", #""shop-android""#)).status == 404)
        #expect(try await site.call("POST", "/templates", key: one, body("x", "")).status == 403)
        // Templates without applications can be read and used by everyone.
        let names = try await site.call("GET", "/templates", key: one)
        #expect(
            names.count("templates") == 4 && names["templates.2.name"] == "open" && names["templates.3.name"] == "own"
        )
        for (method, tail, sent) in [
            ("GET", "", nil), ("DELETE", "", nil), ("PUT", "", #"{"content": {}, "applications": ["shop-ios"]}"#),
            ("POST", "/duplicate", #"{"name": "y", "applications": ["shop-ios"]}"#),
            ("POST", "/deliveries", #"{"label": "y", "applications": ["shop-ios"]}"#),
        ] as [(String, String, String?)] {
            #expect(
                try await site.call(method, "/templates/both\(tail)", key: one, sent).status == 404,
                "\(method) \(tail)"
            )
        }
        let wider = #"{"content": {}, "applications": ["shop-android"]}"#
        #expect(try await site.call("PUT", "/templates/own", key: one, wider).status == 404)
        #expect(
            try await site.call("PUT", "/templates/open", key: one, #"{"content": {}, "applications": ["shop-ios"]}"#)
                .status == 403
        )
        #expect(try await site.call("DELETE", "/templates/open", key: one).status == 403)
        #expect(try await site.call("POST", "/templates/open/duplicate", key: one, #"{"name": "y"}"#).status == 403)
        let delivery = #"{"label": "y", "applications": ["shop-ios"]}"#
        #expect(try await site.call("POST", "/templates/open/deliveries", key: one, delivery).status == 201)
        let other = #"{"label": "y", "applications": ["shop-android"], "content": {"android": {"title": "a"}}}"#
        #expect(try await site.call("POST", "/templates/open/deliveries", key: one, other).status == 404)
        #expect(try await site.call("DELETE", "/templates/own", key: one).status == 204)
        let reader = try await site.key(.readDeliveries)
        #expect(try await site.call("DELETE", "/templates/open", key: reader)["code"] == "missing_scope")
        try await site.finish()
    }
}
