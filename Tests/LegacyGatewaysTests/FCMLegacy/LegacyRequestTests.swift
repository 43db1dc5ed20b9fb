import Foundation
import GatewayTestSupport
import Gateways
import PushCore
import Testing

@testable import LegacyGateways

@Suite("Requests to legacy FCM")
struct LegacyRequestTests {
    private func batch(_ messages: [(token: String, body: String)]) -> GatewayRequestBatch {
        GatewayRequestBatch(
            id: 1,
            tokens: ByteColumn(messages.map(\.token)),
            messageIDs: messages.indices.map { MessageUUID(high: 1, low: UInt64($0)) },
            bodies: ByteColumn(messages.map(\.body)),
            attributes: MessageAttributes()
        )
    }

    private func text(_ request: LegacyRequest) -> String? {
        request.body.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("Messages with equal bodies share a request, in the order of each body's first message")
    func groups() {
        let batch = batch([("a", "{1}"), ("b", "{2}"), ("c", "{1}"), ("d", "{1}"), ("e", "{3}"), ("f", "{2}")])
        let all = LegacyRequest.requests(of: batch, maxMessages: 1_000)
        #expect(all.map(\.rows) == [[0, 2, 3], [1, 5], [4]])
        #expect(all.map(\.ranges) == [[0..<1, 2..<4], [1..<2, 5..<6], [4..<5]])
        let pairs = LegacyRequest.requests(of: batch, maxMessages: 2)
        #expect(pairs.map(\.rows) == [[0, 2], [1, 5], [3], [4]])
        #expect(LegacyRequest.requests(of: batch, maxMessages: 1).map(\.rows) == [[0], [1], [2], [3], [4], [5]])
        #expect(LegacyRequest.requests(of: self.batch([]), maxMessages: 5).isEmpty)
    }

    @Test("Tokens come before the rest of the body")
    func bodies() {
        let data = #"{"data":{"a":"1"}}"#
        let batch = batch([
            ("T:1-a_b", data), ("t2", data), ("t3", "{}"), ("t4", "{ }"), ("/topics/x", "{}"), ("q\"\\\n", "{}"),
        ])
        let requests = [[0], [0, 1], [2], [2, 3], [4], [5]].map { LegacyRequest(batch: batch, rows: $0) }
        #expect(
            requests.map(text) == [
                #"{"to":"T:1-a_b","data":{"a":"1"}}"#,
                #"{"registration_ids":["T:1-a_b","t2"],"data":{"a":"1"}}"#,
                #"{"to":"t3"}"#,
                #"{"registration_ids":["t3","t4"]}"#,
                #"{"registration_ids":["/topics/x"]}"#,
                #"{"registration_ids":["q\"\\\u000a"]}"#,
            ]
        )
    }

    @Test("A body that is not a JSON object makes no request", arguments: ["", "[]", "null", "{", "}"])
    func malformed(_ body: String) {
        let batch = batch([("t", body)])
        #expect(LegacyRequest(batch: batch, rows: [0]).body == nil)
    }

    @Test("Any bytes as tokens make valid JSON with exactly these tokens")
    func anyTokens() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(state: seed)
        for _ in 0..<2_000 {
            let tokens = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                (0..<Int.random(in: 0...12, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random)
                }
            }
            var column = ByteColumn()
            for token in tokens { column.append(token) }
            let batch = GatewayRequestBatch(
                id: 1,
                tokens: column,
                messageIDs: tokens.map { _ in MessageUUID(high: 1, low: 1) },
                bodies: ByteColumn(tokens.map { _ in #"{"data":{}}"# }),
                attributes: MessageAttributes()
            )
            let body = try #require(LegacyRequest(batch: batch, rows: Array(0..<Int32(tokens.count))).body)
            let json = try #require(
                try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any],
                "seed \(seed): \(body)"
            )
            let sent = json["registration_ids"] as? [String] ?? [json["to"] as? String ?? "none"]
            #expect(sent == tokens.map { String(decoding: $0, as: UTF8.self) }, "seed \(seed)")
        }
    }
}
