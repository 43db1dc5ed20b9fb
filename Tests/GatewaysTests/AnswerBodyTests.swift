import GatewayTestSupport
import Testing

@testable import Gateways

@Suite("Bodies of answers")
struct AnswerBodyTests {
    @Test("APNs errors")
    func apns() {
        let gone = APNsErrorBody(Array(#"{"reason":"Unregistered","timestamp":1454948015990}"#.utf8))
        #expect(gone.reason == "Unregistered")
        #expect(gone.timestamp == 1_454_948_015_990)
        let odd = APNsErrorBody(Array(#"{"reason":"Unregistered","timestamp":"soon"}"#.utf8))
        #expect(odd.reason == "Unregistered")
        #expect(odd.timestamp == nil)
    }

    @Test(
        "A time at which no token can have become invalid is ignored",
        arguments: [
            ("1454948015990", 1_454_948_015_990), ("0", 0), ("253402300799999", 253_402_300_799_999),
            ("253402300800000", nil), ("-1", nil), ("1454948015990000000", nil), ("9223372036854775807", nil),
            ("-9223372036854775808", nil), ("9223372036854775808", nil), ("1e300", nil),
        ] as [(String, Int64?)]
    )
    func absurdTime(_ text: String, _ time: Int64?) {
        let body = APNsErrorBody(Array(#"{"reason":"Unregistered","timestamp":\#(text)}"#.utf8))
        #expect(body.reason == "Unregistered")
        #expect(body.timestamp == time)
    }

    @Test(
        "A body that is not an APNs error is empty",
        arguments: ["", "{", "[]", "null", "{\"reason\":7}", "<html>", "\u{0}"]
    )
    func noAPNsError(_ text: String) {
        let body = APNsErrorBody(Array(text.utf8))
        #expect(body.reason.isEmpty)
        #expect(body.timestamp == nil)
    }

    @Test("Reasons are cut and freed of NUL bytes")
    func storable() {
        let body = APNsErrorBody(Array(#"{"reason":"\#(String(repeating: "é", count: 500))"}"#.utf8))
        #expect(body.reason == String(repeating: "é", count: 100))
        #expect(APNsErrorBody(Array(#"{"reason":"a\u0000b"}"#.utf8)).reason == "ab")
        // A control character is shown, not executed.
        let escape = "a\u{1B}[2J\u{7}\r\n\u{7F}\u{9B}31mé"
        #expect(ReasonText.storable(escape) == "a\u{241B}[2J\u{2407}\u{240D}\u{2421}\u{FFFD}31mé")
    }

    private func fcm(_ details: String, status: String = "X", message: String = "m") -> FCMErrorBody {
        FCMErrorBody(
            Array(#"{"error":{"code":400,"message":"\#(message)","status":"\#(status)","details":[\#(details)]}}"#.utf8)
        )
    }

    private let fcmError =
        #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"QUOTA_EXCEEDED"}"#

    @Test("FCM errors: the error code, else ErrorInfo, else the status")
    func fcmReason() {
        let info = #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED"}"#
        let project =
            #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","#
            + #""metadata":{"quota_limit":"SendsPerMinutePerProject"}}"#
        #expect(fcm(fcmError).reason == "QUOTA_EXCEEDED")
        #expect(fcm(info).reason == "RATE_LIMIT_EXCEEDED")
        #expect(fcm("\(fcmError),\(info)").reason == "QUOTA_EXCEEDED")
        #expect(fcm("\(fcmError),\(project)").reason == "RATE_LIMIT_EXCEEDED")
        #expect(fcm("", status: "UNAUTHENTICATED").reason == "UNAUTHENTICATED")
        #expect(fcm("7,null,[],\"a\"", status: "INTERNAL").reason == "INTERNAL")
        let unspecified = fcmError.replacing("QUOTA_EXCEEDED", with: "UNSPECIFIED_ERROR")
        #expect(fcm(unspecified, status: "INTERNAL").reason == "INTERNAL")
    }

    @Test("FCM errors that name the token")
    func tokenAtFault() {
        let violation =
            #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.token"}]}"#
        #expect(fcm(violation).tokenAtFault)
        #expect(fcm("", message: "The registration token is not a valid FCM registration token").tokenAtFault)
        #expect(!fcm(violation.replacing("message.token", with: "message.data")).tokenAtFault)
        #expect(!fcm(fcmError).tokenAtFault)
    }

    @Test(
        "A body that is not an FCM error is empty",
        arguments: ["", "<html></html>", "{", "{\"error\":\"x\"}", "[1]", " "]
    )
    func noFCMError(_ text: String) {
        #expect(FCMErrorBody(Array(text.utf8)).reason.isEmpty)
    }

    @Test(
        "Names of accepted FCM messages",
        arguments: [
            (#"{"name":"projects/p/messages/0:1%a"}"#, "projects/p/messages/0:1%a"),
            ("{\n  \"name\" : \"projects/p/messages/1\"\n}\n", "projects/p/messages/1"),
            (#"{"other":"x","name":"projects/n"}"#, "projects/n"), (#"{"name":7}"#, nil), ("{}", nil), ("", nil),
            (#"{"name":"projects/unended"#, nil), (#"{"name":"projects/a\"b"}"#, nil), (#""name""#, nil),
            (#"{"name":"}"#, nil), (#"{"name":""}"#, nil), (#"{"name":"n"}"#, nil), (#"{"name":"project"}"#, nil),
            (#"<p>"name":"projects/p/messages/1"</p>"#, nil), ("<html>It works!</html>", nil),
        ] as [(String, String?)]
    )
    func name(_ body: String, _ name: String?) {
        #expect(FCMSuccessBody.name(in: Array(body.utf8)) == name)
    }

    @Test("The project's own prefix of a name is removed, another project's is not")
    func nameOfProject() {
        let prefix = Array("projects/p/messages/".utf8)
        for (name, left) in [
            ("projects/p/messages/0:1%a", "0:1%a"), ("projects/q/messages/0:1%a", "projects/q/messages/0:1%a"),
            ("projects/p/messages/", "projects/p/messages/"), ("projects/p", "projects/p"),
        ] {
            #expect(FCMSuccessBody.name(in: Array(#"{"name":"\#(name)"}"#.utf8), without: prefix) == left)
        }
    }

    @Test("A message name is cut to the length of storable texts", arguments: [191, 192, 1_000_000])
    func longName(_ count: Int) {
        let name = "projects/" + String(repeating: "x", count: count)
        #expect(FCMSuccessBody.name(in: Array(#"{"name":"\#(name)"}"#.utf8)) == String(name.prefix(200)))
    }

    @Test("Random bytes crash nothing")
    func random() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(state: seed)
        let pieces = [
            "{", "}", "[", "]", "\"", ":", ",", "name", "\"name\"", "error", "reason", "\\", "7", " ", "\u{0}",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<20, using: &generator)
            var bytes: [UInt8] = []
            for _ in 0..<count { bytes += pieces.randomElement(using: &generator).map { Array($0.utf8) } ?? [] }
            if Bool.random(using: &generator) { bytes.append(UInt8.random(in: 0...255, using: &generator)) }
            _ = FCMSuccessBody.name(in: bytes)
            _ = FCMErrorBody(bytes)
            _ = APNsErrorBody(bytes)
            _ = RetryAfter.milliseconds(String(decoding: bytes, as: UTF8.self), now: 0)
        }
        print("bodies of answers: seed \(seed)")
    }

    @Test(
        "Retry-After",
        arguments: [
            ("0", 0), ("7", 7_000), ("99999999999999999999", 86_400_000), ("100000", 86_400_000), ("", nil),
            ("-1", nil),
            ("soon", nil), ("Sun, 06 Nov 1994 08:49:37 GMT", 37_000), ("Sun, 06 Nov 1994 08:48:37 GMT", 0),
            ("Sun, 06 Xyz 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 25:49:37 GMT", nil), ("1.5", nil),
        ] as [(String, Int32?)]
    )
    func retryAfter(_ text: String, _ milliseconds: Int32?) {
        #expect(RetryAfter.milliseconds(text, now: 784_111_740) == milliseconds)
    }
}
