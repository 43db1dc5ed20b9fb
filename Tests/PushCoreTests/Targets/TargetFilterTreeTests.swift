import PushCore
import Testing

/// That the database writes trees so is seen where it reads filters.
@Suite("Filters as the database gives them")
struct TargetFilterTreeTests {
    @Test(
        arguments: [
            (
                #"{"all": [{"is_null": {"column": "locale"}}, {"not": {"contains": [{"recipient": "city"}, "y"]}}]}"#,
                .all([.isNull(.column(.locale)), .not(.contains(.recipient("city"), "y"))])
            ),
            (
                #"{"any": [{"starts_with": [{"parameter": "a"}, ""]}, {"in": [{"device": "b"}, [{"number": "1.50"}]]}]}"#,
                .any([.startsWith(.parameter("a"), ""), .isIn(.device("b"), [.number("1.50")])])
            ),
            (
                #"{"compare": [{"mapping": "c"}, "<=", {"at": -1, "text": "x"}]}"#,
                .compare(.mapping("c"), .lessOrEqual, .textOrTime("x", microseconds: -1))
            ),
            (
                #"{"compare": [{"column": "enabled"}, "=", {"boolean": false}]}"#,
                .compare(.column(.enabled), .equal, .boolean(false))
            ),
            (
                #"{"compare": [{"parameters": "d"}, ">", {"before_start": -60}]}"#,
                .compare(.parameter("d"), .greater, .time(.beforeStart(seconds: -60)))
            ),
            (
                #"{"compare": [{"column": "created_at"}, "<", {"at": 7}]}"#,
                .compare(.column(.createdAt), .less, .time(.absolute(microseconds: 7)))
            ),
            (
                #"{"compare": [{"column": "locale"}, "!=", {"text": "fr"}]}"#,
                .compare(.column(.locale), .notEqual, .text("fr"))
            ),
            (
                #"{"not": {"clicked": {"label": "Spring", "days": 30}}}"#,
                .not(.did(TargetBehaviour(.clicked, .label("Spring"), days: 30)))
            ),
            (#"{"sent": {"any": true}}"#, .did(TargetBehaviour(.sent, .any))),
        ] as [(String, TargetFilter)]
    )
    func known(_ text: String, _ filter: TargetFilter) throws {
        #expect(try TargetFilter(treeText: text) == filter)
    }

    @Test(
        arguments: [
            "[]", "{}", "null", #"{"all": {}}"#, #"{"xor": []}"#, #"{"is_null": {"column": "nothing"}}"#,
            #"{"is_null": {"person": "a"}}"#, #"{"is_null": {"column": "locale", "device": "a"}}"#,
            #"{"compare": [{"column": "locale"}, "~", {"text": "a"}]}"#, #"{"compare": [{"column": "locale"}, "="]}"#,
            #"{"compare": [{"column": "locale"}, "=", {}]}"#, #"{"compare": [{"column": "locale"}, "=", {"text": 1}]}"#,
            #"{"compare": [{"column": "created_at"}, "=", {"at": 1.5}]}"#, #"{"contains": [{"column": "locale"}, 1]}"#,
            #"{"in": [{"column": "locale"}, {"text": "a"}]}"#, #"{"not": {}} x"#, #"{"sent": {}}"#,
            #"{"sent": {"any": 1}}"#,
            #"{"opened": {"any": true}}"#, #"{"sent": {"any": true, "hours": 3}}"#,
        ]
    )
    func unknown(_ text: String) {
        #expect(throws: (any Error).self) { try TargetFilter(treeText: text) }
    }
}
