import Foundation
import NIOCore
import NIOPosix
import PushCore
import TestSupport
import Testing

@testable import WebServer

/// Clients that are slow, send too much, are too many, or speak another protocol.
@Suite struct HardeningTests {
    @Test func slowClientsAreToldAndLeft() async throws {
        let site = try await WebSite.start {
            $0.limits.headerTimeoutSec = 3
            $0.limits.bodyTimeoutSec = 3
            $0.limits.idleTimeoutSec = 3
        }
        let head = try await RawHTTP.exchange(port: site.port, "GET /r/test HTTP/1.1\r\nHost:")
        #expect(head.status == 408)
        #expect(head.headers["connection"] == "close")
        let body = try await RawHTTP.exchange(
            port: site.port,
            "POST /nms/mobile/1/registerIOS.jssp HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"
        )
        #expect(body.status == 408)
        // Without a request, and after one, the connection is closed silently.
        #expect(try await RawHTTP.exchange(port: site.port, [[]], answers: 1).isEmpty)
        let request = Array("GET /r/test HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        #expect(try await RawHTTP.exchange(port: site.port, [request], answers: 2).map(\.status) == [200])
        try await site.drain()
    }

    @Test func whatIsNoHTTPIsAnsweredAndLeft() async throws {
        let site = try await WebSite.start()
        for text in ["NONSENSE\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\r\n\r\n"] {
            let answer = try await RawHTTP.exchange(port: site.port, text)
            #expect(answer.status == 400, "\(answer)")
            #expect(answer.headers["connection"] == "close")
        }
        let long = String(repeating: "x", count: 40 << 10)
        let head = try await RawHTTP.exchange(port: site.port, "GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n")
        #expect(head.status == 431, "\(head)")
        let target = try await RawHTTP.exchange(port: site.port, "GET /r/?id=\(long) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect([414, 431].contains(target.status), "\(target)")
        #expect(try await site.get("/nothing/here").status == 404)
        #expect(try await site.get("/api/v1/nothing").status == 404)
        // It still serves requests, also several on one connection.
        let request = Array("GET /r/test HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let answers = try await RawHTTP.exchange(port: site.port, [request + request, request], answers: 3)
        #expect(answers.map(\.status) == [200, 200, 200])
        try await site.drain()
    }

    @Test func oneAddressIsLimitedAndItsNeighbourIsNot() async throws {
        let site = try await WebSite.start {
            $0.limits.requestsPerSecond = 1
            $0.limits.requestBurst = 3
        }
        func status(_ client: String) async throws -> RawAnswer {
            try await site.get("/r/test", headers: ["X-Forwarded-For: 10.0.0.1, \(client)"])
        }
        var refused: RawAnswer?
        for _ in 0..<20 {
            let answer = try await status("203.0.113.9")
            if answer.status == 429 { refused = answer }
        }
        #expect(refused?.headers["retry-after"] == "1")
        #expect(refused?.body.contains("Too many requests") == true)
        #expect(try await status("203.0.113.10").status == 200)
        // The proxy itself has no limit.
        for _ in 0..<10 { #expect(try await site.get("/r/test").status == 200) }
        try await site.drain()
    }

    /// A registration counts from its head on. Otherwise slow bodies could hold connections outside of every limit.
    @Test func registrationsThatArriveCountForTheirClient() async throws {
        let site = try await WebSite.start { $0.limits.maxConnectionsPerClient = 2 }
        let body = "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey"
        let request = RawHTTP.request(
            "POST",
            "/nms/mobile/1/registerIOS.jssp",
            headers: ["X-Forwarded-For: 203.0.113.9"],
            body: body
        )
        var slow: [RawConnection] = []
        for _ in 0..<2 {
            let client = try await RawConnection.open(port: site.port)
            client.send(String(request.dropLast(10)))
            slow.append(client)
        }
        try await eventually("a third one is refused") {
            try await RawHTTP.exchange(port: site.port, request).status == 429
        }
        for client in slow { client.send(String(request.suffix(10))) }
        try await eventually("the others are answered") { slow.allSatisfy { $0.answers.map(\.status) == [200] } }
        #expect(try await RawHTTP.exchange(port: site.port, request).status == 200)
        // A client that disconnects in the middle no longer counts.
        for _ in 0..<3 {
            let client = try await RawConnection.open(port: site.port)
            client.send(String(request.dropLast(10)))
            await client.close()
        }
        try await eventually("there is room again") {
            try await RawHTTP.exchange(port: site.port, request).status == 200
        }
        for client in slow { await client.close() }
        try await site.drain()
    }

    @Test func onlyTrustedProxiesAreBelieved() async throws {
        let site = try await WebSite.start { $0.limits.trustedProxies = "192.0.2.1" }
        let answer = try await site.get("/r/test", headers: ["X-Forwarded-For: 203.0.113.9", "X-Request-Id: mine"])
        #expect(answer.body.contains("sourceIP='127.0.0.1'"))
        #expect(answer.headers["x-request-id"] != "mine")
        try await site.drain()
        let trusting = try await WebSite.start()
        let other = try await trusting.get(
            "/r/test",
            headers: ["X-Forwarded-For: 1.1.1.1, 203.0.113.9:4711", "X-Request-Id: mine-1"]
        )
        #expect(other.body.contains("sourceIP='203.0.113.9'"))
        #expect(other.headers["x-request-id"] == "mine-1")
        let odd = try await trusting.get("/r/test", headers: ["X-Request-Id: a b<c>"])
        #expect(odd.headers["x-request-id"] != "a b<c>")
        try await trusting.drain()
    }

    @Test func theMonitoringPageIsAdobes() async throws {
        let site = try await WebSite.start()
        let answer = try await RawHTTP.exchange(
            port: site.port,
            "GET /r/test HTTP/1.1\r\nHost: track.example:8080\r\n\r\n"
        )
        #expect(answer.status == 200)
        let form =
            #/<redir status='OK' date='\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z' build='1\.0' host='track\.example' localHost='tracking-1' sourceIP='127\.0\.0\.1'\/>\n/#
        #expect(answer.body.wholeMatch(of: form) != nil, "\(answer.body)")
        #expect(answer.headers["date"]?.hasSuffix(" GMT") == true)
        try await site.drain()
        let shy = try await WebSite.start { $0.showSourceIP = false }
        #expect(try await shy.get("/r/test").body.contains("sourceIP") == false)
        try await shy.drain()
    }

    @Test func theAccessLogHoldsNoTokensAndNoIDs() async throws {
        let log = NSTemporaryDirectory() + "access-\(UUID().uuidString)"
        let site = try await WebSite.start { $0.accessLog = log }
        let token = "70757368546f6b656e"
        let answer = try await site.post(
            "/nms/mobile/1/registerIOS.jssp?registrationToken=\(token)&mobileAppUuid=integrationKey",
            ""
        )
        #expect(answer.status == 200)
        _ = try await site.get("/r/?id=h6b6499a8-9d43-4bc5-acf0-b6aeb96846f6,10,1")
        _ = try await site.get("/devices/\(token)")
        try await site.drain()
        let text = try String(contentsOfFile: log, encoding: .utf8)
        let id = try #require(answer.headers["x-request-id"])
        #expect(text.contains(" \(id) 127.0.0.1 POST /nms/mobile/1/registerIOS.jssp 200 "), "\(text)")
        #expect(text.contains(" GET /r/ 404 "))
        #expect(text.contains(" GET - 404 "))
        #expect(!text.contains(token) && !text.contains("6b6499a8") && !text.contains("integrationKey"))
    }

    @Test func aPathPrefixIsTakenOff() async throws {
        let site = try await WebSite.start { $0.pathPrefix = "/push/" }
        #expect(try await site.get("/push/r/test").status == 200)
        #expect(try await site.get("/r/test").status == 200)
        #expect(try await site.get("/pushr/test").status == 404)
        try await site.drain()
    }

    @Test func connectionsAreLimited() async throws {
        let site = try await WebSite.start {
            $0.limits.maxConnections = 2
            $0.limits.headerTimeoutSec = 3
        }
        // Two silent clients take all places until their time is over; then the third is served.
        let group = MultiThreadedEventLoopGroup.singleton
        let idle = try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: site.port).get()
        let other = try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: site.port).get()
        // Until then it may get the connection that is reserved for the API, which refuses other requests.
        try await eventually("the third is served") {
            let answer = try await site.get("/r/test")
            #expect(answer.status == 200 || answer.status == 503 && answer.headers["retry-after"] != nil, "\(answer)")
            return answer.status == 200
        }
        try? await idle.close()
        try? await other.close()
        try await site.drain()
    }
}
