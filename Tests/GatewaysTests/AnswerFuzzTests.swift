import Foundation
import GatewayTestSupport
import PushCore
import Testing

@testable import Gateways

/// Whatever a gateway or something in its place answers, nothing crashes or hangs, and what is kept is bounded.
@Suite struct AnswerFuzzTests {
    /// The number of bodies; 25,000 take a few seconds. Use `PUSHMTA_FUZZ_CASES=1000000` for a longer run.
    private static let cases = ProcessInfo.processInfo.environment["PUSHMTA_FUZZ_CASES"].flatMap(Int.init) ?? 25_000

    /// Bodies as gateways send them.
    private static let seeds: [[UInt8]] = [
        #"{"reason":"BadDeviceToken"}"#, #"{"reason":"Unregistered","timestamp":1454948015990}"#,
        #"{"name":"projects/p/messages/0:1500415314455276%31bd1c9631bd1c96"}"#,
        #"{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND","details":"#
            + #"[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}"#,
        #"{"error":{"code":400,"message":"The registration token is not a valid FCM registration token","status":"#
            + #""INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":"#
            + #"[{"field":"message.token","description":"bad"}]}]}}"#,
        #"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","#
            + #""reason":"RATE_LIMIT_EXCEEDED","metadata":{"quota_limit":"SendsPerMinutePerProject"}}]}}"#,
        "<!DOCTYPE html><html><title>Error 502 (Server Error)!!1</title></html>", "",
    ].map { Array($0.utf8) }

    /// Elements of valid and invalid JSON.
    private static let pieces: [[UInt8]] =
        [
            "{", "}", "[", "]", "\"", ":", ",", "\\", "\\u0000", "\\ud800", "\\udc00\\ud800", "null", "true", "1e999",
            "-0",
            "99999999999999999999", "0.1", "\"reason\"", "\"error\"", "\"details\"", "\"@type\"", "\"name\"",
            "\"timestamp\"",
            "é", "\u{1F469}\u{200D}\u{1F469}", "a\u{0301}\u{0302}\u{0303}", " ", "\n",
        ].map { Array($0.utf8) } + [
            [0], [0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xEF, 0xBB, 0xBF], [0xFE, 0xFF, 0, 0x7B],
        ]

    private static func mutated(_ random: inout SeededGenerator) -> [UInt8] {
        var body = seeds.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let place = Int.random(in: 0...body.count, using: &random)
            let end = min(body.count, place + Int.random(in: 0...12, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where place < body.count: body[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: body.removeSubrange(place..<end)
            case 2: body.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: place)
            case 3: body.insert(contentsOf: body[place..<end], at: place)
            case 4: body.insert(contentsOf: (seeds.randomElement(using: &random) ?? []).suffix(20), at: place)
            default:
                // Long runs and deep nesting, which would consume time or stack.
                let piece = pieces.randomElement(using: &random) ?? []
                let count = Int.random(
                    in: 1...(Int.random(in: 0..<50, using: &random) == 0 ? 3_000 : 20),
                    using: &random
                )
                body.insert(contentsOf: Array(repeating: piece, count: count).joined(), at: place)
            }
        }
        return body
    }

    private func isBounded(_ text: String) -> Bool {
        text.utf8.count <= 200 && !text.utf8.contains(0)
    }

    @Test(.timeLimit(.minutes(20))) func anyBodyIsRead() {
        let seed =
            ProcessInfo.processInfo.environment["PUSHMTA_TEST_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
        print("fuzzed answers: \(Self.cases) bodies, PUSHMTA_TEST_SEED=\(seed)")
        var random = SeededGenerator(state: seed)
        let statuses: [Int16] = [
            0, 100, 200, 204, 301, 400, 401, 403, 404, 405, 408, 410, 413, 418, 429, 500, 503, 999, .min, .max,
        ]
        var failed = 0
        for _ in 0..<Self.cases where failed < 10 {
            let body = Self.mutated(&random)
            let status = statuses.randomElement(using: &random) ?? 0
            let apns = APNsErrorBody(body)
            let fcm = FCMErrorBody(body)
            let name = FCMSuccessBody.name(in: body) ?? ""
            let apnsRow = AnswerTable.apns(status: status, reason: apns.reason)
            let fcmRow = AnswerTable.fcmV1(status: status, reason: fcm.reason, tokenAtFault: fcm.tokenAtFault)
            let goAway = GatewayAnswers.fcmV1.goAway(reason: ReasonText.storable(String(decoding: body, as: UTF8.self)))
            let isSound =
                isBounded(apns.reason) && isBounded(fcm.reason) && isBounded(fcm.message)
                && isBounded(name)
                && !name.utf8.contains(0) && TokenEffect.credibleTime(apns.timestamp) == apns.timestamp
                && apnsRow.gateway == .apnsHTTP2 && fcmRow.gateway == .fcmV1 && goAway.source == .goAway
                && isHarmless(apnsRow, status, known: apns.reason) && isHarmless(fcmRow, status, known: fcm.reason)
            if !isSound {
                failed += 1
                Issue.record("status \(status): \(String(decoding: body.prefix(500), as: UTF8.self))")
            }
        }
    }

    /// Only a documented answer may invalidate a token, and no error counts as success.
    private func isHarmless(_ row: AnswerRow, _ status: Int16, known reason: String) -> Bool {
        if row.token == .invalid || row.token == .invalidSinceTimestamp, row.reason != reason || row.status != status {
            return false
        }
        return row.outcomeClass != .accepted || status == 200
    }

    @Test func deepNestingIsNoTrap() {
        for opening in ["[", "{\"a\":", "{\"error\":", "[{\"details\":"] {
            for depth in Array(505...520) + [100, 10_000, 100_000] {
                let body = Array(String(repeating: opening, count: depth).utf8)
                #expect(APNsErrorBody(body).reason.isEmpty)
                #expect(FCMErrorBody(body).reason.isEmpty)
            }
        }
    }
}
