import Testing

@testable import Content
@testable import PushCore

@Suite struct IOSPayloadTests {
    @Test func everyKeyHasItsPlace() throws {
        let content = """
            {"ios": {"title": "T", "subtitle": "S", "body": "B", "launch_image": "L", "badge": 3, "sound": "default",
            "category": "C", "thread_id": "TH", "target_content_id": "TC", "mutable_content": true,
            "content_available": true, "interruption_level": "time-sensitive", "relevance_score": 0.50,
            "variables": {"url": "app://x", "n": 1.0, "flag": true, "list": [{"a": null}]},
            "priority": 5, "expiration_seconds": 3600, "collapse_id": "news", "push_type": "alert"}}
            """
        let rendering = try Rendering(content, .apns)
        #expect(
            rendering.text == """
                {"aps":{"alert":{"title":"T","subtitle":"S","body":"B","launch-image":"L"},"badge":3,"sound":"default",\
                "category":"C","thread-id":"TH","target-content-id":"TC","mutable-content":1,"content-available":1,\
                "interruption-level":"time-sensitive","relevance-score":0.50},"url":"app://x","n":1.0,"flag":true,\
                "list":[{"a":null}],"_mId":"\(Rendering.uuidText)","_dId":"123"}
                """
        )
        #expect(rendering.size == rendering.body.count)
        #expect(
            rendering.template.attributes
                == MessageAttributes(pushType: .alert, priority: 5, expirationSeconds: 3600, collapseID: "news")
        )
    }

    /// In JSON Schema 5.0 is an integer; the gateways get 5.
    @Test func wholeNumbersAreWrittenInDigits() throws {
        let content = """
            {"tracking": false, "ios": {"badge": 5.0, "priority": 1e1, "expiration_seconds": 60.0,
            "sound": {"name": "n", "critical": true, "volume": 50.0}, "variables": {"n": 5.0}},
            "locales": {"fr": {"ios": {"badge": 6.0}}}}
            """
        let rendering = try Rendering(content, .apns)
        #expect(
            rendering.text
                == #"{"aps":{"badge":5,"sound":{"critical":1,"name":"n","volume":0.5}},"n":5.0}"#
        )
        #expect(
            rendering.template.attributes
                == MessageAttributes(pushType: .alert, priority: 10, expirationSeconds: 60)
        )
        #expect(PushContent.validate(json: #"{"ios": {"badge": 5.5}}"#).map(\.key) == ["ios.badge"])
        let timer =
            #"{"ios": {"title": "T", "body": "B", "template": {"type": "timer", "timer_seconds": 90.0}}}"#
        #expect(try Rendering(timer, .apns).text.contains(#""adb_tmr_dur":"90""#))
    }

    @Test func fieldsAreFilledIn() throws {
        let content =
            #"{"ios": {"title": "Hi {{ name | there }}!", "body": "{{name}}{{city|\"?\"}}", "variables": {"p": ["{{city}}"]}}}"#
        let filled = try Rendering(content, .apns, values: ["name": "A\"b\\\n", "city": "é😀"])
        #expect(
            filled.text == """
                {"aps":{"alert":{"title":"Hi A\\"b\\\\\\n!","body":"A\\"b\\\\\\né😀"}},"p":["é😀"],\
                "_mId":"\(Rendering.uuidText)","_dId":"123"}
                """
        )
        #expect(
            filled.template.fields == [
                PersonalisationField(name: "name", defaultValue: "there"),
                PersonalisationField(name: "city", defaultValue: "\"?\""),
            ]
        )
        let empty = try Rendering(content, .apns, values: ["name": ""])
        #expect(empty.text.contains(#""title":"Hi there!","body":"\"?\""}},"p":[""]"#))
    }

    @Test func silentPushIsABackgroundPush() throws {
        let rendering = try Rendering(#"{"ios": {"content_available": true, "variables": {"k": "v"}}}"#, .apns)
        #expect(rendering.template.attributes == MessageAttributes(pushType: .background, priority: 5))
        #expect(rendering.text.hasPrefix(#"{"aps":{"content-available":1},"k":"v""#))
    }

    @Test func topicFollowsPushType() throws {
        let rendering = try Rendering(#"{"ios": {"body": "x", "push_type": "voip", "expiration_seconds": 0}}"#, .apns)
        #expect(rendering.template.attributes.topicSuffix == ".voip")
        #expect(rendering.template.attributes.expirationSeconds == 0)
        #expect(rendering.template.payloadLimit == PayloadLimits.voip)
    }

    @Test func numericMessageID() throws {
        let numbers = try MessageNumbers(base: 1_000_000, key: [UInt8](repeating: 7, count: 16))
        let rendering = try Rendering(#"{"ios": {"body": "x"}}"#, .apns, format: .int32, numbers: numbers)
        #expect(rendering.text.contains(#""_mId":"\#(numbers.id(sequence: 5))""#))
        #expect(!rendering.text.contains("1000005"))
    }

    @Test func personalisedCollapseID() throws {
        let rendering = try Rendering(#"{"ios": {"body": "{{a}}", "collapse_id": "o-{{order|none}}"}}"#, .apns)
        #expect(rendering.template.attributes.collapseID == nil)
        #expect(rendering.template.hasPersonalisedCollapseID)
        #expect(rendering.template.fields.map(\.name) == ["a", "order"])
        #expect(!rendering.text.contains("o-"))
        let columns = [ByteColumn(["x", "x", "x"]), ByteColumn(["7\r\nx", nil, String(repeating: "9", count: 63)])]
        var ids: [String] = []
        var valid: [Bool] = []
        for row in 0..<3 {
            var id: [UInt8] = []
            valid.append(rendering.template.renderCollapseID(row: row, fields: columns, into: &id))
            ids.append(String(decoding: id, as: UTF8.self))
        }
        #expect(ids.prefix(2) == ["o-7  x", "o-none"])
        #expect(valid == [true, true, true])
    }

    /// Characters that HTTP/2 does not allow are removed, and an id that is too long for APNs is replaced by another
    /// unique one.
    @Test func collapseIDsAreOnesThatAHeaderCarries() throws {
        let template = try Rendering(#"{"ios": {"body": "x", "collapse_id": "{{id}}"}}"#, .apns).template
        func rendered(_ value: String?) -> String? {
            var id = Array("before ".utf8)
            let isThere = template.renderCollapseID(row: 0, fields: [ByteColumn([value])], into: &id)
            #expect(id.starts(with: "before ".utf8))
            return isThere ? String(decoding: id.dropFirst(7), as: UTF8.self) : nil
        }
        for (value, id) in [
            ("Paris ", "Paris"), (" Lyon", "Lyon"), ("\r\nNice\u{0}\u{7F}", "Nice"), ("a\tb", "a b"), ("é", "é"),
        ] {
            #expect(rendered(value) == id && HeaderText.isValue(id) && HeaderText.cleaned(value) == id)
        }
        for value in [nil, "", " ", "\n \t"] as [String?] { #expect(rendered(value) == nil) }
        let longest = String(repeating: "x", count: 64)
        #expect(rendered(longest) == longest)
        // sha256sum of 65 times x.
        #expect(rendered(longest + "x") == "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9")
        #expect(rendered(longest + "y") != rendered(longest + "x"))
    }

    @Test func bracesCanBeShown() throws {
        let rendering = try Rendering(#"{"ios": {"body": "\\{{a}} and {{b}}\u0301 } } {"}}"#, .apns, values: ["b": "B"])
        #expect(rendering.template.fields.map(\.name) == ["b"])
        #expect(rendering.text.contains("\"body\":\"{{a}} and B\u{301} } } {\""))
    }
}
