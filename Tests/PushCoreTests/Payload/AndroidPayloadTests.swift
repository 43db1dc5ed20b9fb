import Foundation
import Testing

@testable import PushCore

@Suite struct AndroidPayloadTests {
    @Test func everyKeyHasItsPlace() throws {
        let content = """
            {"android": {"title": "T", "body": "B", "channel_id": "CH", "icon": "I", "sound": "S", "tag": "TG",
            "color": "#a0B1c2", "click_action": "CA", "image": "IM",
            "variables": {"s": "x", "n": 1.50, "b": false, "o": {"k": ["v", 1]}},
            "ttl_seconds": 60, "priority": "high", "collapse_key": "CK"}}
            """
        let rendering = try Rendering(content, .fcmV1)
        #expect(
            rendering.text == """
                {"message":{"token":"token:1","data":{"_mId":"\(Rendering.uuidText)","_dId":"123","s":"x","n":"1.50",\
                "b":"false","o":"{\\"k\\":[\\"v\\",1]}"},"android":{"priority":"HIGH","ttl":"60s","collapse_key":"CK",\
                "notification":{"title":"T","body":"B","channel_id":"CH","icon":"I","sound":"S","tag":"TG",\
                "color":"#a0B1c2","click_action":"CA","image":"IM"}}}}
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

    /// A field inside of a nested value is escaped for the inner JSON and for the string around it.
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
            // The inner escapes of a field's value are the one thing that is not counted.
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

    @Test func tokenCannotBreakOut() throws {
        let rendering = try Rendering(#"{"android": {}}"#, .fcmV1, token: "a\",\"topic\":\"x")
        let message = try #require(rendering.object()["message"] as? [String: Any])
        #expect(message["token"] as? String == "a\",\"topic\":\"x")
        #expect(message.count == 2)
    }
}
