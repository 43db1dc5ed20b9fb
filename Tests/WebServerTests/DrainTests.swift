import Foundation
import PushCore
import TestSupport
import Testing

@testable import WebServer

@Suite struct DrainTests {
    /// Requests under way are answered and stored; new connections are not accepted.
    @Test func requestsUnderWayAreAnswered() async throws {
        let site = try await WebSite.start { $0.registration.batchDelayMs = 1_000 }
        async let answer = site.registerIOS("registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey")
        try await eventually("the registration waits for its transaction") { site.server.waitingRegistrations > 0 }
        try await site.drain()
        #expect(try await answer.status == 200)
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.subscription") == "1")
        await #expect(throws: (any Error).self) { try await site.get("/health/live") }
    }

    /// When the process is asked to end, one request is stored and half of the next has arrived.
    @Test func aRequestThatArrivesIsAnswered() async throws {
        let site = try await WebSite.start { $0.registration.batchDelayMs = 500 }
        let client = try await RawConnection.open(port: site.port)
        let request = RawHTTP.request(
            "POST",
            "/nms/mobile/1/registerIOS.jssp",
            body: "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey"
        )
        client.send(request + request.dropLast(10))
        try await eventually("the registration waits for its transaction") { site.server.waitingRegistrations > 0 }
        site.server.drain()
        try await eventually("the first answer") { client.answers.count == 1 }
        client.send(String(request.suffix(10)))
        try await eventually("the end") { client.isClosed }
        #expect(client.answers.map(\.status) == [200, 200])
        try await site.drain()
    }

    @Test func aDrainBeforeTheStartEndsItToo() async throws {
        let site = try await WebSite.start()
        site.server.drain()
        site.server.drain()
        try await site.drain()
    }
}
