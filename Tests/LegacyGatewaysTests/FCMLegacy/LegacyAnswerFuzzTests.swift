import Foundation
import GatewayTestSupport
import Gateways
import Testing

@testable import LegacyGateways

/// Implausible bodies.
@Suite("Fuzzed answers of legacy FCM", .timeLimit(.minutes(30)))
struct LegacyAnswerFuzzTests {
    /// 10^5 bodies; `PUSHMTA_FUZZ_CASES` sets another number.
    private static let cases = ProcessInfo.processInfo.environment["PUSHMTA_FUZZ_CASES"].flatMap(Int.init) ?? 100_000

    private static let seeds: [[UInt8]] = [
        #"{"multicast_id":1,"success":1,"failure":2,"canonical_ids":1,"results":[{"message_id":"0:1%2"},{"error":"NotRegistered"},{"message_id":"3","registration_id":"abc:def"}]}"#,
        #"{"results":[{"error":"Unavailable"},{"error":"InvalidRegistration"},{"error":"MismatchSenderId"}]}"#,
        #"{"error":"Unavailable"}"#, #"{"message_id":12}"#, #"{"error":{"code":503,"status":"UNAVAILABLE"}}"#,
        "<HTML><HEAD><TITLE>INVALID_KEY</TITLE></HEAD><BODY><H1>INVALID_KEY</H1></BODY></HTML>",
        "JSON_PARSING_ERROR: Unexpected character", #"Field "to" must be a JSON string"#, "",
    ].map { Array($0.utf8) }

    private static let pieces: [[UInt8]] = [
        "{", "}", "[", "]", "\"", ",", ":", "null", "1e999", "-", "\\u0000", "\\ud800", "\"results\":", "\"error\":",
        "\"message_id\":", "\"registration_id\":", "{\"results\":[", "<title>", "</title>", "\u{0}",
        String(repeating: "[", count: 600), String(repeating: "{\"a\":", count: 600), "9223372036854775808",
    ].map { Array($0.utf8) }

    private func mutated(_ random: inout SeededGenerator) -> [UInt8] {
        if Int.random(in: 0..<10, using: &random) == 0 {
            return (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
        }
        var body = Self.seeds.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let place = Int.random(in: 0...body.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: body.insert(UInt8.random(in: .min ... .max, using: &random), at: place)
            case 1: if place < body.count { body[place] = UInt8.random(in: .min ... .max, using: &random) }
            case 2: body.removeSubrange(place..<min(body.count, place + Int.random(in: 0...12, using: &random)))
            case 3: body.insert(contentsOf: Self.pieces.randomElement(using: &random) ?? [], at: place)
            default: body.removeSubrange(place...)
            }
        }
        return body
    }

    @Test("For any body, each message has one result, and its text can be stored")
    func fuzz() async {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(state: seed)
        var (accepted, refused, unreadable) = (0, 0, 0)
        for number in 0..<Self.cases {
            // Other tests run on the same threads.
            if number % 100 == 0 { await Task.yield() }
            let body = mutated(&random)
            let status = [200, 200, 200, 204, 400, 401, 500, 503, 302, 0].randomElement(using: &random) ?? 200
            let count = Int.random(in: 1...4, using: &random)
            let answer = LegacyAnswer(status: status, body: body, count: count)
            var isSound = answer.results.count == count && answer.message.utf8.count <= 200
            for result in answer.results {
                switch result {
                case .accepted(let id, let canonical):
                    accepted += 1
                    isSound = isSound && (id?.utf8.count ?? 0) <= 200 && id?.utf8.contains(0) != true
                    isSound = isSound && (200..<300).contains(status)
                    isSound = isSound && canonical?.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) != true
                case .refused(let reason):
                    refused += 1
                    isSound = isSound && reason.utf8.count <= 200 && !reason.utf8.contains(0)
                case .unreadable:
                    unreadable += 1
                    isSound = isSound && (200..<300).contains(status)
                }
            }
            if !isSound {
                Issue.record("seed \(seed), case \(number): \(status) \(body)")
                return
            }
        }
        print("legacy FCM answers, seed \(seed): \(accepted) accepted, \(refused) refused, \(unreadable) unreadable")
        // Mutations that leave nothing readable would test nothing.
        #expect(accepted > 0 && refused > 0 && unreadable > 0)
    }
}
