import Foundation
import GatewaySimulator
import GatewayTestSupport
import PushCore
import Synchronization
import Testing

@testable import Gateways
@testable import HTTP2

/// What traces show, and what they never show.
@Suite("Tracing", .timeLimit(.minutes(2)))
struct TraceTests {
    /// A tracer that wants to see everything, or nothing.
    private final class Onlooker: GatewayTracer {
        let seen = Mutex<[GatewayExchange]>([])
        let traces: [Int64]

        init(_ traces: [Int64] = [1]) { self.traces = traces }

        func choose(from count: Int, ofDelivery id: Int64, token: (Int) -> ArraySlice<UInt8>) -> [Int32: [Int64]] {
            if traces.isEmpty { return [:] }
            return Dictionary(uniqueKeysWithValues: (0..<Int32(count)).map { ($0, traces) })
        }

        func saw(_ exchange: CopiedExchange, for traces: [Int64]) {
            seen.withLock { $0.append(exchange.withoutSecrets) }
        }
    }

    private func text(_ exchange: GatewayExchange) -> String {
        let fields = (exchange.requestFields + exchange.answerFields).map { "\($0.name): \($0.value)" }
        return (fields + [exchange.requestBody, exchange.answerBody].map { String(decoding: $0, as: UTF8.self) })
            .joined(separator: "\n")
    }

    @Test("APNs: headers and bodies both ways, the provider token hidden, the push token as its hash")
    func apns() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.iosHTTP2)
            let onlooker = Onlooker()
            #expect(gateway.trace(with: onlooker))
            let batch = fixture.batch(.iosHTTP2, count: 3)
            gateway.submit(batch)
            await fixture.collector.waitForOutcomes(3)
            let seen = onlooker.seen.withLock(\.self)
            #expect(seen.count == 3)
            let tokens = (0..<3).map { String(decoding: batch.tokens[$0], as: UTF8.self) }
            for exchange in seen {
                #expect(!tokens.contains { text(exchange).contains($0) })
                let fields = Dictionary(exchange.requestFields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
                #expect(fields["authorization"] == GatewayExchange.hidden)
                #expect(fields[":path"] == "/3/device/\(exchange.tokenHash)" && fields[":method"] == "POST")
                #expect(fields["apns-topic"] == Fixture.topic)
                #expect(String(decoding: exchange.requestBody, as: UTF8.self).contains("Hello"))
                #expect(exchange.answerFields.first == WireField(":status", "200") && exchange.failure == nil)
                #expect(exchange.answerFields.contains { $0.name == "apns-id" && $0.value == fields["apns-id"] })
                #expect(!text(exchange).contains("bearer"))
            }
            #expect(Set(seen.map(\.tokenHash)) == Set(tokens.map { PushTokenHash.text($0.utf8) }))
            // Tracing has ended, or no trace wants these.
            _ = gateway.trace(with: Onlooker([]))
            gateway.submit(fixture.batch(id: 2, .iosHTTP2, count: 1))
            await fixture.collector.waitForOutcomes(4)
            #expect(gateway.trace(with: nil))
            gateway.submit(fixture.batch(id: 3, .iosHTTP2, count: 1))
            await fixture.collector.waitForOutcomes(5)
            #expect(onlooker.seen.withLock(\.count) == 3)
            await gateway.shutdown()
        }
    }

    @Test("FCM: the access token hidden, the push token in the body as its hash, an error's body shown")
    func fcm() async throws {
        try await Fixture.run { fixture in
            let gateway = try await fixture.gateway(.androidV1)
            let onlooker = Onlooker()
            #expect(gateway.trace(with: onlooker))
            var plan = FaultPlan()
            plan.errors = [ErrorRate(reason: "UNREGISTERED", rate: 1)]
            try fixture.simulator.setFaults(plan, for: .fcm)
            let batch = fixture.batch(.androidV1, count: 1)
            gateway.submit(batch)
            await fixture.collector.waitForOutcomes(1)
            let seen = onlooker.seen.withLock(\.self)
            let exchange = try #require(seen.first)
            let token = String(decoding: batch.tokens[0], as: UTF8.self)
            #expect(!text(exchange).contains(token) && text(exchange).contains(exchange.tokenHash))
            #expect(exchange.requestFields.contains(WireField("authorization", GatewayExchange.hidden)))
            #expect(String(decoding: exchange.answerBody, as: UTF8.self).contains("UNREGISTERED"))
            #expect(exchange.answerFields.contains { $0.name == "content-type" }, "\(exchange.answerFields)")
            let masked = TraceMask().masked(exchange)
            #expect(masked.answerBody.contains("UNREGISTERED") && masked.requestBody.contains(exchange.tokenHash))
            await gateway.shutdown()
        }
    }

    @Test("Texts, values of fields and unknown keys are masked, impersonal values are not")
    func mask() throws {
        let body = """
            {"aps":{"alert":{"title":"Hello Ada","loc-args":["Ada"]},"badge":17,"sound":"ping","category":"sale","mutable-content":1},\
            "_mId":"id-1","_dId":"12","city":"Lyon","n":-1.5e3,"yes":true,"none":null,"a.b":"x"}
            """
        let token = Array("tokentoken".utf8)
        var exchange = try exchange(body, token: token)
        exchange.requestFields.append(WireField("apns-collapse-id", "ada"))
        let masked = TraceMask().masked(exchange)
        for words in ["Ada", "Lyon", "17", "true"] {
            #expect(!masked.requestBody.contains(words), "\(masked.requestBody)")
        }
        for words in [#""title":"*********""#, #""badge":99"#, #""sound":"ping""#, #""_mId":"id-1""#, #""n":-9.9e9"#] {
            #expect(masked.requestBody.contains(words), "\(words): \(masked.requestBody)")
        }
        #expect(masked.requestFields.last == WireField("apns-collapse-id", "***"))
        let shown = TraceMask(showsAll: true).masked(exchange)
        #expect(shown.requestBody.contains("Hello Ada") && shown.requestFields.last?.value == "ada")
        // A body that is not JSON is not shown, as its contents are unknown.
        #expect(
            TraceMask().masked(try self.exchange("Ada", token: token)).requestBody
                == "(3 bytes that are not JSON, masked)"
        )
    }

    @Test("A masked value that a gateway repeats is masked in its answer too")
    func repeated() throws {
        let body =
            #"{"message":{"token":"t0","data":{"city":"Lyon","zip":69001,"x":"a"},"android":{"priority":"high"}}}"#
        var exchange = try exchange(body, token: Array("t0".utf8))
        exchange.answerBody = Array(
            #"{"error":{"code":400,"message":"Invalid value (TYPE_STRING), \"Lyon\", 69001","details":[{"x":"Lyon"}]}}"#
                .utf8
        )
        let answer = TraceMask().masked(exchange).answerBody
        #expect(!answer.contains("Lyon") && !answer.contains("69001"), "\(answer)")
        #expect(answer.contains("Invalid value (TYPE_STRING)") && answer.contains("400"), "\(answer)")
        #expect(TraceMask(showsAll: true).masked(exchange).answerBody.contains("Lyon"))
    }

    @Test("A secret is removed wherever it is, whatever follows it")
    func scrubbing() {
        let fields = [HTTP2HeaderField("authorization", "bearer abc.def"), HTTP2HeaderField("x-new", "se")]
        let scrubber = SecretScrubber(fields, token: Array("tok".utf8), hash: "HASH")
        #expect(
            String(decoding: scrubber.bytes(Array("ttok, abc.def, bearer abc.def, se, abc.de".utf8)), as: UTF8.self)
                == "tHASH, (hidden), (hidden), (hidden), abc.de"
        )
        #expect(scrubber.request(fields[1]).value == GatewayExchange.hidden)
        #expect(scrubber.answer(HTTP2HeaderField("set-cookie", "x")).value == GatewayExchange.hidden)
        #expect(scrubber.answer(HTTP2HeaderField("date", "tok")).value == "HASH")
        let long = scrubber.bytes([UInt8](repeating: 65, count: 100_000))
        #expect(long.count == GatewayExchange.maxBodyLength)
    }

    /// An exchange as it would be copied from the wire.
    private func exchange(_ body: String, token: [UInt8]) throws -> GatewayExchange {
        let batch = HTTP2RequestBatch(
            sharedHeaders: [HTTP2HeaderField(":method", "POST")],
            perRequestHeaderNames: ["apns-id"],
            capacity: 1,
            bodyBytes: body.utf8.count
        )
        batch.append(path: Array("/3/device/".utf8) + token, headerValues: [Array("id".utf8)], body: Array(body.utf8))
        let completion = HTTP2Completion(
            batch: batch,
            index: 0,
            latencyMicroseconds: 5,
            result: .response(HTTP2Response(status: 200))
        )
        return CopiedExchange(completion, deliveryID: 7, token: token[...]).withoutSecrets
    }
}
