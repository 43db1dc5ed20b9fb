import Foundation
import PushCore
import Testing

@testable import Content

@Suite("Declarations of applications")
struct DeclarationTests {
    private func declared(_ platform: Platform = .ios) throws -> ApplicationDeclarations {
        var declared = ApplicationDeclarations()
        declared.declare(
            try ApplicationVariable(name: "screen", type: .text, defaultValue: "home \"1\"", platform: platform)
        )
        declared.declare(try ApplicationVariable(name: "count", type: .integer, defaultValue: "3", platform: platform))
        declared.declare(try ApplicationVariable(name: "link", type: .url, platform: platform))
        declared.declare(
            try ApplicationVariable(name: "loud", type: .boolean, defaultValue: "false", platform: platform)
        )
        declared.declare(try ApplicationSound(name: "chime.caf", label: "Chime"))
        return declared
    }

    @Test(
        "Names and defaults are checked by platform and type",
        arguments: [
            ("", ApplicationVariable.Kind.text, nil, Platform.ios), ("a b", .text, nil, .ios),
            ("aps", .text, nil, .ios),
            ("_mId", .text, nil, .ios), ("_dId", .text, nil, .android), ("_recall", .text, nil, .ios),
            ("from", .text, nil, .android),
            ("google.x", .text, nil, .android), ("gcm.n", .text, nil, .android), ("message_type", .text, nil, .android),
            ("n", .integer, "1.5", .ios), ("n", .integer, "07", .ios), ("n", .integer, "", .ios),
            ("n", .integer, " 7", .ios),
            ("n", .number, "1,5", .ios), ("n", .number, "NaN", .ios), ("n", .boolean, "yes", .ios),
            ("n", .url, "example.com", .ios), ("n", .url, "1x:y", .ios), ("n", .url, "https://a b", .ios),
            ("n", .url, "x:", .ios), ("n", .url, "JavaScript:alert(1)", .ios),
            ("q", .text, "say {{firstName", .ios), ("q", .text, "{{/x}}", .android), ("n2", .number, "1e400", .ios),
            ("u", .url, "https://example.com/{{", .ios), (String(repeating: "n", count: 65), .text, nil, .ios),
            ("a\u{7}b", .text, nil, .ios),
        ]
    )
    func refused(_ name: String, _ type: ApplicationVariable.Kind, _ value: String?, _ platform: Platform) {
        #expect(throws: DeclarationError.self) {
            try ApplicationVariable(name: name, type: type, defaultValue: value, platform: platform)
        }
    }

    @Test(
        "The values that each type accepts",
        arguments: [
            (ApplicationVariable.Kind.text, ""), (.integer, "-12"), (.integer, "0"), (.number, "1.50"),
            (.number, "1e3"),
            (.boolean, "true"), (.url, "https://example.com/?a=b"), (.url, "shop://cart/1"), (.url, "tel:+33"),
        ]
    )
    func accepted(_ type: ApplicationVariable.Kind, _ value: String) throws {
        _ = try ApplicationVariable(name: "n", type: type, defaultValue: value, platform: .ios)
    }

    @Test("Declarations survive a round trip through the database")
    func stored() throws {
        var declared = try declared()
        try declared.declare(try SubscriptionParameter(name: "customer", column: "recipient.customer_no"))
        try declared.declare(try SubscriptionParameter(name: "tier"))
        declared.declare(try ApplicationSound(name: "x/y".replacing("/", with: "-"), isSystem: true))
        let read = try ApplicationDeclarations(
            variables: declared.variablesJSON,
            sounds: declared.soundsJSON,
            parameters: declared.parametersJSON
        )
        #expect(read == declared)
        #expect(throws: DeclarationError.self) {
            try ApplicationDeclarations(variables: #"[{"type": "text"}]"#, sounds: "[]", parameters: "[]")
        }
        #expect(throws: DeclarationError.self) {
            try ApplicationDeclarations(variables: "[]", sounds: "[]", parameters: #"[{"name": "a", "column": "id"}]"#)
        }
    }

    @Test(
        "An undeclared name or a value of another type is refused, with the nearest name",
        arguments: [
            (#"{"ios": {"variables": {"scren": "x"}}}"#, "ios.variables.scren", "did you mean screen"),
            (#"{"ios": {"variables": {"count": "many"}}}"#, "ios.variables.count", "whole number"),
            (#"{"ios": {"variables": {"count": 1.5}}}"#, "ios.variables.count", "whole number"),
            (#"{"ios": {"variables": {"link": "example.com"}}}"#, "ios.variables.link", "URL"),
            (#"{"ios": {"variables": {"loud": [true]}}}"#, "ios.variables.loud", "true or false"),
            (#"{"ios": {"sound": "chim.caf"}}"#, "ios.sound", "did you mean chime.caf"),
            (#"{"ios": {"sound": {"name": "x.caf", "volume": 1}}}"#, "ios.sound", "does not declare this sound"),
            (#"{"ios": {"aps": {"sound": "undeclared.caf"}}}"#, "ios.aps.sound", "does not declare this sound"),
            (#"{"ios": {"aps": {"sound": {"name": "chim.caf"}}}}"#, "ios.aps.sound", "did you mean chime.caf"),
            (
                #"{"ios": {}, "locales": {"fr": {"ios": {"variables": {"x": 1}}}}}"#, "locales.fr.ios.variables.x",
                "does not declare this variable"
            ),
        ]
    )
    func problems(_ content: String, _ key: String, _ words: String) throws {
        let problems = try declared().problems(content: content, platform: .ios)
        #expect(problems.map(\.key) == [key] && problems[0].description.contains(words), "\(problems)")
        #expect(try declared().problems(content: content, platform: .android).isEmpty)
        #expect(ApplicationDeclarations().problems(content: content, platform: .ios).isEmpty)
    }

    @Test("The sound of a raw message must be declared")
    func rawAndroidSound() throws {
        let content = #"{"android": {"message": {"android": {"notification": {"sound": "NAME"}}}}}"#
        let declared = try declared(.android)
        let problems = declared.problems(content: content, platform: .android)
        #expect(problems.map(\.key) == ["android.message.android.notification.sound"])
        let right = content.replacing("NAME", with: "chime.caf")
        #expect(declared.problems(content: right, platform: .android).isEmpty)
    }

    @Test(
        "Contents that match the declarations pass",
        arguments: [
            #"{"ios": {"variables": {"screen": 5, "count": "7", "link": "shop://x", "loud": "true"}, "sound": "default"}}"#,
            #"{"ios": {"variables": {"count": "{{points}}", "link": null, "loud": false}, "sound": "chime.caf"}}"#,
            #"{"ios": {"silent": true, "variables": {"_recall": "1f"}}}"#,
            #"{"android": {"variables": {"other": 1}, "sound": "x"}}"#, "{}", "[]", "no JSON",
        ]
    )
    func fits(_ content: String) throws {
        #expect(try declared().problems(content: content, platform: .ios).isEmpty)
    }

    @Test("Defaults are added only to the platform's section")
    func defaults() throws {
        let declared = try declared()
        func completed(_ content: String) -> String { declared.completed(content: content, platform: .ios) }
        #expect(
            completed(#"{"ios": {"title": "a"}}"#)
                == #"{"ios":{"title":"a","variables":{"screen":"home \"1\"","count":3,"loud":false}}}"#
        )
        #expect(
            completed(#"{"ios":{"variables":{"loud":true,"count":null}},"android":{},"locales":{"fr":{"ios":{}}}}"#)
                == #"{"ios":{"variables":{"loud":true,"count":null,"screen":"home \"1\""}},"android":{},"#
                + #""locales":{"fr":{"ios":{}}}}"#,
            "a variant takes them from there"
        )
        let alone = completed(#"{"ios":{"body":"x"},"locales":{"fr":{"ios":{"silent":true}}}}"#)
        #expect(alone.split(separator: "screen").count == 3, "one of another kind has its own")
        #expect(completed(#"{"ios": {"variables": null}}"#).contains("screen"))
        for content in ["[1]", "no JSON", #"{"android":{"ios":{}}}"#] { #expect(completed(content) == content) }
        #expect(ApplicationDeclarations().completed(content: " {}", platform: .ios) == " {}")
    }

    @Test("Parameters go to their declared columns")
    func placing() throws {
        var declared = ApplicationDeclarations()
        for (name, column) in [
            ("id", "user_key"), ("lang", "locale"), ("name", "recipient.firstName"), ("t", "parameters.tier"),
        ] {
            try declared.declare(try SubscriptionParameter(name: name, column: column))
        }
        #expect(throws: DeclarationError.self) {
            try declared.declare(try SubscriptionParameter(name: "other", column: "locale"))
        }
        let placed = declared.place(["id": "7", "lang": "fr", "name": "Ann", "t": "gold", "tier": "lost", "free": "x"])
        #expect(
            placed == [
                .userKey: "7", .locale: "fr", .recipient("firstName"): "Ann", .parameter("tier"): "gold",
                .parameter("free"): "x",
            ]
        )
        for column in ["id", "recipient.", "recipient", "push_token", "enabled"] {
            #expect(throws: DeclarationError.self) { try SubscriptionParameter(name: "x", column: column) }
        }
    }

    @Test("One parameter may be the time zone, in a column that holds any text")
    func timeZone() throws {
        var declared = ApplicationDeclarations()
        try declared.declare(try SubscriptionParameter(name: "tz", column: "recipient.zone", isTimeZone: true))
        #expect(declared.parametersJSON == #"[{"column":"recipient.zone","name":"tz","time_zone":true}]"#)
        let read = try ApplicationDeclarations(variables: "[]", sounds: "[]", parameters: declared.parametersJSON)
        #expect(read == declared)
        #expect(throws: DeclarationError.self) {
            try declared.declare(try SubscriptionParameter(name: "other", isTimeZone: true))
        }
        for column in ["time_zone", "locale", "user_key"] {
            #expect(throws: DeclarationError.self) {
                try SubscriptionParameter(name: "x", column: column, isTimeZone: true)
            }
        }
        // Without the mark, what is stored is as before.
        try declared.declare(try SubscriptionParameter(name: "tz", column: "recipient.zone"))
        #expect(declared.parametersJSON == #"[{"column":"recipient.zone","name":"tz"}]"#)
    }
}
