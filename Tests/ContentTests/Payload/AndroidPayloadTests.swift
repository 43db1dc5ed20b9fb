import Foundation
import Testing

@testable import Content
@testable import PushCore

@Suite struct AndroidPayloadTests {
    @Test func everyKeyHasItsPlace() throws {
        let content = """
            {"android": {"title": "T", "body": "B", "channel_id": "CH", "icon": "I", "sound": "S", "tag": "TG",
            "color": "#a0B1c2", "click_action": "CA", "image": "https://x/i",
            "variables": {"s": "x", "n": 1.50, "b": false, "o": {"k": ["v", 1]}},
            "ttl_seconds": 60, "priority": "high", "collapse_key": "CK"}}
            """
        let rendering = try Rendering(content, .fcmV1)
        #expect(
            rendering.text == """
                {"message":{"token":"token:1","data":{"_mId":"\(Rendering.uuidText)","_dId":"123","s":"x","n":"1.50",\
                "b":"false","o":"{\\"k\\":[\\"v\\",1]}"},"android":{"priority":"HIGH","ttl":"60s","collapse_key":"CK",\
                "notification":{"title":"T","body":"B","channel_id":"CH","icon":"I","sound":"S","tag":"TG",\
                "color":"#a0B1c2","click_action":"CA","image":"https://x/i"}}}}
                """
        )
    }

    @Test func dataMessageHasNoNotification() throws {
        let rendering = try Rendering(#"{"android": {"variables": {"k": "v"}}}"#, .fcmV1)
        #expect(
            rendering.text
                == #"{"message":{"token":"token:1","data":{"_mId":"\#(Rendering.uuidText)","_dId":"123","k":"v"}}}"#
        )
    }

    /// An unchanged app with Adobe's SDK reads `title`, `_msg` and `url` from the data.
    @Test func dataMessageHasItsTextsWhereAdobesAppsReadThem() throws {
        let content =
            #"{"android": {"kind": "data", "title": "T{{a}}", "body": "B\"", "click_action": "app://x", "variables": {"k": "v"}}}"#
        let rendering = try Rendering(content, .fcmV1, values: ["a": "1"])
        #expect(
            rendering.text == #"""
                {"message":{"token":"token:1","data":{"_mId":"\#(Rendering.uuidText)","_dId":"123","title":"T1",\#
                "_msg":"B\"","url":"app://x","k":"v"}}}
                """#
        )
        let legacy = try Rendering(content, .fcmLegacy, values: ["a": "1"])
        let body = try legacy.object()
        let data = try #require(body["data"] as? [String: String])
        #expect(data["title"] == "T1" && data["_msg"] == "B\"" && data["url"] == "app://x" && data["k"] == "v")
        #expect(body["notification"] == nil)
        let empty = try Rendering(#"{"android": {"kind": "data", "title": "", "body": "x"}}"#, .fcmV1)
        #expect(empty.text.contains(#""_dId":"123","_msg":"x"}"#))
    }

    /// A field inside a nested value is escaped for the inner JSON and for the string around it.
    @Test func nestedValuesAreJSONTexts() throws {
        let value = "a\"b\\c\n\u{1}é"
        let content = #"{"android": {"variables": {"o": {"k\"": "<{{f|d\"}}>", "t": true}}}}"#
        for (given, expected) in [(value, value), (nil, "d\"")] as [(String?, String)] {
            let rendering = try Rendering(content, .fcmV1, values: given.map { ["f": $0] } ?? [:])
            let message = try #require(rendering.object()["message"] as? [String: Any])
            let data = try #require(message["data"] as? [String: String])
            let text = try #require(data["o"])
            let inner = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(inner["k\""] as? String == "<\(expected)>")
            #expect(inner["t"] as? Bool == true)
            let names = data.keys.reduce(0) { $0 + $1.utf8.count }
            let values = data.values.reduce(0) { $0 + $1.utf8.count }
            // Only the inner escapes of a field's value are not counted.
            #expect(rendering.size <= names + values && rendering.size > names + values - 16)
        }
    }

    /// FCM counts names and values of data and notification, not the envelope.
    @Test func sizeIsThatOfNamesAndValues() throws {
        let content =
            #"{"android": {"title": "T{{a}}", "ttl_seconds": 5, "collapse_key": "{{a}}", "variables": {"k\n": "v{{a}}\n"}}}"#
        let rendering = try Rendering(content, .fcmV1, values: ["a": "\"é"])
        let data = ["_mId" + Rendering.uuidText, "_dId" + "123", "k\n" + "v\"é\n"]
        let notification = ["title" + "T\"é"]
        #expect(rendering.size == (data + notification).reduce(0) { $0 + $1.utf8.count })
    }

    /// A raw notification counts like one from the other keys.
    @Test func rawNotificationsCount() throws {
        let long = String(repeating: "x", count: 3_000)
        let content = #"""
            {"tracking": false, "android": {"priority": "high", "message": {"notification": {"title": "\#(long)", "body": "{{a}}"},
             "android": {"notification": {"tag": "\#(long)"}, "fcm_options": {"analytics_label": "l"}}}}}
            """#
        let rendered = try LocalisedTemplate.compile(
            content: PushContent(
                json: #"{"android": {"message": {"notification": {"title": "t{{a}}"}}}, "tracking": false}"#
            ),
            format: .fcmV1,
            deliveryID: 1,
            messageIDFormat: .uuid
        )
        #expect(rendered.templates[0].minimumPayloadSize == "title".utf8.count + 1)
        let error = #expect(throws: ContentError.self) { try Rendering(content, .fcmV1) }
        #expect(error?.problems.first?.cause.contains("at least \(6_000 + "titlebodytag".utf8.count) bytes") == true)
    }

    /// FCM refuses a message with a malformed color, time or label, but accepts it without them.
    @Test func valuesOfAnotherFormAreLeftOut() throws {
        let content = """
            {"tracking": false, "android": {"body": "b", "color": "{{c}}", "event_time": "{{t}}",
            "analytics_label": "{{#l}}l-{{l}}{{/l}}", "ttl_seconds": "{{d}}"}}
            """
        let right = ["c": "#a0B1c2", "t": "2030-01-31T12:00:00Z", "l": "sale", "d": "60"]
        let rendering = try Rendering(content, .fcmV1, values: right)
        #expect(
            rendering.text == #"""
                {"message":{"token":"token:1","android":{"notification":{"body":"b","color":"#a0B1c2",\#
                "event_time":"2030-01-31T12:00:00Z"},"fcm_options":{"analytics_label":"l-sale"},"ttl":"60s"}}}
                """#
        )
        #expect(rendering.size == "bodybcolor#a0B1c2event_time2030-01-31T12:00:00Z".utf8.count)
        let wrong = ["c": "red", "t": "tomorrow", "l": "has space !", "d": "1 2 3"]
        #expect(
            try Rendering(content, .fcmV1, values: wrong).text
                == #"{"message":{"token":"token:1","android":{"notification":{"body":"b"},"fcm_options":{}}}}"#
        )
        #expect(
            try Rendering(content, .fcmV1).text
                == #"{"message":{"token":"token:1","android":{"notification":{"body":"b"},"fcm_options":{}}}}"#
        )
    }

    @Test func tokenCannotBreakOut() throws {
        let rendering = try Rendering(#"{"android": {"kind": "data"}}"#, .fcmV1, token: "a\",\"topic\":\"x")
        let message = try #require(rendering.object()["message"] as? [String: Any])
        #expect(message["token"] as? String == "a\",\"topic\":\"x")
        #expect(message.count == 2)
    }
}
