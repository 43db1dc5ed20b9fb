import PushCore
import TestSupport
import Testing

@testable import WebServer

/// Clients that do not read answers, or send too many requests at once.
@Suite struct BackPressureTests {
    private static let receipt = "GET /r/?id=x HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Another client soon gets its place.
    @Test func aClientThatDoesNotReadIsLeft() async throws {
        let site = try await WebSite.start {
            $0.limits.maxConnections = 1
            $0.limits.writeTimeoutSec = 1
        }
        let client = try await RawConnection.open(port: site.port, reads: false)
        // More than the system buffers for a connection.
        client.send(String(repeating: "GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n", count: 200))
        // Two that come at the same moment are both accepted.
        try await eventually("its first answer") { site.server.counters.now.answers.keys.contains { $0.place == .api } }
        #expect(try await site.get("/r/test").status == 200)
        await client.close()
        try await site.drain()
    }

    /// If a client does not read answers, none are created, and its requests stay unread.
    @Test func nothingIsReadFromAClientThatDoesNotRead() async throws {
        let site = try await WebSite.start { $0.limits.writeTimeoutSec = 4 }
        let client = try await RawConnection.open(port: site.port, reads: false)
        let some = String(repeating: Self.receipt, count: 50)
        var (sent, taken, still, longestStill) = (0, 0, 0, 0)
        let deadline = ContinuousClock.now + .seconds(300)
        while !client.isClosed, .now < deadline {
            while sent - taken < 200 {
                client.send(some)
                sent += 50
            }
            let report = try await site.get("/health/ready").body
            let count = report.firstMatch(of: #/"malformed":(\d+)/#).flatMap { Int($0.1) }
            let now = try #require(count)
            still = now == taken ? still + 1 : 0
            longestStill = max(longestStill, still)
            taken = now
        }
        #expect(client.isClosed)
        #expect(longestStill >= 20, "of \(sent) requests \(taken) were taken")
        #expect(sent - taken >= 150)
        await client.close()
        try await site.drain()
    }

    /// The accepted requests are answered, and the client is told that no others will be.
    @Test func thousandsOfRequestsAtOnceAreNotHeld() async throws {
        let site = try await WebSite.start()
        let client = try await RawConnection.open(port: site.port)
        client.send(String(repeating: Self.receipt, count: 2_000))
        try await eventually("the end") { client.isClosed }
        let answers = client.answers
        #expect((256..<2_000).contains(answers.count), "\(answers.count)")
        #expect(answers.allSatisfy { $0.status == 400 })
        #expect(answers.last?.headers["connection"] == "close")
        #expect(answers.dropLast().allSatisfy { $0.headers["connection"] == nil })
        // A usual number of requests in flight has no consequences.
        let other = try await RawConnection.open(port: site.port)
        other.send(String(repeating: Self.receipt, count: 200))
        try await eventually("all answers") { other.answers.count == 200 }
        #expect(!other.isClosed)
        await other.close()
        try await site.drain()
    }
}
