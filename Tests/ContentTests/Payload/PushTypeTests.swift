import Testing

@testable import Content
@testable import PushCore

@Suite struct PushTypeTests {
    @Test(
        arguments: [
            (#""body": "x""#, PushType.alert, nil, nil),
            (#""silent": true"#, .background, 5, nil),
            (#""content_available": true"#, .background, 5, nil),
            (#""content_available": true, "badge": "{{n}}""#, .alert, nil, nil),
            (#""push_type": "pushtotalk""#, .pushtotalk, 10, 0),
            (#""push_type": "voip", "priority": 10"#, .voip, 10, nil),
            (#""push_type": "location""#, .location, nil, nil),
            (#""aps": {"event": "end", "timestamp": 1}, "priority": 5"#, .liveactivity, 5, nil),
            (#""aps": {"content-changed": true}"#, .widgets, nil, nil),
            (#""aps": {"content-changed": true}, "push_type": "controls""#, .controls, nil, nil),
        ] as [(String, PushType, Int?, Int32?)]
    )
    func headers(section: String, type: PushType, priority: Int?, expiration: Int32?) throws {
        let attributes = try Rendering(#"{"ios": {\#(section)}}"#, .apns).template.attributes
        #expect(attributes == MessageAttributes(pushType: type, priority: priority, expirationSeconds: expiration))
    }

    @Test func liveActivityPayload() throws {
        let content = #"""
            {"ios": {"title": "T", "aps": {"event": "start", "timestamp": "{{now}}", "dismissal-date": "{{never}}",
             "content-state": {"score": "{{score}}", "n": 1}, "attributes-type": "Game", "attributes": {}}},
             "tracking": false}
            """#
        let problems = PushContent.validate(json: content)
        #expect(problems.isEmpty, "\(problems)")
        let rendering = try Rendering(content, .apns, values: ["now": "1700000000", "score": "3:2", "never": "soon"])
        #expect(
            rendering.text == #"""
                {"aps":{"alert":{"title":"T"},"event":"start","content-state":{"score":"3:2","n":1},"attributes-type":"Game",\#
                "attributes":{},"timestamp":1700000000}}
                """#
        )
    }

    @Test(
        arguments: [
            ("5", "5"), (" 5 ", "5"), ("5.0", "5"), ("0", "0"), ("007", "7"), ("", nil), ("x", nil), ("-1", nil),
            ("2147483648", nil),
            ("5.5", nil), ("1e2", nil), ("nan", nil), ("1 2", nil), ("0x10", nil), ("+5", nil),
            ("5.00", "5"), ("5.", nil), (".0", nil), ("-", nil), ("1.0.0", nil), ("\t12\n", "12"),
            ("9".padding(200), nil),
        ] as [(String, String?)]
    )
    func personalisedBadge(value: String, digits: String?) throws {
        let rendering = try Rendering(#"{"tracking": false, "ios": {"badge": "{{n}}"}}"#, .apns, values: ["n": value])
        #expect(rendering.text == (digits.map { #"{"aps":{"badge":\#($0)}}"# } ?? #"{"aps":{}}"#))
        let beside = try Rendering(
            #"{"tracking": false, "ios": {"sound": "s", "badge": "{{n}}"}}"#,
            .apns,
            values: ["n": value]
        )
        #expect(beside.text == (digits.map { #"{"aps":{"sound":"s","badge":\#($0)}}"# } ?? #"{"aps":{"sound":"s"}}"#))
    }

    @Test(arguments: [(0, "0"), (5, "0.05"), (10, "0.1"), (35, "0.35"), (50, "0.5"), (99, "0.99"), (100, "1")])
    func volume(percent: Int, fraction: String) throws {
        let content = #"{"ios": {"sound": {"name": "n", "critical": true, "volume": \#(percent)}}}"#
        #expect(
            try Rendering(content, .apns).text.contains(#""sound":{"critical":1,"name":"n","volume":\#(fraction)}"#)
        )
        #expect(try Rendering(#"{"ios": {"sound": {"name": "n"}}}"#, .apns).text.contains(#""sound":"n""#))
    }

    /// Adobe's 0 to 100 is sent as Apple's 0 to 1.
    @Test(arguments: [(0, "0"), (7, "0.07"), (50, "0.5"), (100, "1")])
    func relevance(percent: Int, fraction: String) throws {
        let content = #"{"tracking": false, "ios": {"body": "B", "relevance_percent": \#(percent)}}"#
        #expect(
            try Rendering(content, .apns).text == #"{"aps":{"alert":{"body":"B"},"relevance-score":\#(fraction)}}"#
        )
    }

    @Test func rawValuesGoOverTheOthers() throws {
        let content = #"""
            {"tracking": false, "ios": {"title": "T", "body": "B", "sound": "s", "category": "C",
             "aps": {"alert": {"body": null, "x": "{{v}}"}, "sound": {"a": 1}, "category": null, "none": null, "new": {"y": null, "z": [null]}}}}
            """#
        #expect(
            try Rendering(content, .apns, values: ["v": "V"]).text
                == #"{"aps":{"alert":{"title":"T","x":"V"},"sound":{"a":1},"new":{"z":[null]}}}"#
        )
    }
}

extension String {
    /// The text, repeated up to this many characters.
    fileprivate func padding(_ count: Int) -> String { String(repeating: self, count: count) }
}
