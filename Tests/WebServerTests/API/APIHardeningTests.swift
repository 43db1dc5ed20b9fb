import Foundation
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// Malformed and hostile requests.
@Suite struct APIHardeningTests {
    private static let device =
        #"{"application": "shop-ios", "pushToken": "abababababababab", "parameters": {"a": "b"}}"#

    @Test func bodiesThatAreNoneAreRefusedInOneForm() async throws {
        let site = try await APISite.start { $0.limits.maxBodyKb = 8 }
        let key = try await site.key()
        func status(_ bytes: [UInt8], _ headers: [String] = []) async throws -> (Int, String?) {
            let answer = try await site.call("POST", "/devices", key: key, bytes: bytes, headers: headers)
            return (answer.status, answer["code"])
        }
        #expect(try await status(Array(Self.device.utf8)) == (201, nil))
        #expect(try await status(Array(repeating: 0x20, count: 8 * 1_024 + 1)) == (413, "too_large"))
        for type in [
            "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "multipart/form-data; boundary=x",
        ] {
            #expect(
                try await status(Array(Self.device.utf8), ["Content-Type: \(type)"]) == (415, "unsupported_media_type")
            )
        }
        #expect(
            try await status(Array(Self.device.utf8), ["Content-Type: Application/JSON ; charset=utf-8"]) == (200, nil)
        )
        for text in [
            "", " ", "{", "}", #"{"a""#, "nul", #"{"a":01}"#, #"{"a":1}x"#, #"{"a":1,}"#,
            String(repeating: "[", count: 513),
            String(repeating: "[", count: 8_000), String(repeating: #"{"a":"#, count: 1_500), "\u{FEFF}{}",
            #"{"a":"\#u{1}"}"#,
            // Half a surrogate pair is not a character. If it were repaired, two different texts would become equal.
            #"{"application": "shop-ios", "pushToken": "abababababababab", "userKey": "\ud800"}"#,
            #"{"application": "shop-ios", "pushToken": "abababababababab", "userKey": "a\udc00b"}"#,
            #"{"\ud800\u0041": 1}"#,
        ] {
            #expect(try await status(Array(text.utf8)) == (400, "malformed_request"), "\(text.prefix(20))")
        }
        for bytes: [UInt8] in [[0xFF], Array(#"{"application": ""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)] {
            #expect(try await status(bytes) == (400, "malformed_request"))
        }
        // A body where none belongs is refused, not ignored.
        let id = try await site.call("GET", "/devices?pushToken=abababababababab", key: key)["devices.0.id"] ?? ""
        let more = try await site.call("PUT", "/devices/\(id)/opt-out", key: key, #"{"reason": "x"}"#)
        #expect(more.status == 400 && more["errors.0.path"] == "/reason")
        #expect(try await site.call("PUT", "/devices/\(id)/opt-out", key: key, "{}").status == 200)
        try await site.finish()
    }

    @Test func unknownPathsAndMethodsAreToldInTheSameForm() async throws {
        let site = try await APISite.start()
        for path in ["", "/", "/nothing", "/devices/1/2/3", "/deliveries/1/restart", "/../r/test", "/devices%2F1"] {
            let answer = try await site.call("GET", path)
            #expect(answer.status == 404 && answer["code"] == "not_found", "\(path): \(answer.answer)")
            #expect(answer.headers["content-type"] == "application/problem+json")
            #expect(answer["requestId"] == answer.headers["x-request-id"])
        }
        let wrong = try await site.call("PATCH", "/devices/7")
        #expect(wrong.status == 405 && wrong.headers["allow"] == "DELETE, GET" && wrong["code"] == "method_not_allowed")
        #expect(try await site.call("PATCH", "/messages").headers["allow"] == "GET, POST")
        // The answer to HEAD gives the length of the body, but no body follows. So this is never a complete answer.
        await #expect(throws: RawHTTPError.self) {
            try await site.call("HEAD", "/applications", headers: ["Connection: close"])
        }
        // A path outside the API gets the process's own short text.
        let other = try await site.web.get("/api/v2/devices")
        #expect(other.status == 404 && other.headers["content-type"]?.hasPrefix("application/problem") != true)
        try await site.finish()
    }

    @Test func numbersHaveOneForm() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let id = try await site.call("POST", "/devices", key: key, Self.device)["id"] ?? ""
        #expect(try await site.call("GET", "/devices/\(id)", key: key).status == 200)
        for other in ["+\(id)", "%2B\(id)", "00\(id)", "-\(id)", "\(id).0", "%20\(id)", "0x\(id)"] {
            let answer = try await site.call("GET", "/devices/\(other)", key: key)
            #expect(answer.status == 400 && answer["errors.0.path"] == "path:id", "\(other): \(answer.answer)")
        }
        for limit in ["%2B5", "05", "5.0"] {
            #expect(try await site.call("GET", "/deliveries?limit=\(limit)", key: key).status == 400, "\(limit)")
        }
        #expect(try await site.call("GET", "/deliveries?limit=5", key: key).status == 200)
        try await site.finish()
    }

    @Test func aPrefixMayStandBeforeThePaths() async throws {
        let site = try await APISite.start { $0.pathPrefix = "/push/" }
        #expect(try await site.web.get("/push/api/v1/openapi.json").status == 200)
        #expect(try await site.call("GET", "/openapi.json").status == 200)
        #expect(try await site.web.get("/push/api/v1/x").headers["content-type"] == "application/problem+json")
        try await site.finish()
    }

    /// Bodies made of pieces of valid ones: each is accepted or refused, and none causes a server error.
    @Test func mutatedBodiesAreNeverTheServersFault() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let seed = TestRandom.seed(for: "mutatedBodiesAreNeverTheServersFault")
        var random = TestRandom(seed: seed)
        let paths: [(String, String)] = [
            ("/devices", Self.device),
            (
                "/deliveries",
                #"{"label": "a", "applications": ["shop-ios"], "content": {"ios": {"title": "a"}}, "priority": 1, "filter": "locale = 'fr'"}"#
            ),
            ("/deliveries/1/targets", #"{"targets": [{"userKey": "a", "variables": {"b": [1, 2.5e3, null]}}]}"#),
            ("/deliveries/1/start", #"{"startAt": "2999-01-01T00:00:00Z"}"#),
            ("/messages", #"{"deliveryId": 1, "userKey": "a", "variables": {"b": true}}"#),
        ]
        let pieces = [
            "\"", "{", "}", "[", "]", ",", ":", "null", "true", "-1", "1e999", "99999999999999999999", "\\u0000",
            "\\ud800", "\\", "\u{0}",
            "é", "'", "%s", "$1", "--", "shop-ios", " ",
        ].map { Array($0.utf8) }
        for _ in 0..<400 {
            guard let (path, body) = paths.randomElement(using: &random) else { continue }
            var bytes = Array(body.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: place)
                case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 0...6, using: &random)))
                default: if place < bytes.count { bytes[place] = UInt8.random(in: .min ... .max, using: &random) }
                }
            }
            let answer = try await site.call("POST", path, key: key, bytes: bytes)
            #expect(answer.status < 500, "\(path) \(String(decoding: bytes, as: UTF8.self)): \(answer.answer)")
        }
        // The process still runs, and no request is stuck.
        #expect(try await site.call("POST", "/devices", key: key, Self.device).status < 300)
        try await site.finish()
    }

    @Test func connectionsThatWereCutAreMadeAgain() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        #expect(try await site.call("GET", "/applications", key: key).status == 200)
        // Its idle database connections are cut: the next request opens new ones.
        try await site.web.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        try await eventually("the API answers again") {
            try await site.call("GET", "/applications", key: key).status == 200
        }
        try await site.finish()
    }

    @Test func aStatementThatWaitsDoesNotHoldUpOthers() async throws {
        let site = try await APISite.start()
        let key = try await site.key()
        let body = #"{"label": "x", "applications": ["shop-ios"], "content": {"ios": {"title": "a"}}}"#
        let id = try await site.call("POST", "/deliveries", key: key, body)["id"] ?? ""
        let holder = try await site.web.database.connect()
        try await holder.run(
            script:
                "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SELECT FROM pushmta_engine.delivery WHERE id = \(id) FOR UPDATE"
        )
        let waiting = Task { try await site.call("POST", "/deliveries/\(id)/start", key: key) }
        try await eventually("the start waits") {
            try await site.web.value(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            ) != "0"
        }
        #expect(try await site.call("GET", "/applications", key: key).status == 200)
        // It waits no longer than the engine's usual limit, and its session is then free for others.
        let busy = try await waiting.value
        #expect(busy.status == 503 && "\(busy.answer)".contains("Another transaction has locked"), "\(busy.answer)")
        try await holder.run(script: "COMMIT")
        await holder.close()
        #expect(try await site.call("POST", "/deliveries/\(id)/start", key: key)["state"] == "pending")
        try await site.finish()
    }
}
