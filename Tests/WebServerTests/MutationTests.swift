import Foundation
import NIOCore
import NIOPosix
import PushCore
import TestSupport
import Testing

@testable import WebServer

/// Requests with random changes: none ends the process, and only requested and answered data is stored.
@Suite struct MutationTests {
    /// `PUSHMTA_FUZZ_CASES` for more; each takes about a millisecond.
    private static let cases =
        ProcessInfo.processInfo.environment["PUSHMTA_FUZZ_CASES"].flatMap { Int($0) } ?? 2_000

    @Test func mutatedRequestsStoreNothingWrong() async throws {
        let site = try await WebSite.start {
            $0.limits.bodyTimeoutSec = 3
            $0.limits.headerTimeoutSec = 3
        }
        let sent = try await site.send(messages: 20)
        let known = try await site.value("SELECT string_agg(push_token, ' ') FROM pushmta_engine.subscription")
        let seeded = Set((known ?? "").split(separator: " ").map(String.init))
        let seed = TestRandom.seed(for: "mutatedRequestsStoreNothingWrong")
        let lanes = 8
        let accepted = try await withThrowingTaskGroup(of: Set<String>.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var random = TestRandom(seed: seed &+ UInt64(lane))
                    var accepted: Set<String> = []
                    for _ in 0..<Self.cases / lanes {
                        let request = Self.request(sent, &random)
                        // The connection is cut, so that an incomplete request ends at once, not at a deadline.
                        let answers = try await RawHTTP.send(port: site.port, request)
                        for answer in answers { #expect(answer.status < 500, "seed \(seed): \(answer)") }
                        guard answers.contains(where: { $0.status == 200 }) else { continue }
                        accepted.formUnion(Self.tokens(request))
                    }
                    return accepted
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.formUnion($1) }
        }
        let stored = try await site.value("SELECT string_agg(push_token, ' ') FROM pushmta_engine.subscription")
        let tokens = Set((stored ?? "").split(separator: " ").map(String.init)).subtracting(seeded)
        #expect(tokens.subtracting(accepted).isEmpty, "seed \(seed)")
        #expect(!tokens.isEmpty)
        // Only hits of existing messages.
        #expect(
            try await site.value(
                "SELECT count(*) FROM pushmta_engine.tracking_log WHERE sequence NOT BETWEEN 1 AND 20 OR delivery_id <> \(sent.delivery)"
            ) == "0"
        )
        #expect(try await site.get("/health/live").status == 200)
        try await site.drain()
    }

    private static func request(_ sent: WebSite.Sent, _ random: inout TestRandom) -> [UInt8] {
        let digits = (0..<32).map { _ in String(Int.random(in: 16...255, using: &random), radix: 16) }.joined()
        let xml =
            "%3CadditionalParams%3E%3Cparam%20name%3D%22a%22%20value%3D%22%26%23x27%3Bb%22%20%2F%3E%3C%2FadditionalParams%3E"
        var text: String
        if Bool.random(using: &random) {
            text = RawHTTP.request(
                "POST",
                "/nms/mobile/1/registerIOS.jssp",
                body:
                    "registrationToken=\(digits)&mobileAppUuid=integrationKey&userKey=u&osLanguage=en-US&additionalParams=\(xml)"
            )
        } else {
            let sequence = Int32.random(in: 1...20, using: &random)
            text = RawHTTP.request("GET", "/r/?id=h\(sent.uuid(sequence)),\(sent.hexDelivery),1", body: "")
        }
        text.makeContiguousUTF8()
        var bytes = Array(text.utf8)
        // Some requests stay unchanged, so that valid ones occur too.
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let at = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0...3, using: &random) {
            case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: at)
            case 2: bytes.insert("%&=<>\";+\0 \r\n".utf8.randomElement(using: &random) ?? 0, at: at)
            default: bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 1...40, using: &random)))
            }
            if bytes.isEmpty { break }
        }
        return bytes
    }

    /// Every text in the request that may be a token: the text after the name, up to the next separator.
    private static func tokens(_ request: [UInt8]) -> Set<String> {
        let text = String(decoding: request, as: UTF8.self)
        var found: Set<String> = []
        for range in text.ranges(of: "registrationToken=") {
            let value = text[range.upperBound...].prefix { !"& \r\n".contains($0) }
            found.insert(String(value).lowercased())
            if let decoded = String(value).removingPercentEncoding { found.insert(decoded.lowercased()) }
        }
        return found
    }
}

extension RawHTTP {
    /// Sends only these bytes, and reads all answers until the server closes the connection.
    static func send(port: Int, _ bytes: [UInt8]) async throws -> [RawAnswer] {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true)
                    )
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var received: [UInt8] = []
            do {
                try await outbound.write(ByteBuffer(bytes: bytes))
                outbound.finish()
                for try await buffer in inbound { received += buffer.readableBytesView }
            } catch {
                // A server that refuses may reset the connection during the transfer.
            }
            var answers: [RawAnswer] = []
            while let (answer, length) = RawAnswer.parse(received) {
                answers.append(answer)
                received.removeFirst(length)
            }
            return answers
        }
    }
}
