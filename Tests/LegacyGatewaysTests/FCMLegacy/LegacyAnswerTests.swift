import Foundation
import Gateways
import Testing

@testable import LegacyGateways

@Suite("Answers of legacy FCM")
struct LegacyAnswerTests {
    private func results(_ text: String, count: Int = 1, status: Int = 200) -> [LegacyAnswer.Result] {
        LegacyAnswer(status: status, body: Array(text.utf8), count: count).results
    }

    @Test("A page or nothing instead of a line of text counts as a page")
    func pages() {
        #expect(LegacyAnswer(status: 400, body: Array("<html><title>400</title>".utf8), count: 1).isPage)
        #expect(LegacyAnswer(status: 400, body: [], count: 1).isPage)
        #expect(!LegacyAnswer(status: 400, body: Array("JSON_PARSING_ERROR: x".utf8), count: 1).isPage)
    }

    @Test("What Google documents")
    func documented() {
        let text = """
            {"multicast_id":2891136516237280301,"success":2,"failure":1,"canonical_ids":1,"results":[
            {"message_id":"0:1673874427017057%7b0e42f9f9fd7ecd"},{"error":"NotRegistered"},
            {"message_id":"1:08","registration_id":"new:token"}]}
            """
        #expect(
            results(text, count: 3) == [
                .accepted(messageID: "0:1673874427017057%7b0e42f9f9fd7ecd", canonical: nil),
                .refused(reason: "NotRegistered"),
                .accepted(messageID: "1:08", canonical: "new:token"),
            ]
        )
    }

    @Test(
        "A list of another length, false counts, and a body that is not an answer say nothing",
        arguments: [
            "", " ", "null", "[]", "{}", "<html>Sign in</html>", #"{"results":null}"#, #"{"results":[]}"#,
            #"{"success":2,"failure":0,"results":[{"message_id":"1"}]}"#,
            #"{"results":[{"message_id":"1"},{"message_id":"2"},{"message_id":"3"}]}"#, #"{"results":{"0":"x"}}"#,
            #"{"message_id":12}"#, #"{"results":[{"message_id":"1"},{"message_id":"2"}]"#, "\u{0}",
            #"{"results":[{},{}]}"#, #"{"results":[1,null]}"#,
            #"{"results":[{"message_id":1},{"error":["NotRegistered"]}]}"#,
            #"{"results":[{"message_id":"1","error":"NotRegistered"},{"error":""}]}"#,
        ]
    )
    func unreadable(_ text: String) {
        #expect(results(text, count: 2) == [.unreadable, .unreadable])
    }

    @Test("An unreadable result says nothing about the others")
    func oneUnreadable() {
        #expect(
            results(#"{"success":77,"results":[{"error":"Unavailable"},7,{"message_id":""}]}"#, count: 3) == [
                .refused(reason: "Unavailable"), .unreadable, .accepted(messageID: nil, canonical: nil),
            ]
        )
    }

    @Test(
        "A canonical id that is not a token is ignored",
        arguments: ["", " ", "/topics/x", "a\u{0}b", String(repeating: "a", count: 2_001), "ü"]
    )
    func canonical(_ id: String) throws {
        let json = try JSONSerialization.data(withJSONObject: ["results": [["message_id": "1", "registration_id": id]]])
        #expect(
            LegacyAnswer(status: 200, body: Array(json), count: 1).results == [
                .accepted(messageID: "1", canonical: nil)
            ]
        )
    }

    @Test(
        "Answers to whole requests",
        arguments: [
            ("<HTML>\n<HEAD>\n<TITLE>INVALID_KEY</TITLE>\n</HEAD><H1>INVALID_KEY</H1></HTML>", "INVALID_KEY"),
            ("<!DOCTYPE html><html lang=en><title>Error 404 (Not Found)!!1</title>", ""),
            ("JSON_PARSING_ERROR: Unexpected character (x) at position 12.\nmore", "JSON_PARSING_ERROR"),
            (#"Field "to" must be a JSON string: 5"#, ""), ("InvalidParameters", "InvalidParameters"),
            (#"{"error":"Unavailable"}"#, "Unavailable"),
            (#"{"error":{"code":503,"status":"UNAVAILABLE","message":"down"}}"#, "UNAVAILABLE"),
            (#"{"results":[{"error":"InternalServerError"}]}"#, "InternalServerError"), ("", ""), ("<title>", ""),
            ("<TITLE>never closed", ""),
        ] as [(String, String)]
    )
    func wholeRequests(_ body: String, _ reason: String) {
        for status in [400, 401, 503] {
            let expected = Array(repeating: LegacyAnswer.Result.refused(reason: reason), count: 3)
            #expect(results(body, count: 3, status: status) == expected)
        }
    }

    @Test("An error of the whole request with status 200 applies to every message")
    func commonError() {
        #expect(
            results(#"{"error":"TopicsMessageRateExceeded"}"#, count: 2)
                == [.refused(reason: "TopicsMessageRateExceeded"), .refused(reason: "TopicsMessageRateExceeded")]
        )
    }
}
