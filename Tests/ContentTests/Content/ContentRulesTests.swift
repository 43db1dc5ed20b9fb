import Testing

@testable import Content
@testable import PushCore

/// Rules for combinations of keys: each content breaks one rule, which is reported with its key.
@Suite struct ContentRulesTests {
    @Test(arguments: [
        (#""title": """#, ["ios"]),
        (#""title": "", "content_available": true"#, []),
        (#""push_type": "alert", "content_available": true"#, ["ios.push_type"]),
        (#""silent": true"#, []),
        (#""silent": true, "body": "x""#, ["ios.silent"]),
        (#""silent": true, "priority": 10"#, ["ios.priority"]),
        (#""push_type": "voip", "variables": {"call": "1"}"#, []),
        (#""push_type": "location""#, []),
        (#""body": "x", "click_action": "shop://cart/1""#, []),
        (#""push_type": "complication""#, []),
        (#""push_type": "fileprovider""#, []),
        (#""push_type": "pushtotalk""#, []),
        (
            #""push_type": "pushtotalk", "priority": 5, "expiration_seconds": 60"#,
            ["ios.priority", "ios.expiration_seconds"]
        ),
        (#""push_type": "widgets""#, ["ios.aps"]),
        (#""push_type": "controls", "aps": {"content-changed": true}"#, []),
        (#""aps": {"content-changed": true}"#, []),
        (#""title_loc_args": ["x"], "body": "x""#, ["ios.title_loc_args"]),
        (#""loc_args": ["x"], "body": "x""#, ["ios.loc_args"]),
        (#""loc_args": [], "body": "x""#, []),
        (#""loc_args": ["x", 1], "loc_key": "x""#, ["ios.loc_args"]),
        (#""clear_badge": true, "badge": 5"#, ["ios.clear_badge"]),
        (#""clear_badge": true, "badge": 0"#, []),
        (#""badge": """#, ["ios"]),
        (#""badge": "x""#, ["ios.badge"]),
        (#""badge": "12""#, []),
        (#""badge": "{{n""#, ["ios.badge"]),
        (#""sound": {"critical": true}"#, ["ios.sound.name"]),
        (#""sound": {"name": "x", "volume": 50}"#, ["ios.sound.volume"]),
        (#""sound": {"name": "x", "critical": true, "volume": 101}"#, ["ios.sound.volume"]),
        (#""sound": {"name": "x", "loud": true}"#, ["ios.sound.loud"]),
        (#""sound": 1"#, ["ios.sound"]),
        (#""body": "x", "relevance_percent": 100"#, []),
        (#""body": "x", "relevance_percent": 101"#, ["ios.relevance_percent"]),
        (#""body": "x", "relevance_percent": 0.5"#, ["ios.relevance_percent"]),
        (#""body": "x", "relevance_percent": 50, "relevance_score": 0.5"#, ["ios.relevance_percent"]),
        (#""body": "x", "media_url": "https://x", "mutable_content": false"#, ["ios.mutable_content"]),
        (#""body": "x", "variables": {"mediaUrl": "x"}"#, []),
        (#""body": "x", "media_url": "https://x", "variables": {"mediaUrl": "x"}"#, ["ios.variables.mediaUrl"]),
        (#""body": "x", "click_action": "a://b", "variables": {"adb_uri": "x"}"#, ["ios.variables.adb_uri"]),
        (#""body": "x", "variables": {"o": {"a": 1, "a": 2}}"#, ["ios.variables.o.a"]),
        (#""body": "x", "aps": {"x": "{{a"}"#, ["ios.aps"]),
        (#""aps": {"alert": "x"}"#, []),
        (#""body": "x", "aps": {"alert": null}"#, ["ios"]),
        (#""aps": 5"#, ["ios.aps"]),
        (#""body": "x", "variables": {"n": [1e308, -1e309]}"#, ["ios.variables.n"]),
        (#""badge": "+5""#, ["ios.badge"]),
        (#""body": "x", "collapse_id": "sale ""#, ["ios.collapse_id"]),
        (#""body": "x", "collapse_id": " sale""#, ["ios.collapse_id"]),
        (#""body": "x", "collapse_id": "a\nb""#, ["ios.collapse_id"]),
        (#""body": "x", "collapse_id": "a\u007fb""#, ["ios.collapse_id"]),
        (#""body": "x", "collapse_id": "a b é""#, []),
        (#""body": "x", "collapse_id": "{{city}} ""#, []),
        (#""aps": {"content-available": 0}"#, ["ios"]),
        (#""aps": {"content-available": "0"}"#, ["ios"]),
        (#""aps": {"content-available": true}"#, ["ios"]),
        (#""aps": {"content-available": 1}"#, []),
        (#""aps": {"content-available": "1"}"#, []),
        (#""aps": {"content-available": "{{wake}}"}"#, []),
        (
            #""body": "x", "aps": {"stale-date": "tomorrow", "badge": "1 2", "dismissal-date": ""}"#,
            ["ios.aps.stale-date", "ios.aps.badge", "ios.aps.dismissal-date"]
        ),
        (#""body": "x", "aps": {"badge": " 7 ", "stale-date": "{{when}}"}"#, []),
        (#""body": "a\u0000b""#, ["ios.body"]),
        (#""body": "a\ud800b""#, ["ios.body"]),
        (#""body": "a\udc00b""#, ["ios.body"]),
        (#""body": "a\ud83d\ude00b""#, []),
        (#""body": "x", "variables": {"o": {"k": ["\u0000"]}}"#, ["ios.variables.o.k"]),
        (#""body": "x", "variables": {"k\u0000": 1}"#, ["ios.variables.k"]),
    ])
    func iOS(section: String, keys: [String]) {
        #expect(PushContent.validate(json: #"{"ios": {\#(section)}}"#).map(\.key) == keys, "\(section)")
    }

    @Test(arguments: [
        (
            #""event": "start", "timestamp": 1, "content-state": {}, "attributes-type": "T", "attributes": {}, "alert": {"title": "x"}"#,
            []
        ),
        (#""event": "start", "timestamp": 1"#, ["attributes-type", "attributes", "alert", "content-state"]),
        (#""event": "update", "timestamp": 1"#, ["content-state"]),
        (#""event": "update", "content-state": {}"#, ["timestamp"]),
        (#""event": "end", "timestamp": "{{now}}""#, []),
        (
            #""event": "update", "timestamp": "abc", "content-state": {}, "stale-date": "tomorrow""#,
            ["timestamp", "stale-date"]
        ),
        (#""event": "stop", "timestamp": 1"#, ["event"]),
        (#""content-state": {}, "timestamp": 1"#, ["event"]),
    ])
    func liveActivity(aps: String, keys: [String]) {
        let problems = PushContent.validate(json: #"{"ios": {"aps": {\#(aps)}}}"#)
        #expect(problems.map(\.key) == keys.map { "ios.aps.\($0)" }, "\(aps)")
    }

    @Test func liveActivityPriority() {
        let content = #"{"ios": {"priority": 1, "aps": {"event": "end", "timestamp": 1}}}"#
        #expect(PushContent.validate(json: content).map(\.key) == ["ios.priority"])
    }

    @Test(arguments: [
        (#""kind": "notification""#, ["android.kind"]),
        (#""kind": "notification", "title_loc_key": "K""#, []),
        (#""kind": "data", "title": "x", "body": "x", "click_action": "x", "image": "https://y""#, ["android.image"]),
        (
            #""kind": "data", "title": "x", "body": "x", "variables": {"title": "x", "_msg": "x", "url": "x"}"#,
            ["android.variables.title", "android.variables._msg"]
        ),
        (
            #""kind": "data", "variables": {"title": "x", "sub": "x", "validity": "x", "imageURL": "x", "webpageURL": "x", "_msg": "x", "url": "x"}"#,
            []
        ),
        (#""title": "", "sound": "x""#, ["android.sound"]),
        (#""body": "x", "title_loc_args": ["x"]"#, ["android.title_loc_args"]),
        (##""body": "x", "color": "#12345""##, ["android.color"]),
        (##""body": "x", "light_settings": {"color": "#12345678", "on_seconds": 1, "off_seconds": 0.5}"##, []),
        (
            #""body": "x", "light_settings": {"color": "{{c}}"}"#,
            ["android.light_settings.color", "android.light_settings.on_seconds", "android.light_settings.off_seconds"]
        ),
        (
            #""body": "x", "vibrate_timings": [1, 1e3, "1", 0.1234567891]"#,
            ["android.vibrate_timings", "android.vibrate_timings", "android.vibrate_timings"]
        ),
        (#""body": "x", "event_time": "tomorrow""#, ["android.event_time"]),
        (#""body": "x", "event_time": "2030-01-31T12:00:00Z""#, []),
        (#""body": "x", "event_time": "2030-01-31T12:00:00.25-08:00""#, []),
        (#""body": "x", "event_time": "2030-01-31T12:00:00""#, ["android.event_time"]),
        (#""body": "x", "event_time": "{{when}}""#, []),
        (#""ttl_seconds": 2419201"#, ["android.ttl_seconds"]),
        (#""ttl_seconds": "2419201""#, ["android.ttl_seconds"]),
        (#""message": {"token": "x", "apns": {}}"#, ["android.message.token"]),
        (#""message": {"data": {"a": "b"}}"#, ["android.message.data"]),
        (#""visibility": "PUBLIC", "body": "x""#, ["android.visibility"]),
        (#""body": "x", "message": {"junk": 1}"#, ["android.message.junk"]),
        (#""body": "x", "message": {"validate_only": true}"#, ["android.message.validate_only"]),
        (
            #""body": "x", "message": {"android": {"junk": 1, "priorty": "HIGH"}}"#,
            ["android.message.android.junk", "android.message.android.priorty"]
        ),
        (#""body": "x", "message": {"android": {"priority": "urgent"}}"#, ["android.message.android.priority"]),
        (#""body": "x", "message": {"android": {"priority": ""}}"#, ["android.message.android.priority"]),
        (#""body": "x", "message": {"android": {"priority": "high", "ttl": "2419200s"}}"#, []),
        (#""body": "x", "message": {"android": {"priority": "{{p}}", "ttl": "{{t}}s"}}"#, []),
        (#""body": "x", "message": {"android": {"ttl": "2419200.5s"}}"#, ["android.message.android.ttl"]),
        (#""body": "x", "message": {"android": {"ttl": "99999999s"}}"#, ["android.message.android.ttl"]),
        (#""body": "x", "message": {"android": {"ttl": "60"}}"#, ["android.message.android.ttl"]),
        (#""body": "x", "message": {"android": {"ttl": 60}}"#, ["android.message.android.ttl"]),
        (#""body": "x", "message": {"android": {"ttl": null, "priority": null}}"#, []),
        (
            #""body": "x", "message": {"fcm_options": {"analytics_label": "has space"}}"#,
            ["android.message.fcm_options.analytics_label"]
        ),
        (
            #""body": "x", "message": {"android": {"fcm_options": {"analytics_lable": "x"}}}"#,
            ["android.message.android.fcm_options.analytics_lable"]
        ),
        (
            #""body": "x", "message": {"fcmOptions": {"analyticsLabel": "sale"}, "android": {"collapseKey": "c", "directBootOk": true}}"#,
            []
        ),
        (
            #""body": "x", "message": {"android": {"direct_boot_ok": "yes"}}"#,
            ["android.message.android.direct_boot_ok"]
        ),
        (
            #""body": "x", "message": {"android": {"restricted_package_name": "not a package!"}}"#,
            ["android.message.android.restricted_package_name"]
        ),
        (
            #""body": "x", "message": {"android": {"notification": {"titel": "x", "visibility": "PUBLIC", "notification_priority": "HIGH", "vibrate_timings": ["1s", "2"]}}}"#,
            [
                "android.message.android.notification.titel",
                "android.message.android.notification.notification_priority",
                "android.message.android.notification.vibrate_timings",
            ]
        ),
        (
            #""body": "x", "message": {"apns": {"headers": {"apns-priority": 5}}}"#,
            ["android.message.apns.headers.apns-priority"]
        ),
        (
            #""body": "x", "message": {"webpush": {"data": {"a": {"b": 1}}, "headers": {"TTL": "60"}}}"#,
            ["android.message.webpush.data.a"]
        ),
        (
            #""body": "x", "message": {"notification": {"title": "x", "image": "i.png", "icon": "x"}}"#,
            ["android.message.notification.icon", "android.message.notification.image"]
        ),
        (#""body": "x", "image": "not a url""#, ["android.image"]),
        (#""body": "x", "image": "javascript:1""#, ["android.image"]),
        (#""body": "x", "image": "/i.png""#, ["android.image"]),
        (#""body": "x", "image": "https:///i.png""#, ["android.image"]),
        (#""body": "x", "image": "HTTPS://example.com/ü.png?a=1""#, []),
        (#""body": "x", "image": "{{image}}""#, []),
        (#""body": "x", "click_action": "shop://cart""#, []),
        (#""body": "x", "restricted_package_name": "not a package!""#, ["android.restricted_package_name"]),
        (#""body": "x", "restricted_package_name": "example""#, ["android.restricted_package_name"]),
        (#""body": "x", "restricted_package_name": "com.1example""#, ["android.restricted_package_name"]),
        (#""body": "x", "restricted_package_name": "com.example.My_app2""#, []),
        (#""message": {"android": {"data": {"_mId": "x"}}}"#, ["android.message.android.data"]),
        (#""body": "x", "analytics_label": "has space !""#, ["android.analytics_label"]),
        (#""body": "x", "analytics_label": "sale-1_a.b~c%""#, []),
        (#""body": "x", "analytics_label": "{{label}}""#, []),
        (#""body": "x", "event_time": "2030-99-99T12:00:00Z""#, ["android.event_time"]),
        (#""body": "x", "event_time": "2030-02-29T12:00:00Z""#, ["android.event_time"]),
        (#""body": "x", "event_time": "2028-02-29T23:59:59.123456789+14:00""#, []),
        (#""body": "x", "event_time": "2028-02-29T24:00:00Z""#, ["android.event_time"]),
        (#""body": "x", "event_time": "2028-02-29T12:00:00.Z""#, ["android.event_time"]),
        (#""body": "x", "event_time": "2028-02-29T12:00:00.1234567890Z""#, ["android.event_time"]),
        ("", ["android"]),
        (#""validate_only": true"#, ["android"]),
        (#""variables": {}"#, ["android"]),
        (#""kind": "data""#, []),
        (#""variables": {"k": "v"}"#, []),
    ])
    func android(section: String, keys: [String]) {
        #expect(PushContent.validate(json: #"{"android": {\#(section)}}"#).map(\.key) == keys, "\(section)")
    }

    @Test(arguments: [
        (#""missing": "exclude", "tracking": false, "$schema": "x""#, []),
        (#""missing": "never""#, ["missing"]),
        (#""tracking": "no""#, ["tracking"]),
        (#""locales": 5"#, ["locales"]),
        (#""locales": {"fr": {"ios": {"body": "x"}}, "pt-BR": null}"#, []),
        (#""locales": {"fr": {"ios": {"titel": "x"}}}"#, ["locales.fr.ios.titel"]),
        (#""locales": {"fr": {"android": {"kind": "data"}}}"#, ["locales.fr.android"]),
        (#""locales": {"fr": {"web": {}}}"#, ["locales.fr.web"]),
        (#""locales": {"fr": 1}"#, ["locales.fr"]),
        (
            #""locales": {"": {}, "a": {}, "fr fr": {}, "fr-": {}, "toolonglanguage": {}}"#,
            ["locales.", "locales.a", "locales.fr fr", "locales.fr-", "locales.toolonglanguage"]
        ),
        (#""locales": {"fr-CA": {}, "fr_ca": {}}"#, ["locales.fr_ca"]),
    ])
    func wholeContent(entries: String, keys: [String]) {
        #expect(PushContent.validate(json: #"{"ios": {"body": "x"}, \#(entries)}"#).map(\.key) == keys, "\(entries)")
    }

    @Test(arguments: [
        (#""subtitle": "x""#, "subtitle"), (#""mutable_content": true"#, "mutable_content"),
        (#""media_url": "x""#, "media_url"), (#""template": {"type": "basic"}"#, "template"),
        (#""collapse_id": "x""#, "collapse_id"), (#""priority": 1"#, "priority"),
        (#""push_type": "voip""#, "push_type"),
        (#""aps": {"mutable-content": 1}"#, "mutable_content"),
    ])
    func binaryProtocol(entry: String, key: String) throws {
        let content = try PushContent(json: #"{"ios": {"title": "t", "body": "b", \#(entry)}}"#)
        let error = #expect(throws: ContentError.self) {
            try PayloadTemplate.compile(content: content, format: .apnsBinary, deliveryID: 1, messageIDFormat: .uuid)
        }
        #expect(error?.problems.map(\.key) == ["ios.\(key)"])
        #expect(error?.problems.first?.remedy.contains("ios-http2") == true)
        _ = try PayloadTemplate.compile(content: content, format: .apns, deliveryID: 1, messageIDFormat: .uuid)
    }

    @Test(arguments: [
        (#""image": "https://x""#, "image"), (#""ticker": "x""#, "ticker"), (#""sticky": false"#, "sticky"),
        (#""notification_count": 1"#, "notification_count"), (#""analytics_label": "x""#, "analytics_label"),
        (#""direct_boot_ok": true"#, "direct_boot_ok"), (#""message": {"apns": {}}"#, "message"),
        (#""variables": {"googleplex": "x"}"#, "variables.googleplex"),
        (#""variables": {"gcmx": "x"}"#, "variables.gcmx"),
    ])
    func legacyProtocol(entry: String, key: String) throws {
        let content = try PushContent(json: #"{"android": {"body": "b", \#(entry)}}"#)
        let error = #expect(throws: ContentError.self) {
            try LocalisedTemplate.compile(content: content, format: .fcmLegacy, deliveryID: 1, messageIDFormat: .uuid)
        }
        #expect(error?.problems.map(\.key) == ["android.\(key)"])
        _ = try PayloadTemplate.compile(content: content, format: .fcmV1, deliveryID: 1, messageIDFormat: .uuid)
    }

    /// Every problem names the place, the cause and the remedy.
    @Test func problemsAreComplete() {
        let contents = [
            "[", "[]", "{}", #"{"ios": {"sound": {}}}"#, #"{"ios": {"template": {}}}"#,
            #"{"android": {"template": {"type": "zoo"}}}"#,
            #"{"ios": {"body": "{{>x}}{{#a}}"}, "locales": {"x y": {}}}"#,
        ]
        for content in contents {
            let problems = PushContent.validate(json: content)
            #expect(!problems.isEmpty, "\(content)")
            #expect(problems.allSatisfy { !$0.cause.isEmpty && !$0.remedy.isEmpty }, "\(problems)")
        }
    }
}
